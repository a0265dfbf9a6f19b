// swift-tools-version: 6.2

import PackageDescription

// Runnable examples, one a feature. `script/check-examples` runs each example and compares its output with `Expected/`.
let examples = [
  "GettingStarted", "CancelWell", "Barriers", "InvocationOperations", "CustomOperations", "ManualExecution",
  "OperationDelegate", "Graphs", "Crawler", "Stages", "Ledger", "LongRunningTasks", "APIClient", "FileCache",
]
let traceExamples = ["SlowReport"]
let csvExamples = ["Temperatures"]
let importExamples = ["ImportFeed"]
let jobExamples = ["PhotoJobs", "MailService", "NightlyReport", "OrderWorkflow"]
let jobStoreExamples = ["FileJobStore"]
let requestExamples = ["Downloads"]
let drawingExamples = ["DrawCards", "ScrollCells"]
// These use the gates and the manual clock of HeadwayTestKit, so their output is always the same.
let gatedExamples = [
  "BlockOperations", "ConcurrentOperation", "UsingQueues", "RequestOperationStates", "SearchField", "Tenants",
]
// The same sources twice: NAME is compiled against Foundation, NAMEHeadway against HeadwayFoundation.
let twins = ["DropIn", "Programs", "Differences"]

let headway = Target.Dependency.product(name: "Headway", package: "Headway")
let headwayFoundation = Target.Dependency.product(name: "HeadwayFoundation", package: "Headway")
let headwayCSV = Target.Dependency.product(name: "HeadwayCSV", package: "Headway")
let headwayHTTP = Target.Dependency.product(name: "HeadwayHTTP", package: "Headway")
let headwayImport = Target.Dependency.product(name: "HeadwayImport", package: "Headway")
let headwayJobs = Target.Dependency.product(name: "HeadwayJobs", package: "Headway")
let headwayJobsSQLite = Target.Dependency.product(name: "HeadwayJobsSQLite", package: "Headway")
let headwayJobsTestKit = Target.Dependency.product(name: "HeadwayJobsTestKit", package: "Headway")
let headwaySampleData = Target.Dependency.product(name: "HeadwaySampleData", package: "Headway")
let headwayDrawing = Target.Dependency.product(name: "HeadwayDrawing", package: "Headway")
let headwayTrace = Target.Dependency.product(name: "HeadwayTrace", package: "Headway")
let headwayTestKit = Target.Dependency.product(name: "HeadwayTestKit", package: "Headway")

// `script/check-server` starts it, and tests it with requests.
let server = Target.executableTarget(
  name: "JobServer",
  dependencies: [
    headway,
    .product(name: "HeadwayDistributedTracing", package: "Headway"),
    .product(name: "HeadwayLogging", package: "Headway"),
    .product(name: "HeadwayMetrics", package: "Headway"),
    .product(name: "HeadwayServiceLifecycle", package: "Headway"),
    .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "HummingbirdCore", package: "hummingbird"),
    .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
    .product(name: "Logging", package: "swift-log"),
    .product(name: "Metrics", package: "swift-metrics"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
    .product(name: "Tracing", package: "swift-distributed-tracing"),
  ])

// Examples/Deployment deploys it.
let worker = Target.executableTarget(
  name: "Worker",
  dependencies: [
    headway, headwayJobs, headwayJobsSQLite,
    .product(name: "HeadwayJobsPostgreSQL", package: "Headway"),
    .product(name: "Logging", package: "swift-log"),
    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
  ])

let telemetry = Target.executableTarget(
  name: "Telemetry",
  dependencies: [
    headway,
    .product(name: "HeadwayDistributedTracing", package: "Headway"),
    .product(name: "HeadwayMetrics", package: "Headway"),
    .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
    .product(name: "Metrics", package: "swift-metrics"),
    .product(name: "MetricsTestKit", package: "swift-metrics"),
    .product(name: "Tracing", package: "swift-distributed-tracing"),
  ])

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15)],
  dependencies: [
    // With all traits, so that `.ci/run`, which has built Headway with all of them, doesn't build it again.
    .package(name: "Headway", path: "..", traits: ["Tool"]),
    // For the examples of jobs.
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    // For the server of the example of requests.
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    // For the examples of services.
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-log", from: "1.13.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: examples.map { .executableTarget(name: $0, dependencies: [headway]) }
    + traceExamples.map { .executableTarget(name: $0, dependencies: [headwayFoundation, headwayTrace]) }
    + csvExamples.map { .executableTarget(name: $0, dependencies: [headway, headwayCSV]) }
    + importExamples.map { .executableTarget(name: $0, dependencies: [headway, headwayImport, headwaySampleData]) }
    + jobExamples.map {
      .executableTarget(
        name: $0,
        dependencies: [
          headway, headwayJobs, headwayJobsSQLite, .product(name: "GRDB", package: "GRDB.swift"),
          .product(name: "Logging", package: "swift-log"),
          .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        ])
    }
    + jobStoreExamples.map {
      .executableTarget(name: $0, dependencies: [headway, headwayJobs, headwayJobsTestKit])
    }
    + requestExamples.map {
      .executableTarget(
        name: $0,
        dependencies: [
          headway, headwayHTTP, .product(name: "NIOCore", package: "swift-nio"),
          .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        ])
    }
    + drawingExamples.map { .executableTarget(name: $0, dependencies: [headway, headwayDrawing]) }
    + gatedExamples.map { .executableTarget(name: $0, dependencies: [headway, headwayTestKit]) }
    + twins.flatMap { name -> [Target] in
      [
        .executableTarget(name: name),
        .executableTarget(
          name: "\(name)Headway", dependencies: [headwayFoundation], swiftSettings: [.define("HEADWAY")]),
      ]
    } + [server, worker, telemetry]
)
