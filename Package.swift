// swift-tools-version: 6.2

import PackageDescription

// The traits a consumer can enable. None is on by default, so a package that depends on the product `Headway` resolves
// and builds the core alone. Whatever uses a guarded dependency is guarded itself: `.when(traits:)` here, `#if` there.
let sqlite = "SQLite"
let compression = "Compression"
let encodings = "Encodings"
let http = "HTTP"
let drawing = "Drawing"
let lab = "Lab"
let observability = "Observability"
let jobs = "Jobs"
let web = "Web"
let dashboard = "Dashboard"
let postgreSQL = "PostgreSQL"

/// The products of other packages that modules depend on, each with its package.
let packages = [
  "ArgumentParser": "swift-argument-parser", "AsyncHTTPClient": "async-http-client",
  "GRDB": "GRDB.swift", "GRDBSQLite": "GRDB.swift", "HTTPTypes": "swift-http-types", "Hummingbird": "hummingbird",
  "HummingbirdCore": "hummingbird", "InMemoryLogging": "swift-log", "InMemoryTracing": "swift-distributed-tracing",
  "Logging": "swift-log", "Metrics": "swift-metrics", "MetricsTestKit": "swift-metrics", "Mustache": "swift-mustache",
  "NIOCore": "swift-nio", "NIOEmbedded": "swift-nio", "NIOHTTP1": "swift-nio", "NIOPosix": "swift-nio",
  "NIOSSL": "swift-nio-ssl",
  "ServiceLifecycle": "swift-service-lifecycle", "ServiceLifecycleTestKit": "swift-service-lifecycle",
  "SwiftASN1": "swift-asn1", "Tracing": "swift-distributed-tracing",
]

/// A row of the table of modules, which lists the targets of the package.
struct Module {
  enum Kind {
    case library, program, tests
    /// A library of the system, with the packages that install it on Debian and with Homebrew.
    case system(debian: [String], homebrew: [String], pkgConfig: String? = nil)
  }

  let name: String
  var kind = Kind.library
  /// Where its sources are, if not in the folder of its name.
  var path: String?
  var exclude: [String] = []
  /// Modules of this package that it always depends on.
  var needs: [String] = []
  /// Dependencies for each trait, if the trait is enabled: modules of this package, or products of other packages.
  var traits: KeyValuePairs<String, [String]> = [:]
  var cSettings: [CSetting]?
  var resources: [Resource]?

  var target: Target {
    let dependencies = needs.map { Target.Dependency.byName(name: $0) } + traits.flatMap(conditional)
    switch kind {
    case .library:
      return .target(
        name: name, dependencies: dependencies, path: path, exclude: exclude, resources: resources, cSettings: cSettings
      )
    case .program:
      return .executableTarget(name: name, dependencies: dependencies, path: path, exclude: exclude)
    case .tests: return .testTarget(name: name, dependencies: dependencies, path: path, exclude: exclude)
    case .system(let debian, let homebrew, let pkgConfig):
      return .systemLibrary(name: name, path: path, pkgConfig: pkgConfig, providers: [.apt(debian), .brew(homebrew)])
    }
  }

  private func conditional(_ trait: String, _ names: [String]) -> [Target.Dependency] {
    names.map { name in
      guard let package = packages[name] else { return .target(name: name, condition: .when(traits: [trait])) }
      return .product(name: name, package: package, condition: .when(traits: [trait]))
    }
  }
}

