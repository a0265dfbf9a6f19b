import HeadwayLines

extension TableSchema {
  /// The table for a file of which nothing else is known: that of the GTFS reference if the file is called like one of
  /// its files, and else one with the file's name without its ending, and no key; without the ending of a compressed
  /// file in either case.
  ///
  /// - Parameter path: The path of the file.
  public init(forFile path: String) {
    var fileName = path.split(separator: "/").last.map(String.init) ?? path
    if let ending = Compression.endings.first(where: fileName.hasSuffix) { fileName.removeLast(ending.count) }
    if let table = GTFSSchema.table(inFile: fileName) {
      self = table
    } else {
      let dot = fileName.lastIndex(of: ".") ?? fileName.endIndex
      self.init(name: String(fileName[..<dot]), columns: [])
    }
  }
}
