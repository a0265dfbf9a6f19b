import Foundation
import HeadwayCSV

/// The files of a GTFS feed, a folder.
public struct FeedFiles: Sendable {
  /// The folder.
  public let folder: String
  /// A table a file, each after those to which it refers.
  public let tables: [TableSchema]
  /// The names of `.txt` files that the reference does not know and that do not look like tables.
  public let leftOut: [String]
  /// The release, as `feed_info.txt` names it; nil if it does not.
  public let version: String?

  /// Looks at a folder, and into the files that the reference does not know.
  ///
  /// - Parameter folder: The folder of the feed.
  /// - Throws: ``ImportError`` with the code `missingFiles`, naming the files that every feed must have and this one
  ///   has not, or `cannotReadFile`.
  public init(inFolder folder: String) throws {
    let files: [String]
    do {
      files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    } catch {
      throw ImportError(.cannotReadFile, path: folder, message: "The folder can't be read.", underlying: error)
    }
    let missing = GTFSSchema.missingFiles(present: Set(files))
    guard missing.isEmpty else {
      let names = missing.map(\.description).joined(separator: ", ")
      throw ImportError(.missingFiles, path: folder, message: "This is not a GTFS feed: there is no \(names).")
    }
    let candidates = files.filter { Self.mayBeTable($0, in: folder) }
    // Two names that differ in case are the same table's.
    var taken = Set(candidates.filter { GTFSSchema.table(inFile: $0) != nil })
    let leftOut = candidates.filter { file in
      let name = file.lowercasedAsName
      return GTFSSchema.table(inFile: file) == nil
        && (!Self.looksLikeTable("\(folder)/\(file)") || name.hasPrefix("sqlite_") || name == "headway_imports.txt"
          || !taken.insert(name).inserted)
    }
    let tables = candidates.filter { !leftOut.contains($0) }.map { TableSchema(forFile: $0) }
    // The reference has no circle, and tables that it does not know refer to nothing.
    (self.folder, self.leftOut) = (folder, leftOut)
    version = Self.version(inFile: "\(folder)/feed_info.txt")
    self.tables = TableSchema.loadOrder(of: tables) ?? tables
  }

  /// Whether a file of the folder is one to import, by its name, kind and size.
  ///
  /// Not what systems hide there, not a folder, and not an optional file without a byte, which some feeds have in place
  /// of leaving it out. Of what the reference does not know, regular files only.
  private static func mayBeTable(_ name: String, in folder: String) -> Bool {
    guard name.hasSuffix(".txt"), !name.hasPrefix(".") else { return false }
    let path = ("\(folder)/\(name)" as NSString).resolvingSymlinksInPath
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    let type = attributes?[.type] as? FileAttributeType
    if type == .typeRegular, attributes?[.size] as? Int == 0 { return GTFSSchema.requiredFiles.contains(name) }
    return GTFSSchema.table(inFile: name) == nil ? type == .typeRegular : type != .typeDirectory
  }

  private static func version(inFile path: String) -> String? {
    guard FileManager.default.fileExists(atPath: path),
      let records = try? RecordSource(path: path, options: ImportOptions()),
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

  /// Whether a file has a header of several names without blanks, and records with as many fields.
  private static func looksLikeTable(_ path: String) -> Bool {
    guard let records = try? RecordSource(path: path, options: ImportOptions()),
      let header = try? records.readHeader(), header.count > 1,
      Set(header.map(\.lowercasedAsName)).count == header.count,
      header.allSatisfy({ $0.allSatisfy { $0.isLetter || $0.isNumber || "_-.".contains($0) } })
    else { return false }
    // Enough to tell a table from prose.
    let most = 64
    var (count, agreeing) = (0, 0)
    func next(isAgreeing: Bool) -> CSVFlow {
      count += 1
      if isAgreeing { agreeing += 1 }
      return count < most ? .continue : .stop
    }
    try? records.forEach { record in
      next(isAgreeing: record.count == header.count)
    } malformed: { _ in
      next(isAgreeing: false)
    }
    return agreeing * 10 >= count * 9
  }
}
