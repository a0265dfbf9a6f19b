import HeadwayCSV

/// The files of a GTFS feed, in a folder or in a zip archive.
public struct FeedFiles: Sendable {
  /// The path before the slash and the name of a file: the folder, the archive, or a folder in the archive.
  public let folder: String
  /// One table per file, each after the tables that it refers to.
  public private(set) var tables: [TableSchema]
  /// The file names that are not imported: `.txt` files that are neither in the reference nor look like tables, and
  /// files with other extensions of tables, such as `.csv`, `.geojson`, or `.TXT` in uppercase.
  public let ignoredFiles: [String]
  /// The version of the feed from `feed_info.txt`; nil if it has none.
  public let version: String?
  /// The size of each regular file in bytes, by its table.
  let sizes: [String: Int]

  /// Examines a folder or an archive and reads the beginning of the files that the reference does not list.
  ///
  /// - Parameter folder: The folder of the feed or, with the trait `Compression`, a zip archive of it. The feed can be
  ///   in a folder inside the archive.
  /// - Throws: ``ImportError`` with the code `missingFiles`, which names the required files that the feed lacks,
  ///   `cannotReadFile`, or `foreignContent` if the archive can't be read.
  public init(inFolder folder: String) throws {
    try self.init(SourceFolder(path: folder))
  }

  /// Uses the files of a folder that is a feed.
  ///
  /// - Throws: ``ImportError`` with the code `missingFiles`.
  init(_ source: SourceFolder, requiresFiles: Bool = true) throws {
    let folder = source.path
    let missing = GTFSSchema.unmetRequirements(for: Set(source.files.map(\.name)))
    guard missing.isEmpty || !requiresFiles else {
      let names = missing.map(\.description).joined(separator: ", ")
      throw ImportError(.missingFiles, path: folder, context: "This is not a GTFS feed: there is no \(names).")
    }
    let candidates = source.files.filter(Self.mayBeTable).map(\.name)
    // Two names that differ only in case belong to the same table.
    var taken = Set(candidates.filter { GTFSSchema.table(forFileNamed: $0) != nil })
    let ignoredFiles = candidates.filter { file in
      let name = file.lowercasedAsName
      return GTFSSchema.table(forFileNamed: file) == nil
        && (!CSVLayout.looksLikeTable("\(folder)/\(file)") || name.hasPrefix("sqlite_")
          || SQL.isReserved(String(name.dropLast(".txt".count))) || !taken.insert(name).inserted)
    }
    let tables = candidates.filter { !ignoredFiles.contains($0) }.map { TableSchema(forFile: $0) }
    // The reference has no reference cycles, and tables that it does not list have no references.
    let others = source.otherTableFiles(importing: Set(candidates)).filter { !$0.hasSuffix(".txt") }
    (self.folder, self.ignoredFiles) = (folder, (ignoredFiles + others).sorted())
    version = Self.version(inFile: "\(folder)/feed_info.txt")
    self.tables = TableSchema.loadOrder(of: tables) ?? tables
    sizes = Dictionary(
      source.files.compactMap { file in file.size.map { (TableSchema(forFile: file.name).name, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// The feed without some of its files.
  ///
  /// - Parameter names: File names, such as `shapes.txt`, or table names, such as `shapes`.
  /// - Returns: The feed without these files.
  /// - Throws: ``ImportError`` with the code `missingFiles`, if the feed has no such file.
  public func without(_ names: [String]) throws(ImportError) -> FeedFiles {
    var rest = self
    for name in names {
      let table = TableSchema(forFile: name).name
      guard let position = rest.tables.firstIndex(where: { $0.name.isSameName(as: table) }) else {
        throw ImportError(
          .missingFiles, path: folder,
          context: Spelling.missing(
            "The feed has no file", name, among: tables.map { GTFSSchema.fileName(forTable: $0.name) }, "Its files are")
        )
      }
      rest.tables.remove(at: position)
    }
    return rest
  }

  /// Whether a file of the folder should be imported, judged by its name, kind, and size.
  ///
  /// Empty optional files are excluded, because some feeds have these instead of leaving them out. Files that the
  /// reference does not list must be regular files.
  private static func mayBeTable(_ file: SourceFolder.File) -> Bool {
    guard file.name.hasSuffix(".txt") else { return false }
    if file.isEmpty { return GTFSSchema.requiredFiles.contains(file.name) }
    return GTFSSchema.table(forFileNamed: file.name) != nil || file.size != nil
  }

  private static func version(inFile path: String) -> String? {
    guard let records = try? RecordSource(path: path, options: ImportOptions(), findsLayout: false),
      let position = try? records.readHeader()?.firstIndex(of: "feed_version")
    else { return nil }
    var version: String?
    try? records.forEach { record in
      if position < record.count { version = record.string(at: position) }
      return .stop
    } malformed: { _ in
      .stop
    }
    return version?.isEmpty == false ? version : nil
  }
}
