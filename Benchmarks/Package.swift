// swift-tools-version: 6.2

import PackageDescription

// Headway beside its rivals, in one program and run. `script/bench` builds and runs it. The rivals in C++ stand in
// `CPlusPlus` and are built by `script/bench` where their libraries are there.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Headway", path: "..", traits: ["Drawing"])],
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
