import HeadwayLines

extension SourceFolder {
  private static let tableEndings = [".csv", ".tsv", ".jsonl", ".ndjson"]

  /// Whether it is a GTFS feed, even one that lacks a file.
  package var isFeed: Bool { GTFSSchema.isFeed(files.map(\.name)) }

  /// Makes sure that an archive has something to import: a spreadsheet is one too.
  ///
  /// - Throws: ``ImportError`` with the code `foreignContent`.
  package func requireTables() throws(ImportError) {
    guard ArchivePath(path) != nil, !isFeed, tableFiles.isEmpty else { return }
    throw ImportError(
      .foreignContent, path: path,
      message: "There is no CSV file and no feed in this archive. A spreadsheet is to be saved as CSV.")
  }

  /// The files to import of a folder that is no feed: those with an ending of a table, compressed or not, and those
  /// called `.txt` that look like tables; also those that are not there, as links may lead nowhere.
  package var tableFiles: [File] {
    files.filter { file in
      // What has such a name, and is not there, is said to be missing.
      guard file.size != nil || file.isMissing else { return false }
      let name = file.name.lowercased()
      let ending = Compression.endings.first(where: name.hasSuffix) ?? ""
      let plainName = name.dropLast(ending.count)
      if Self.tableEndings.contains(where: plainName.hasSuffix) { return true }
      return plainName.hasSuffix(".txt") && !file.isMissing && FileForm.looksLikeTable("\(path)/\(file.name)")
    }
  }
}
