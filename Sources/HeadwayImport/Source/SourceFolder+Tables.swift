import HeadwayCSV
import HeadwayLines

extension SourceFolder {
  private static let tableEndings = [".csv", ".tsv", ".jsonl", ".ndjson"]

  /// Whether the folder is a GTFS feed, even one that lacks a file.
  package var isFeed: Bool { GTFSSchema.isFeed(files.map(\.name)) }

  /// Ensures that an archive has something to import.
  ///
  /// A spreadsheet is also an archive.
  ///
  /// - Throws: ``ImportError`` with the code `foreignContent`.
  package func requireTables() throws(ImportError) {
    guard ArchivePath(path) != nil, !isFeed, tableFiles.isEmpty else { return }
    throw ImportError(
      .foreignContent, path: path,
      context: "There is no CSV file and no feed in this archive. Save a spreadsheet as CSV.")
  }

  /// The files in inner folders that look like tables by their names.
  ///
  /// They are not imported with the files of this folder.
  package var tableFilesInside: [String] {
    let endings = isFeed ? Self.tableEndings + [".txt"] : Self.tableEndings
    return filesInside.filter { file in endings.contains(where: Self.plainName(of: file).hasSuffix) }
  }

  /// The files whose names look like tables, except the imported files.
  ///
  /// - Parameter imported: The names of all imported files.
  /// - Returns: The names of the other files that look like tables.
  package func otherTableFiles(importing imported: Set<String>) -> [String] {
    let endings =
      Self.tableEndings + [".txt", ".tab", ".psv", ".dat", ".json", ".geojson", ".xlsx", ".xls", ".ods", ".parquet"]
    return files.map(\.name).filter { name in
      // Text files that do not look like tables are listed only for feeds, whose files have such names.
      !imported.contains(name) && (isFeed || !name.lowercased().hasSuffix(".txt"))
        && endings.contains(where: Self.plainName(of: name).hasSuffix)
    }
  }

  /// The name of a file in lower case, without the extension of a compressed file.
  private static func plainName(of file: String) -> Substring {
    let name = file.lowercased()
    return name.dropLast((Compression.endings.first(where: name.hasSuffix) ?? "").count)
  }

  /// The files to import from a folder that is not a feed.
  ///
  /// These are the files with the extension of a table, compressed or not, and `.txt` files that look like tables. They
  /// include missing files, because links can lead nowhere.
  package var tableFiles: [File] {
    files.filter { file in
      // A file with such a name that does not exist is reported as missing.
      guard file.size != nil || file.isMissing else { return false }
      let plainName = Self.plainName(of: file.name)
      if Self.tableEndings.contains(where: plainName.hasSuffix) { return true }
      return plainName.hasSuffix(".txt") && !file.isMissing && CSVLayout.looksLikeTable("\(path)/\(file.name)")
    }
  }
}
