import HeadwayCSV

/// The files of a GTFS feed: of a folder, or of a zip archive.
public struct FeedFiles: Sendable {
  /// What comes before a slash and the name of a file: the folder, the archive, or a folder in the archive.
  public let folder: String
  /// A table a file, each after those to which it refers.
  public private(set) var tables: [TableSchema]
  /// The names of `.txt` files that the reference does not know and that do not look like tables, and of those whose
  /// ending has capital letters.
  public let leftOut: [String]
  /// The release, as `feed_info.txt` names it; nil if it does not.
  public let version: String?
  /// The bytes of each regular file, by its table.
  let sizes: [String: Int]

  /// Looks at a folder or an archive, and into the files that the reference does not know.
  ///
  /// - Parameter folder: The folder of the feed or, with the trait `Compression`, a zip archive of it, even with the
  ///   feed in a folder inside.
  /// - Throws: ``ImportError`` with the code `missingFiles`, naming the files that every feed must have and this one
  ///   has not, `cannotReadFile`, or `foreignContent` if the archive can't be read.
  public init(inFolder folder: String) throws {
    try self.init(SourceFolder(path: folder))
  }

  /// Takes the files of a folder that is a feed.
  ///
  /// - Throws: ``ImportError`` with the code `missingFiles`.
  init(_ source: SourceFolder, requiresFiles: Bool = true) throws {
    let folder = source.path
    let missing = GTFSSchema.missingFiles(present: Set(source.files.map(\.name)))
    guard missing.isEmpty || !requiresFiles else {
      let names = missing.map(\.description).joined(separator: ", ")
      throw ImportError(.missingFiles, path: folder, message: "This is not a GTFS feed: there is no \(names).")
    }
    let candidates = source.files.filter(Self.mayBeTable).map(\.name)
    // Two names that differ in case are the same table's.
    var taken = Set(candidates.filter { GTFSSchema.table(inFile: $0) != nil })
    let leftOut = candidates.filter { file in
      let name = file.lowercasedAsName
      return GTFSSchema.table(inFile: file) == nil
        && (!FileForm.looksLikeTable("\(folder)/\(file)") || name.hasPrefix("sqlite_")
          || SQL.isReserved(String(name.dropLast(".txt".count))) || !taken.insert(name).inserted)
    }
    let tables = candidates.filter { !leftOut.contains($0) }.map { TableSchema(forFile: $0) }
    // The reference has no circle, and tables that it does not know refer to nothing.
    let capitals = source.files.map(\.name).filter { !$0.hasSuffix(".txt") && $0.lowercased().hasSuffix(".txt") }
    (self.folder, self.leftOut) = (folder, (leftOut + capitals).sorted())
    version = Self.version(inFile: "\(folder)/feed_info.txt")
    self.tables = TableSchema.loadOrder(of: tables) ?? tables
    sizes = Dictionary(
      source.files.compactMap { file in file.size.map { (TableSchema(forFile: file.name).name, $0) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// The feed without some of its files.
  ///
  /// - Parameter names: The names of files, such as `shapes.txt`, or of their tables.
  /// - Returns: The other files.
  /// - Throws: ``ImportError`` with the code `missingFiles`, if the feed has no such file.
  public func without(_ names: [String]) throws(ImportError) -> FeedFiles {
    var rest = self
    for name in names {
      let table = TableSchema(forFile: name).name
      guard let position = rest.tables.firstIndex(where: { $0.name.isSameName(as: table) }) else {
        throw ImportError(
          .missingFiles, path: folder,
          message: Spelling.missing(
            "The feed has no file", name, among: tables.map { GTFSSchema.fileName(of: $0.name) }, "Its files are"))
      }
      rest.tables.remove(at: position)
    }
    return rest
  }

  /// Whether a file of the folder is one to import, by its name, kind and size.
  ///
  /// Not an optional file without a byte, which some feeds have in place of leaving it out. Of what the reference does
  /// not know, regular files only.
  private static func mayBeTable(_ file: SourceFolder.File) -> Bool {
    guard file.name.hasSuffix(".txt") else { return false }
    if file.isEmpty { return GTFSSchema.requiredFiles.contains(file.name) }
    return GTFSSchema.table(inFile: file.name) != nil || file.size != nil
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
