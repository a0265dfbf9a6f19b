#if SQLite
import ArgumentParser
import Foundation
import HeadwayFiles
import HeadwayImport

/// The sources that the arguments of an import specify: a feed, or files, each with its table.
struct ImportSources {
  enum Content {
    case feed(FeedFiles)
    /// Files that each have their own table.
    case files([FilesImport.File])
    /// Files that are all imported into one table.
    case table([FilesImport.File])
  }

  let content: Content
  /// Files that look like tables but are not imported, because they are in subfolders of the specified folders.
  private(set) var filesInside: [String] = []
  /// Files that look like tables but are not imported, because of their format.
  private(set) var filesBeside: [String] = []
  private let tablePrefix: String

  /// The descriptions of tables in the options.
  struct Description {
    var tablePrefix = ""
    /// The single table for all files.
    var table: String?
    /// Files of a feed that are omitted.
    var ignoredFiles: [String] = []
    /// Whether options describe the table of a file.
    var describesTables = false
    /// Returns the table for a file with a given path.
    var schema: (String) -> TableSchema
  }

  /// Examines the sources before anything is created.
  ///
  /// - Parameters:
  ///   - arguments: Folders, archives, files, patterns, and `-` for standard input.
  ///   - description: The descriptions of tables in the options.
  /// - Throws: ``ImportError``, or a `ValidationError`.
  init(_ arguments: [String], _ description: Description) throws {
    tablePrefix = description.tablePrefix
    let paths = try arguments.flatMap(Self.expanded)
    var files: [FilesImport.File] = []
    for path in paths {
      guard path == "-" || !SourceFolder.isFolder(path) else {
        let folder = try SourceFolder(path: path)
        filesInside += folder.tableFilesInside.map { "\(folder.path)/\($0)" }
        let tableFiles = folder.isFeed ? [] : folder.tableFiles
        if tableFiles.isEmpty {
          try folder.requireTables()
          content = .feed(try Self.feed(path, among: paths, description))
          return
        }
        filesBeside += folder.otherTableFiles(importing: Set(tableFiles.map(\.name))).map { "\(folder.path)/\($0)" }
        files += tableFiles.map { Self.file("\(folder.path)/\($0.name)", size: $0.size, description) }
        continue
      }
      files.append(Self.file(path == "-" ? "/dev/stdin" : path, size: try Self.size(of: path), description))
    }
    guard description.ignoredFiles.isEmpty else {
      let verb = paths.count == 1 ? "is not a feed" : "are not feeds"
      throw ValidationError("--without applies only to feeds, and \(paths.joined(separator: ", ")) \(verb).")
    }
    content = description.table == nil ? .files(files) : .table(files)
    if description.table == nil { try Self.requireDistinctTables(of: files) }
  }

  /// The table names.
  var tables: [String] {
    switch content {
    case .feed(let files): files.tables.map { tablePrefix + $0.name }
    case .files(let files): files.map(\.table.name)
    case .table(let files): files.prefix(1).map(\.table.name)
    }
  }

  /// The files with their tables, each after the tables that it refers to.
  var files: [(path: String, table: TableSchema)] {
    switch content {
    case .feed(let feed):
      feed.tables.map { ("\(feed.folder)/\(GTFSSchema.fileName(forTable: $0.name))", $0.prefixed(tablePrefix)) }
    case .files(let files), .table(let files): files.map { ($0.path, $0.table) }
    }
  }

  // MARK: Parts

  /// Returns the paths that match a pattern, ordered by name.
  ///
  /// A path that exists is not a pattern.
  private static func expanded(_ argument: String) throws -> [String] {
    let isPattern = argument.contains { "*?[".contains($0) }
    guard isPattern, FileSystem.kind(of: argument) == nil else { return [argument] }
    var matches = glob_t()
    defer { globfree(&matches) }
    guard argument.withPathBytes({ glob($0, 0, nil, &matches) }) == 0 else {
      throw ImportError(.cannotReadFile, path: argument, context: "No file matches this pattern.")
    }
    return (0..<Int(matches.gl_pathc)).compactMap { matches.gl_pathv[$0].map { String(path: $0) } }
  }

  private static func feed(_ path: String, among paths: [String], _ description: Description) throws -> FeedFiles {
    let files = try FeedFiles(inFolder: path)
    guard paths.count == 1 else {
      throw ValidationError(
        "\(path) is a feed: import each with a separate command, and use --table-prefix to keep both.")
    }
    guard !description.describesTables else {
      throw ValidationError(
        "--table, --key, --column-type, --columns, --header, --no-header, and --skip-lines are for CSV files, "
          + "and \(path) is a feed.")
    }
    return try files.without(description.ignoredFiles)
  }

  private static func file(_ path: String, size: Int?, _ description: Description) -> FilesImport.File {
    FilesImport.File(path: path, table: description.schema(path).prefixed(description.tablePrefix), size: size)
  }

  /// Returns the size of a file in bytes.
  ///
  /// Nil if it is not a regular file.
  ///
  /// - Throws: ``ImportError``, if the file does not exist.
  private static func size(of path: String) throws -> Int? {
    guard path != "-" else { return nil }
    if let kind = FileSystem.kind(of: path) {
      guard case .file(let size) = kind else { return nil }
      return size
    }
    guard let size = try SourceFolder.size(ofFileInArchive: path) else {
      throw ImportError(.cannotReadFile, path: path, context: "There is no such file or folder.")
    }
    return size
  }

  private static func requireDistinctTables(of files: [FilesImport.File]) throws {
    for (name, files) in Dictionary(grouping: files, by: { $0.table.name.lowercased() }).sorted(by: {
      $0.key < $1.key
    })
    where files.count > 1 {
      throw ValidationError(
        "\(files[0].path) and \(files[1].path) would both be the table \(name): use --table \(name) to put all "
          + "files into one, or import each with a separate command.")
    }
  }
}
#endif