let modules = [
  // The core: the toolchain's Synchronization and Dispatch, and nothing else.
  Module(name: "CHeadway"),
  Module(name: "Headway", exclude: ["Threads/README.md"], needs: ["CHeadway"]),

  // Replaces `import Foundation`.
  Module(name: "HeadwayFoundation", needs: ["Headway"]),

  // Replaces `import FoundationNetworking`. Only programs that need the network stack link it.
  Module(name: "HeadwayFoundationNetworking", needs: ["Headway", "HeadwayFoundation"]),

  // For tests of code that uses the core, and of the core itself.
  Module(name: "HeadwayTestKit", needs: ["Headway"]),

  // Draws what the core has traced. Its page is embedded in the program.
  Module(name: "HeadwayTrace", needs: ["Headway"], resources: [.embedInCode("Page")]),

  // Files. This module is internal: their names on every system, in text.
  Module(name: "HeadwayFiles"),
  Module(
    name: "CArchive", kind: .system(debian: ["libarchive-dev", "zlib1g-dev"], homebrew: ["libarchive", "zlib"])),
  Module(name: "HeadwayLines", needs: ["Headway", "HeadwayFiles"], traits: [compression: ["CArchive"]]),
  Module(name: "CUchardet", kind: .system(debian: ["libuchardet-dev"], homebrew: ["uchardet"])),
  Module(name: "HeadwayCSV", needs: ["Headway", "HeadwayFiles", "HeadwayLines"], traits: [encodings: ["CUchardet"]]),
  Module(
    name: "HeadwayImport", needs: ["Headway", "HeadwayCSV", "HeadwayFiles", "HeadwayLines"],
    traits: [sqlite: ["GRDB", "GRDBSQLite"]]),

  // Durable jobs: without a database, on SQLite, and on PostgreSQL.
  Module(name: "HeadwayJobs", needs: ["Headway"], traits: [jobs: ["ServiceLifecycle"]]),
  Module(name: "HeadwayJobsSQLite", needs: ["Headway", "HeadwayJobs"], traits: [jobs: ["GRDB", "GRDBSQLite"]]),
  Module(name: "CPostgreSQL", kind: .system(debian: ["libpq-dev"], homebrew: ["libpq"], pkgConfig: "libpq")),
  Module(name: "HeadwayJobsPostgreSQL", needs: ["Headway", "HeadwayJobs"], traits: [postgreSQL: ["CPostgreSQL"]]),
  Module(name: "HeadwayJobsTestKit", needs: ["Headway", "HeadwayJobs", "HeadwayTestKit"]),

  // A transit feed that looks real, for the tool, the lab, examples and tests. The product HeadwayImport lacks it.
  Module(name: "HeadwaySampleData", needs: ["Headway", "HeadwayFiles"]),

  // Requests.
  Module(name: "CHeadwaySHA256"),
  Module(name: "CHeadwayHTTP", kind: .system(debian: ["zlib1g-dev"], homebrew: ["zlib"])),
  Module(
    name: "HeadwayHTTP", needs: ["Headway", "HeadwayFiles"],
    traits: [
      http: [
        "AsyncHTTPClient", "CHeadwayHTTP", "CHeadwaySHA256", "HTTPTypes", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL",
        "SwiftASN1",
      ]
    ]),

  // Drawing. libjpeg and libpng report errors by `longjmp`, which must not cross Swift code.
  Module(
    name: "CPangoCairo", kind: .system(debian: ["libpango1.0-dev"], homebrew: ["pango"], pkgConfig: "pangocairo")),
  Module(name: "CJPEG", kind: .system(debian: ["libjpeg-dev"], homebrew: ["jpeg-turbo"], pkgConfig: "libjpeg")),
  Module(name: "CPNG", kind: .system(debian: ["libpng-dev"], homebrew: ["libpng"], pkgConfig: "libpng")),
  Module(
    name: "CHeadwayDrawing", traits: [drawing: ["CJPEG", "CPNG"]],
    cSettings: [.define("HEADWAY_DRAWING", .when(traits: [drawing]))]),
  Module(
    name: "HeadwayDrawing", needs: ["Headway", "CHeadwayDrawing", "HeadwayFiles"], traits: [drawing: ["CPangoCairo"]]),

  // The modules for servers: logs, metrics, spans, a graceful shutdown, and signposts on Apple's platforms.
  Module(name: "HeadwayLogging", needs: ["Headway"], traits: [observability: ["Logging"]]),
  Module(
    name: "HeadwayMetrics", needs: ["Headway"], traits: [observability: ["Metrics"], jobs: ["HeadwayJobs"]]),
  Module(
    name: "HeadwayDistributedTracing", needs: ["Headway"],
    traits: [observability: ["Tracing"], jobs: ["HeadwayJobs"]]),
  Module(
    name: "HeadwayServiceLifecycle", needs: ["Headway"], traits: [observability: ["Logging", "ServiceLifecycle"]]),
  Module(name: "HeadwaySignposts", needs: ["Headway"]),

  // The seven techniques of the sample LongRunningTasks, one in each file, for readers of an article about threads. The
  // example LongRunningTasks has the same files, and `main.swift` as its program.
  Module(
    name: "LongRunningTechniques", path: "Examples/Sources/LongRunningTasks", exclude: ["main.swift"],
    needs: ["Headway"]),

  // The common parts of the servers of the lab and the dashboard.
  Module(
    name: "HeadwayWeb",
    traits: [web: ["HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix"]]),

  // The dashboard of durable jobs. Its pages are embedded in the program.
  Module(
    name: "HeadwayDashboard", needs: ["Headway", "HeadwayJobs", "HeadwayWeb"],
    traits: [
      dashboard: ["CHeadwaySHA256", "HTTPTypes", "Hummingbird", "Mustache", "NIOCore", "ServiceLifecycle"]
    ],
    resources: [.embedInCode("Pages")]),

  // The lab: runs techniques and add-on modules, and shows them in a browser or a terminal. Its pages are embedded
  // in the program, so that you can move the program alone.
  Module(
    name: "HeadwayLab",
    needs: [
      "Headway", "HeadwayDrawing", "HeadwayHTTP", "HeadwayImport", "HeadwayLines", "HeadwaySampleData",
      "HeadwayTrace", "HeadwayWeb", "LongRunningTechniques",
    ],
    traits: [lab: ["HTTPTypes", "Hummingbird", "NIOCore"]],
    resources: [.embedInCode("Pages")]),

  // The command-line tool. Its folder is not called `headway`: that is `Headway` on a case-insensitive file system.
  // See Docs/decisions/0001-folder-of-the-tool.md.
  Module(
    name: "HeadwayTool", kind: .program,
    needs: [
      "Headway", "HeadwayCSV", "HeadwayFiles", "HeadwayImport", "HeadwayLines", "HeadwaySampleData", "HeadwayTrace",
    ],
    traits: [
      sqlite: ["ArgumentParser"], http: ["HeadwayHTTP"], drawing: ["HeadwayDrawing"], web: ["HeadwayWeb"],
      lab: ["HeadwayLab", "LongRunningTechniques"], jobs: ["HeadwayJobs", "HeadwayJobsSQLite"],
      dashboard: ["HeadwayDashboard"], postgreSQL: ["HeadwayJobsPostgreSQL"],
    ]),

  // Helpers of all tests, such as a watchdog that stops a process whose tests hang. No product contains them.
  Module(name: "CHeadwayTestSupport", path: "Tests/CHeadwayTestSupport"),
  Module(
    name: "HeadwayTestSupport", path: "Tests/HeadwayTestSupport", needs: ["CHeadwayTestSupport", "Headway"],
    traits: [compression: ["CArchive"]]),

  // A server for tests of requests.
  Module(
    name: "HeadwayHTTPTestSupport", path: "Tests/HeadwayHTTPTestSupport",
    traits: [http: ["NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL"]]),

  // A file system for SQLite whose calls tests can interrupt.
  Module(
    name: "CHeadwayJobsTestSupport", path: "Tests/CHeadwayJobsTestSupport", traits: [jobs: ["GRDBSQLite"]],
    cSettings: [.define("HEADWAY_JOBS_SQLITE", .when(traits: [jobs]))]),

  // Makes programming errors, for script/check-misuse.
  Module(
    name: "MisuseProgram", kind: .program, path: "Tests/MisuseProgram",
    needs: [
      "Headway", "HeadwayCSV", "HeadwayDrawing", "HeadwayImport", "HeadwayJobs", "HeadwayJobsSQLite", "HeadwayLines",
      "HeadwayMetrics",
    ],
    traits: [jobs: ["GRDB"]]),

  Module(
    name: "HeadwayTests", kind: .tests, needs: ["Headway", "HeadwayTestKit", "HeadwayTestSupport", "HeadwayTrace"]),
  Module(
    name: "HeadwayFoundationTests", kind: .tests,
    needs: ["HeadwayFoundation", "HeadwayFoundationNetworking", "HeadwayTestKit", "HeadwayTestSupport"]),
  Module(name: "HeadwayTestKitTests", kind: .tests, needs: ["Headway", "HeadwayTestKit", "HeadwayTestSupport"]),
  Module(
    name: "HeadwayTraceTests", kind: .tests,
    needs: ["Headway", "HeadwayTestKit", "HeadwayTestSupport", "HeadwayTrace"]),
  Module(
    name: "HeadwayLinesTests", kind: .tests,
    needs: ["Headway", "HeadwayLines", "HeadwayTestKit", "HeadwayTestSupport"]),
  Module(
    name: "HeadwayCSVTests", kind: .tests,
    needs: ["Headway", "HeadwayCSV", "HeadwayLines", "HeadwayTestKit", "HeadwayTestSupport"]),
  Module(
    name: "HeadwayImportTests", kind: .tests,
    needs: ["Headway", "HeadwayCSV", "HeadwayImport", "HeadwaySampleData", "HeadwayTestKit", "HeadwayTestSupport"],
    traits: [sqlite: ["GRDB"]]),
  Module(
    name: "HeadwayHTTPTests", kind: .tests,
    needs: ["Headway", "HeadwayHTTP", "HeadwayHTTPTestSupport", "HeadwayTestKit", "HeadwayTestSupport"],
    traits: [http: ["AsyncHTTPClient", "CHeadwaySHA256", "NIOHTTP1", "NIOSSL"]]),
  Module(
    name: "HeadwayDrawingTests", kind: .tests, exclude: ["Pictures"],
    needs: ["Headway", "HeadwayDrawing", "HeadwayTestKit", "HeadwayTestSupport"],
    traits: [drawing: ["CJPEG", "CPNG"]]),
  Module(
    name: "HeadwayLoggingTests", kind: .tests,
    needs: ["Headway", "HeadwayLogging", "HeadwayTestKit", "HeadwayTestSupport"],
    traits: [observability: ["InMemoryLogging", "Logging"]]),
  Module(
    name: "HeadwayMetricsTests", kind: .tests,
    needs: ["Headway", "HeadwayMetrics", "HeadwayTestKit", "HeadwayTestSupport"],
    traits: [observability: ["Metrics", "MetricsTestKit"], jobs: ["HeadwayJobs"]]),
  Module(
    name: "HeadwayDistributedTracingTests", kind: .tests,
    needs: ["Headway", "HeadwayDistributedTracing", "HeadwayTestKit", "HeadwayTestSupport"],
    traits: [observability: ["InMemoryTracing", "Tracing"], jobs: ["HeadwayJobs"]]),
  Module(
    name: "HeadwayServiceLifecycleTests", kind: .tests,
    needs: ["Headway", "HeadwayServiceLifecycle", "HeadwayTestKit", "HeadwayTestSupport"],
    traits: [observability: ["InMemoryLogging", "Logging", "ServiceLifecycle", "ServiceLifecycleTestKit"]]),
  Module(
    name: "HeadwaySignpostsTests", kind: .tests,
    needs: ["Headway", "HeadwaySignposts", "HeadwayTestKit", "HeadwayTestSupport"]),
  Module(
    name: "HeadwayJobsTests", kind: .tests,
    needs: ["Headway", "HeadwayJobs", "HeadwayJobsTestKit", "HeadwayTestKit", "HeadwayTestSupport"]),
  // A worker that tests kill.
  Module(
    name: "JobsCrashProgram", kind: .program, path: "Tests/JobsCrashProgram",
    needs: ["Headway", "HeadwayJobs", "HeadwayJobsSQLite"], traits: [jobs: ["GRDB"]]),
  Module(
    name: "HeadwayJobsSQLiteTests", kind: .tests,
    needs: [
      "CHeadwayJobsTestSupport", "Headway", "HeadwayJobs", "HeadwayJobsSQLite", "HeadwayJobsTestKit", "HeadwayTestKit",
      "HeadwayTestSupport", "JobsCrashProgram",
    ],
    traits: [jobs: ["GRDB", "GRDBSQLite"]]),
  // Serves a dashboard to a browser, for script/check-dashboard.
  Module(
    name: "DashboardProgram", kind: .program, path: "Tests/DashboardProgram",
    needs: ["Headway", "HeadwayDashboard", "HeadwayJobs", "HeadwayJobsPostgreSQL", "HeadwayJobsSQLite"]),
  Module(
    name: "HeadwayDashboardTests", kind: .tests,
    needs: [
      "Headway", "HeadwayDashboard", "HeadwayJobs", "HeadwayJobsSQLite", "HeadwayTestKit", "HeadwayTestSupport",
      "HeadwayWeb",
    ],
    traits: [
      dashboard: [
        "AsyncHTTPClient", "GRDB", "HTTPTypes", "Hummingbird", "NIOCore", "NIOEmbedded", "NIOHTTP1", "NIOPosix",
      ]
    ]),
  // A worker on PostgreSQL that tests kill.
  Module(
    name: "PostgresCrashProgram", kind: .program, path: "Tests/PostgresCrashProgram",
    needs: ["Headway", "HeadwayJobs", "HeadwayJobsPostgreSQL"]),
  Module(
    name: "HeadwayJobsPostgreSQLTests", kind: .tests,
    needs: [
      "Headway", "HeadwayJobs", "HeadwayJobsPostgreSQL", "HeadwayJobsTestKit", "HeadwayTestKit", "HeadwayTestSupport",
      "PostgresCrashProgram",
    ]),
  Module(
    name: "HeadwayLabTests", kind: .tests,
    needs: ["HeadwayLab", "HeadwayTestKit", "HeadwayTestSupport", "LongRunningTechniques"],
    traits: [lab: ["AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOPosix"]]),
  Module(
    name: "LongRunningTasksTests", kind: .tests,
    needs: ["Headway", "HeadwayTestKit", "HeadwayTestSupport", "LongRunningTechniques"]),
  Module(
    name: "HeadwayToolTests", kind: .tests,
    needs: ["HeadwayDrawing", "HeadwayHTTPTestSupport", "HeadwayTool", "HeadwayTestSupport"],
    traits: [
      sqlite: ["ArgumentParser", "GRDB"], http: ["NIOHTTP1"],
      jobs: ["HeadwayJobs", "HeadwayJobsSQLite", "JobsCrashProgram"], postgreSQL: ["HeadwayJobsPostgreSQL"],
    ]),
]

