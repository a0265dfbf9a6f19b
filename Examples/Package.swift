// swift-tools-version: 6.2

import PackageDescription

// Runnable examples, one a feature. `script/check-examples` runs each and compares what it prints with `Expected/`.
let examples = ["GettingStarted", "CancelWell", "Barriers"]
let importExamples = ["ImportFeed"]

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Headway", path: "..", traits: ["SQLite"])],
  targets: examples.map { name in
    .executableTarget(name: name, dependencies: [.product(name: "Headway", package: "Headway")])
  }
    + importExamples.map { name in
      .executableTarget(
        name: name,
        dependencies: [
          .product(name: "Headway", package: "Headway"), .product(name: "HeadwayImport", package: "Headway"),
        ])
    }
)
