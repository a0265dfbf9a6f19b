// swift-tools-version: 6.2

import PackageDescription

// Headway beside its rivals, in one program and run. `script/bench` builds and runs it. The rivals in C++ stand in
// `CPlusPlus` and are built by `script/bench` where their libraries are there.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Headway", path: "..", traits: ["Drawing", "HTTP"]),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    .executableTarget(
      name: "CSVBenchmark",
      dependencies: [
        .product(name: "HeadwayCSV", package: "Headway"), .product(name: "HeadwayTestKit", package: "Headway"),
      ]),
    .executableTarget(
      name: "DrawingBenchmark",
      dependencies: [
        "CTile", .product(name: "Headway", package: "Headway"), .product(name: "HeadwayDrawing", package: "Headway"),
        .product(name: "HeadwayTestKit", package: "Headway"),
      ]),
    .executableTarget(
      name: "HTTPBenchmark",
      dependencies: [
        .product(name: "Headway", package: "Headway"), .product(name: "HeadwayHTTP", package: "Headway"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ]),
    .executableTarget(name: "URLSessionBenchmark"),
    .executableTarget(
      name: "LinesBenchmark",
      dependencies: [
        .product(name: "Headway", package: "Headway"), .product(name: "HeadwayLines", package: "Headway"),
        .product(name: "HeadwayTestKit", package: "Headway"),
      ]),
    .executableTarget(
      name: "SchedulerBenchmark",
      dependencies: [
        "CSystemStatistics", .product(name: "Headway", package: "Headway"),
        .product(name: "HeadwayTestKit", package: "Headway"),
      ]),
    // What `HeadwayDrawing` is compared with.
    .systemLibrary(name: "CCairo", pkgConfig: "cairo", providers: [.apt(["libcairo2-dev"]), .brew(["cairo"])]),
    .target(name: "CTile", dependencies: ["CCairo"]),
    // What Swift's Glibc module does not have.
    .target(name: "CSystemStatistics"),
  ]
)
