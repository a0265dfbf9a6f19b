import Headway
import HeadwayCSV
import HeadwayLines

extension TableSchema {
  /// The table for a file of which nothing else is known: that of the GTFS reference if the file is called like one of
  /// its files, and else one with the file's name without its ending, and no key; without the ending of a compressed
  /// file in either case.
  ///
  /// A byte of the name that is not UTF-8 becomes `_`.
  ///
  /// - Parameter path: The path of the file.
  public init(forFile path: String) {
    var fileName = (path.split(separator: "/").last.map(String.init) ?? path).replacingForeignBytes { _ in "_" }
    if let ending = Compression.endings.first(where: fileName.hasSuffix) { fileName.removeLast(ending.count) }
    if let table = GTFSSchema.table(inFile: fileName) {
      self = table
    } else {
      let dot = fileName.lastIndex(of: ".") ?? fileName.endIndex
      self.init(name: String(fileName[..<dot]), columns: [])
    }
  }
}

extension TableSchema {
  /// Whether this is a table of the GTFS reference, under whatever prefix, whose files are not to be guessed at.
  var isOfReference: Bool {
    !columns.isEmpty
      && GTFSSchema.tables.contains { name.hasSuffix($0.name) && $0.columns.map(\.name) == columns.map(\.name) }
  }

  /// Makes sure that each column that is described here is there once.
  ///
  /// - Throws: ``ImportError`` with the code `badHeader`.
  func requireNames(of source: RecordSource) throws(ImportError) {
    let described = Set((columns.map(\.name) + key).map(\.lowercasedAsName))
    let twice = source.renamedColumns.values.sorted().first { name in
      isOfReference || described.contains(name.lowercasedAsName)
    }
    guard let twice else { return }
    throw ImportError(
      .badHeader, path: source.path, line: source.headerLine,
      message: "The column \(twice) is twice in the header.")
  }
}
