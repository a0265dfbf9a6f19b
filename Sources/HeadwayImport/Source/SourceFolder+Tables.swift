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

  /// The files in folders inside that look like tables by their names, and are not imported with those here.
  package var tableFilesInside: [String] {
    let endings = isFeed ? Self.tableEndings + [".txt"] : Self.tableEndings
    return filesInside.filter { file in endings.contains(where: Self.plainName(of: file).hasSuffix) }
  }

  /// The name of a file in lower case, without the ending of a compressed file.
  private static func plainName(of file: String) -> Substring {
    let name = file.lowercased()
    return name.dropLast((Compression.endings.first(where: name.hasSuffix) ?? "").count)
  }

  /// The files to import of a folder that is no feed: those with an ending of a table, compressed or not, and those
  /// called `.txt` that look like tables; also those that are not there, as links may lead nowhere.
  package var tableFiles: [File] {
    files.filter { file in
      // What has such a name, and is not there, is said to be missing.
      guard file.size != nil || file.isMissing else { return false }
      let plainName = Self.plainName(of: file.name)
      if Self.tableEndings.contains(where: plainName.hasSuffix) { return true }
      return plainName.hasSuffix(".txt") && !file.isMissing && FileForm.looksLikeTable("\(path)/\(file.name)")
    }
  }
}
