// swift-tools-version: 6.2

import PackageDescription

// Headway beside its rivals, in one program and run. `script/bench` builds and runs it.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Headway", path: "..")],
  targets: [
    .executableTarget(
      name: "LinesBenchmark",
      dependencies: [
        .product(name: "Headway", package: "Headway"), .product(name: "HeadwayLines", package: "Headway"),
      ])
  ]
)