// Scripts such as `script/test-threads` build only some modules, and list them here. The package then contains only
// these modules and their dependencies.
let names = Context.environment["HEADWAY_MODULES"]?.split(separator: " ").map(String.init)
for name in names ?? [] where !modules.contains(where: { $0.name == name }) {
  fatalError("HEADWAY_MODULES lists \(name), which is not a module of this package.")
}
var built = modules.filter { module in names?.contains(module.name) ?? true }
while true {
  let needed = Set(built.flatMap { module in [module.name] + module.needs + module.traits.flatMap(\.value) })
  let all = modules.filter { module in needed.contains(module.name) }
  if all.count == built.count { break }
  built = all
}

let package = Package(
  name: "Headway",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Headway", targets: ["Headway"]),
    .library(name: "HeadwayLines", targets: ["HeadwayLines"]),
    .library(name: "HeadwayCSV", targets: ["HeadwayCSV"]),
    .library(name: "HeadwayFoundation", targets: ["HeadwayFoundation"]),
    .library(name: "HeadwayFoundationNetworking", targets: ["HeadwayFoundationNetworking"]),
    .library(name: "HeadwayTestKit", targets: ["HeadwayTestKit"]),
    .library(name: "HeadwayTrace", targets: ["HeadwayTrace"]),
    .library(name: "HeadwayImport", targets: ["HeadwayImport"]),
    .library(name: "HeadwaySampleData", targets: ["HeadwaySampleData"]),
    .library(name: "HeadwayHTTP", targets: ["HeadwayHTTP"]),
    .library(name: "HeadwayDrawing", targets: ["HeadwayDrawing"]),
    .library(name: "HeadwayJobs", targets: ["HeadwayJobs"]),
    .library(name: "HeadwayJobsSQLite", targets: ["HeadwayJobsSQLite"]),
    .library(name: "HeadwayJobsPostgreSQL", targets: ["HeadwayJobsPostgreSQL"]),
    .library(name: "HeadwayJobsTestKit", targets: ["HeadwayJobsTestKit"]),
    .library(name: "HeadwayDashboard", targets: ["HeadwayDashboard"]),
    .library(name: "HeadwayLogging", targets: ["HeadwayLogging"]),
    .library(name: "HeadwayMetrics", targets: ["HeadwayMetrics"]),
    .library(name: "HeadwayDistributedTracing", targets: ["HeadwayDistributedTracing"]),
    .library(name: "HeadwayServiceLifecycle", targets: ["HeadwayServiceLifecycle"]),
    .library(name: "HeadwaySignposts", targets: ["HeadwaySignposts"]),
    .executable(name: "headway", targets: ["HeadwayTool"]),
  ],
  traits: [
    .trait(name: "SQLite", description: "Bulk import into SQLite (HeadwayImport), and the tool's import commands."),
    .trait(
      name: "Compression", description: "Compressed files in HeadwayLines and HeadwayImport, by libarchive and zlib."),
    .trait(
      name: "Encodings", description: "Finding the encoding of text by its characters (HeadwayCSV), by uchardet."),
    .trait(name: "HTTP", description: "Requests and downloads (HeadwayHTTP), on AsyncHTTPClient."),
    .trait(name: "Drawing", description: "Drawing and thumbnails (HeadwayDrawing), by cairo, pango, libjpeg, libpng."),
    .trait(
      name: lab, description: "The lab (headway lab): its page's server, on Hummingbird, and all that the page shows.",
      enabledTraits: [sqlite, http, drawing, web]),
    .trait(
      name: "Observability",
      description: "Logs, metrics, spans and graceful shutdown, with the packages of the Swift server ecosystem."),
    .trait(
      name: jobs, description: "Durable jobs on SQLite (HeadwayJobsSQLite), and workers as services.",
      enabledTraits: [sqlite]),
    .trait(
      name: dashboard, description: "The dashboard of durable jobs (HeadwayDashboard), on Hummingbird.",
      enabledTraits: [jobs, web]),
    .trait(name: web, description: "A server of pages. The traits Lab and Dashboard enable it."),
    .trait(
      name: postgreSQL, description: "Durable jobs on PostgreSQL (HeadwayJobsPostgreSQL), by libpq.",
      enabledTraits: [jobs]),
    .trait(
      name: "Tool", description: "Everything that the tool can do, and all libraries.",
      enabledTraits: [sqlite, compression, encodings, http, drawing, lab, observability, jobs, postgreSQL, dashboard]),
    .default(enabledTraits: []),
  ],
  // Docs/decisions/0045-dependencies.md describes the purpose of each package.
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.5.1"),
    .package(url: "https://github.com/apple/swift-log", from: "1.13.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: built.map(\.target),
  swiftLanguageModes: [.v6]
)

