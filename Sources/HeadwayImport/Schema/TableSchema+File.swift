import HeadwayCSV
import HeadwayFiles
import HeadwayLines

extension TableSchema {
  /// Creates the table for a file without any other information.
  ///
  /// If the file has the name of one of the GTFS reference's files, this is its table. Otherwise, the table has the
  /// file's name without its extension, and no key. In both cases, the extension of a compressed file is removed first.
  /// A byte of the name that is not UTF-8 becomes `_`.
  ///
  /// - Parameter path: The path of the file.
  public init(forFile path: String) {
    var fileName = (path.split(separator: "/").last.map(String.init) ?? path).replacingForeignBytes { _ in "_" }
    if let ending = Compression.endings.first(where: fileName.hasSuffix) { fileName.removeLast(ending.count) }
    if let table = GTFSSchema.table(forFileNamed: fileName) {
      self = table
    } else {
      let dot = fileName.lastIndex(of: ".") ?? fileName.endIndex
      self.init(name: String(fileName[..<dot]), columns: [])
    }
  }
}

extension TableSchema {
  /// Whether this is a table of the GTFS reference, with any prefix.
  ///
  /// The layout of its files is not detected.
  var isOfReference: Bool {
    !columns.isEmpty
      && GTFSSchema.tables.contains { name.hasSuffix($0.name) && $0.columns.map(\.name) == columns.map(\.name) }
  }

  /// Ensures that each described column occurs once in the file.
  ///
  /// - Throws: ``ImportError`` with the code `badHeader`.
  func requireNames(of source: RecordSource) throws(ImportError) {
    let described = Set((columns.map(\.name) + key).map(\.lowercasedAsName))
    let twice = source.renamedColumns.values.sorted().first { name in
      isOfReference || described.contains(name.lowercasedAsName)
    }
    guard let twice else { return }
    throw ImportError(
      .badHeader, path: source.path, lineNumber: source.headerLineNumber,
      context: "The column \(twice) occurs twice in the header.")
  }
}
