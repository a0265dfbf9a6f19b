// swift-tools-version: 6.2

import PackageDescription

// The traits a consumer can enable. None is on by default, so a package that depends on the product `Headway` resolves
// and builds the core alone. Whatever uses a guarded dependency is guarded itself: `.when(traits:)` here, `#if` there.
let sqlite = "SQLite"
let compression = "Compression"
let http = "HTTP"
let drawing = "Drawing"
let lab = "Lab"

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
    .library(name: "HeadwayImport", targets: ["HeadwayImport"]),
    .library(name: "HeadwayHTTP", targets: ["HeadwayHTTP"]),
    .library(name: "HeadwayDrawing", targets: ["HeadwayDrawing"]),
    .executable(name: "headway", targets: ["HeadwayTool"]),
  ],
  traits: [
    .trait(name: "SQLite", description: "Bulk import into SQLite (HeadwayImport), and the tool's import commands."),
    .trait(
      name: "Compression", description: "Compressed files in HeadwayLines and HeadwayImport, by libarchive and zlib."),
    .trait(name: "HTTP", description: "Requests and downloads (HeadwayHTTP), on AsyncHTTPClient."),
    .trait(name: "Drawing", description: "Drawing and thumbnails (HeadwayDrawing), by cairo, pango, libjpeg, libpng."),
    .trait(
      name: lab, description: "The lab (headway lab): its page's server, on Hummingbird, and all that the page shows.",
      enabledTraits: [sqlite, http, drawing]),
    .trait(
      name: "Tool", description: "All that the tool can do.",
      enabledTraits: [sqlite, compression, http, drawing, lab]),
    .default(enabledTraits: []),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-certificates.git", from: "1.14.0"),
    .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.5.1"),
    .package(url: "https://github.com/apple/swift-log", from: "1.13.0"),
  ],
  targets: [
    // The core: the toolchain's Synchronization and Dispatch, and nothing else.
    .target(name: "CHeadway"),
    .target(name: "Headway", dependencies: ["CHeadway"], exclude: ["WorkerPool/README.md"]),

    // In place of `import Foundation`.
    .target(name: "HeadwayFoundation", dependencies: ["Headway"]),

    // In place of `import FoundationNetworking`, for those who need the network stack that it links.
    .target(name: "HeadwayFoundationNetworking", dependencies: ["Headway", "HeadwayFoundation"]),

    // Practices on top.
    .systemLibrary(
      name: "CArchive", providers: [.apt(["libarchive-dev", "zlib1g-dev"]), .brew(["libarchive", "zlib"])]),
    .target(
      name: "HeadwayLines",
      dependencies: ["Headway", .target(name: "CArchive", condition: .when(traits: [compression]))]),
    .target(name: "HeadwayCSV", dependencies: ["Headway", "HeadwayLines"]),
    .target(
      name: "HeadwayImport",
      dependencies: [
        "Headway", "HeadwayCSV", "HeadwayLines",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: [sqlite])),
        .product(name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: [sqlite])),
      ]),

    .systemLibrary(name: "CHeadwayHTTP", providers: [.apt(["zlib1g-dev"])]),
    .target(
      name: "HeadwayHTTP",
      dependencies: [
        "Headway",
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: [http])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: [http])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: [http])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: [http])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: [http])),
        .product(name: "X509", package: "swift-certificates", condition: .when(traits: [http])),
        .product(name: "SwiftASN1", package: "swift-asn1", condition: .when(traits: [http])),
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: [http])),
        .target(name: "CHeadwayHTTP", condition: .when(traits: [http])),
      ]),

    .systemLibrary(
      name: "CPangoCairo", pkgConfig: "pangocairo", providers: [.apt(["libpango1.0-dev"]), .brew(["pango"])]),
    .systemLibrary(
      name: "CJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg-dev"]), .brew(["jpeg-turbo"])]),
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"]), .brew(["libpng"])]),
    // libjpeg and libpng report errors by `longjmp`, which must not cross Swift code.
    .target(
      name: "CHeadwayDrawing",
      dependencies: [
        .target(name: "CJPEG", condition: .when(traits: [drawing])),
        .target(name: "CPNG", condition: .when(traits: [drawing])),
      ],
      cSettings: [.define("HEADWAY_DRAWING", .when(traits: [drawing]))]),
    .target(
      name: "HeadwayDrawing",
      dependencies: [
        "Headway", "CHeadwayDrawing", .target(name: "CPangoCairo", condition: .when(traits: [drawing])),
      ]),

    // The seven techniques of the sample LongRunningTasks: a file each, to be read beside an article about threads.
    // They are the example LongRunningTasks too, whose program is `main.swift`.
    .target(
      name: "LongRunningTechniques", dependencies: ["Headway"], path: "Examples/Sources/LongRunningTasks",
      exclude: ["main.swift"]),

    // The lab: runs techniques and add-on modules, and shows them in a browser or a terminal.
    .target(
      name: "HeadwayLab",
      dependencies: [
        "Headway", "HeadwayDrawing", "HeadwayHTTP", "HeadwayImport", "HeadwayLines",
        "LongRunningTechniques",
        .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: [lab])),
        .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: [lab])),
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: [lab])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: [lab])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: [lab])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: [lab])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: [lab])),
      ],
      // A part of the program, so that it can be moved by itself.
      resources: [.embedInCode("Pages")]),

    // For tests of code that uses the core, and of the core itself.
    .target(name: "HeadwayTestKit", dependencies: ["Headway"]),

    // The command line tool. Its folder is not called `headway`: that is `Headway` on a case-insensitive file system.
    .executableTarget(
      name: "HeadwayTool",
      dependencies: [
        "Headway", "HeadwayDrawing", "HeadwayHTTP", "HeadwayImport", "HeadwayLab", "HeadwayLines",
        "LongRunningTechniques",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: [sqlite])),
      ]),

    // What all tests here have: a watchdog that ends a process whose tests hang. In no product.
    .target(name: "CHeadwayTestSupport", path: "Tests/CHeadwayTestSupport"),
    .target(
      name: "HeadwayTestSupport",
      dependencies: [
        "CHeadwayTestSupport", "Headway", .target(name: "CArchive", condition: .when(traits: [compression])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: [http])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: [http])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: [http])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: [http])),
      ],
      path: "Tests/HeadwayTestSupport"),

    .testTarget(name: "HeadwayTests", dependencies: ["Headway", "HeadwayTestKit", "HeadwayTestSupport"]),
    .testTarget(
      name: "HeadwayFoundationTests",
      dependencies: ["HeadwayFoundation", "HeadwayFoundationNetworking", "HeadwayTestKit", "HeadwayTestSupport"]),
    .testTarget(name: "HeadwayTestKitTests", dependencies: ["Headway", "HeadwayTestKit", "HeadwayTestSupport"]),
    .testTarget(
      name: "HeadwayLinesTests", dependencies: ["Headway", "HeadwayLines", "HeadwayTestKit", "HeadwayTestSupport"]),
    .testTarget(
      name: "HeadwayCSVTests",
      dependencies: ["Headway", "HeadwayCSV", "HeadwayLines", "HeadwayTestKit", "HeadwayTestSupport"]),
    .testTarget(
      name: "HeadwayImportTests",
      dependencies: [
        "Headway", "HeadwayCSV", "HeadwayImport", "HeadwayTestSupport",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: [sqlite])),
      ]),
    .testTarget(
      name: "HeadwayHTTPTests",
      dependencies: [
        "Headway", "HeadwayHTTP", "HeadwayTestKit", "HeadwayTestSupport",
        .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: [http])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: [http])),
      ]),
    .testTarget(
      name: "HeadwayDrawingTests",
      dependencies: [
        "Headway", "HeadwayDrawing", "HeadwayTestKit", "HeadwayTestSupport",
        .target(name: "CJPEG", condition: .when(traits: [drawing])),
        .target(name: "CPNG", condition: .when(traits: [drawing])),
      ],
      exclude: ["Pictures"]),
    .testTarget(
      name: "HeadwayLabTests",
      dependencies: [
        "HeadwayLab", "HeadwayTestKit", "HeadwayTestSupport", "LongRunningTechniques",
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: [lab])),
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: [lab])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: [lab])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: [lab])),
      ]),
    .testTarget(
      name: "LongRunningTasksTests",
      dependencies: ["Headway", "HeadwayTestKit", "HeadwayTestSupport", "LongRunningTechniques"]),
    .testTarget(
      name: "HeadwayToolTests",
      dependencies: [
        "HeadwayDrawing", "HeadwayTool", "HeadwayTestSupport",
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: [sqlite])),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: [http])),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// For `script/documentation` alone: whoever depends on this package resolves no plugin.
if Context.environment["HEADWAY_DOCUMENTATION"] == "1" {
  package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}

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

  // Not for those who depend on this package: a newer compiler may warn of more.
  if Context.environment["HEADWAY_WARNINGS_AS_ERRORS"] == "1" {
    settings.append(.treatAllWarnings(as: .error))
  }

  target.swiftSettings = settings
}