if names != nil { package.products.removeAll { product in !built.contains { $0.name == product.name } } }

let optimized = (Context.environment["HEADWAY_OPTIMIZED"] ?? "").split(separator: " ").map(String.init)
let swiftTargets = package.targets.filter { [.executable, .test, .regular].contains($0.type) }
for target in swiftTargets where !target.name.hasPrefix("CHeadway") {
  var settings = target.swiftSettings ?? []

  // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
  settings.append(.enableUpcomingFeature("ExistentialAny"))

  // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
  settings.append(.enableUpcomingFeature("MemberImportVisibility"))

  // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
  settings.append(.enableUpcomingFeature("InternalImportsByDefault"))

  // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0470-isolated-conformances.md
  settings.append(.enableUpcomingFeature("InferIsolatedConformances"))

  // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
  settings.append(.enableUpcomingFeature("NonisolatedNonsendingByDefault"))

  // For `script/demo`. It makes a debug build because that is faster. It optimizes only these modules, because an
  // import spends its time in them.
  if optimized.contains(target.name) { settings.append(.unsafeFlags(["-O"])) }

  // Not for dependents of this package, because a newer compiler can have more warnings.
  if Context.environment["HEADWAY_WARNINGS_AS_ERRORS"] == "1" {
    settings.append(.treatAllWarnings(as: .error))
  }

  target.swiftSettings = settings
}

