// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "Worker",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/headway-swift/headway", .upToNextMinor(from: "0.3.0"), traits: ["PostgreSQL"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .executableTarget(
      name: "Worker",
      dependencies: [
        .product(name: "Headway", package: "headway"),
        .product(name: "HeadwayJobs", package: "headway"),
        .product(name: "HeadwayJobsPostgreSQL", package: "headway"),
        .product(name: "HeadwayJobsSQLite", package: "headway"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ])
  ]
)
