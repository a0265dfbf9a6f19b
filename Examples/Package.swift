// swift-tools-version: 6.2

import PackageDescription

// Runnable examples, one a feature. `script/check-examples` runs each and compares what it prints with `Expected/`.
let examples = ["GettingStarted", "CancelWell", "Barriers"]
let importExamples = ["ImportFeed"]
// The same sources twice: NAME is compiled against Foundation, NAMEHeadway against HeadwayFoundation.
let twins = ["DropIn", "Differences"]

let headway = Target.Dependency.product(name: "Headway", package: "Headway")
let headwayFoundation = Target.Dependency.product(name: "HeadwayFoundation", package: "Headway")
let headwayImport = Target.Dependency.product(name: "HeadwayImport", package: "Headway")

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Headway", path: "..", traits: ["SQLite"])],
  targets: examples.map { .executableTarget(name: $0, dependencies: [headway]) }
    + importExamples.map { .executableTarget(name: $0, dependencies: [headway, headwayImport]) }
    + twins.flatMap { name -> [Target] in
      [
        .executableTarget(name: name),
        .executableTarget(
          name: "\(name)Headway", dependencies: [headwayFoundation], swiftSettings: [.define("HEADWAY")]),
      ]
    }
)