// For `script/bench` and `script/build`: compares Headway with its rivals, with the trait Tool. The rivals in C++ are
// in `Benchmarks/CPlusPlus`; `script/bench` builds them if their libraries are installed.
if Context.environment["HEADWAY_BENCHMARKS"] == "1" {
  let benchmarks = [
    // Declarations that Swift's Glibc module lacks.
    Module(name: "CSystemStatistics", path: "Benchmarks/Sources/CSystemStatistics"),
    Module(
      name: "SchedulerBenchmark", kind: .program, path: "Benchmarks/Sources/SchedulerBenchmark",
      needs: ["CSystemStatistics", "Headway", "HeadwayTestKit", "HeadwayTrace"]),
    Module(
      name: "LinesBenchmark", kind: .program, path: "Benchmarks/Sources/LinesBenchmark",
      needs: ["Headway", "HeadwayLines", "HeadwayTestKit"]),
    Module(
      name: "CSVBenchmark", kind: .program, path: "Benchmarks/Sources/CSVBenchmark",
      needs: ["HeadwayCSV", "HeadwayTestKit"]),
    Module(
      name: "HTTPBenchmark", kind: .program, path: "Benchmarks/Sources/HTTPBenchmark",
      needs: ["Headway", "HeadwayHTTP"],
      traits: [http: ["AsyncHTTPClient", "NIOCore", "NIOPosix"]]),
    Module(
      name: "JobsBenchmark", kind: .program, path: "Benchmarks/Sources/JobsBenchmark",
      needs: ["Headway", "HeadwayJobs", "HeadwayJobsPostgreSQL", "HeadwayJobsSQLite"], traits: [jobs: ["GRDB"]]),
    Module(name: "URLSessionBenchmark", kind: .program, path: "Benchmarks/Sources/URLSessionBenchmark"),
    // The rivals of `HeadwayDrawing`.
    Module(
      name: "CCairo", kind: .system(debian: ["libcairo2-dev"], homebrew: ["cairo"], pkgConfig: "cairo"),
      path: "Benchmarks/Sources/CCairo"),
    Module(name: "CTile", path: "Benchmarks/Sources/CTile", needs: ["CCairo"]),
    Module(
      name: "DrawingBenchmark", kind: .program, path: "Benchmarks/Sources/DrawingBenchmark",
      needs: ["CTile", "Headway", "HeadwayDrawing", "HeadwayTestKit"]),
  ]
  package.targets += benchmarks.map(\.target)
  // Valgrind 3.19, which `script/bench profile` runs, reads no later version of DWARF.
  for target in package.targets where ["CHeadway", "CSystemStatistics"].contains(target.name) {
    target.cSettings = [.unsafeFlags(["-gdwarf-4"])]
  }
}
