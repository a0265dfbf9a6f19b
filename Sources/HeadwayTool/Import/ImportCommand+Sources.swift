#if SQLite
import ArgumentParser
import GRDB
import HeadwayCSV
import HeadwayFiles
import HeadwayImport

extension ImportCommand {
  /// Examines the sources before anything is created and prints the findings.
  ///
  /// - Throws: ``ImportError``, or a `ValidationError`.
  func look(at sources: ImportSources, _ notices: Notices) throws {
    if let first = sources.filesInside.first {
      let others = sources.filesInside.count - 1
      let rest = others == 0 ? "is" : others == 1 ? "and one more file are" : "and \(others) more files are"
      notices.say("\(first) \(rest) not imported. To import the files in a subfolder, specify the subfolder.")
    }
    for file in sources.filesBeside { notices.say("\(file) is not imported.") }
    switch sources.content {
    case .feed(let files):
      for file in files.ignoredFiles {
        let reason =
          file.lowercased().hasSuffix(".txt") ? "does not look like a table" : "is not a file of the feed"
        notices.say("\(files.folder)/\(file) \(reason), so it is skipped.")
      }
    case .files(let files), .table(let files):
      // Bytes that are read from a pipe can't be read again.
      for file in files where file.size != nil {
        do {
          say(try CSVLayout(ofFile: file.path, table: file.table, options: options), of: file.path, notices)
        } catch {
          // If there are several files, each fails separately.
          if files.count == 1 { throw error }
        }
      }
    }
    let tables = sources.tables
    if let watch, !tables.contains(where: { $0.lowercased() == watch.lowercased() }) {
      throw ValidationError(
        Spelling.missing("--watch: The import has no table", watch, among: tables, "Its tables are"))
    }
  }

  /// Prints a notice if the database contains another release of the feed.
  func sayRelease(of files: FeedFiles, in target: ImportDatabase, _ notices: Notices) {
    let known = try? target.pool.read {
      try String.fetchOne($0, sql: "SELECT feed_version FROM \"\(tablePrefix)feed_info\" LIMIT 1")
    }
    guard let old = known, let new = files.version, old != new else { return }
    let advice =
      replace
      ? "it is replaced."
      : "rows that only the old release has will remain. Use --replace to remove them from these tables."
    notices.say("\(database) has release \(old) of a feed, and \(files.folder) is release \(new): \(advice)")
  }

  /// Prints the unusual properties that were detected in a file.
  private func say(_ layout: CSVLayout, of path: String, _ notices: Notices) {
    let findings = fileOptions.findings(layout)
    if !findings.isEmpty { notices.say("\(path): found \(findings.joined(separator: ", ")).") }
    guard runOptions.progress == .json, !runOptions.quiet else { return }
    StandardStream.output.writeLine(JSONEvent.line(JSONEvent.Start(path, layout, findings)))
  }

  var options: ImportOptions {
    var options = fileOptions.options
    (options.batchSize, options.stopsAtFirstMalformedRow) = (batchSize, strict)
    options.existingRowPolicy = append ? .append : ignore ? .ignore : replace ? .replace : .update
    options.requiresSchemaColumns = !columnType.isEmpty
    (options.addsColumns, options.allowsNoRows, options.completesAppend) = (addColumns, allowRejectedRows, !fromStart)
    return options
  }

  // MARK: What the arguments name

  /// The arguments that specify what to import.
  var named: [String] { output == nil && isDatabaseNamed ? source.dropLast() : source }

  /// Whether the arguments contain a database, which a dry run does not need.
  ///
  /// The last argument of a dry run is a source, unless it is a database, or it is the second argument and names a file
  /// that does not exist.
  var isDatabaseNamed: Bool {
    guard dryRun, output == nil, let last = source.last else { return true }
    guard source.count > 1, last != "-", !last.contains(where: { "*?[".contains($0) }), !last.contains("://") else {
      return false
    }
    guard let kind = FileSystem.kind(of: last) else {
      return source.count == 2 && (try? SourceFolder.size(ofFileInArchive: last)) == nil
    }
    return kind == .file(size: 0) || ImportDatabase.isDatabase(last)
  }

  var database: String { output ?? source.last ?? "" }

  /// Checks that there is something to import, and a database to import it into.
  ///
  /// This is not checked while options are parsed, because the value of an unknown option would count as an additional
  /// name.
  func requireNames() throws {
    if named.contains("-"), table == nil { throw ValidationError("Standard input has no name: use --table NAME.") }
    if source.isEmpty { throw ValidationError("Name what to import, <source>, and the <database>.") }
    guard output == nil, source.count != 2, isDatabaseNamed else { return }
    throw ValidationError(
      source.count == 1
        ? "Name the <database> into which to import \(source[0])."
        : "For several sources, use --output DATABASE. "
          + "\(source.joined(separator: " ")) does not show which is the database."
    )
  }

  /// Returns the descriptions of tables in the options.
  func describedTables() throws -> ImportSources.Description {
    let types = try columnTypes()
    let describes = table != nil || !key.isEmpty || !types.isEmpty
    let columns = types.map { ColumnSchema(name: $0.name, type: $0.type) }
    return ImportSources.Description(
      tablePrefix: tablePrefix, table: table, ignoredFiles: without,
      describesTables: describes || fileOptions.areForOneFile
    ) { path in
      let schema = TableSchema(forFile: path)
      return describes ? TableSchema(name: table ?? schema.name, columns: columns, key: key) : schema
    }
  }

  func columnTypes() throws -> [(name: String, type: ColumnType)] {
    try columnType.map { text in
      guard let colon = text.lastIndex(of: ":"), colon != text.startIndex,
        let type = ColumnType(rawValue: String(text[text.index(after: colon)...]))
      else { throw ValidationError("--column-type \(text): use NAME:text, NAME:integer, NAME:real or NAME:numeric.") }
      return (String(text[..<colon]), type)
    }
  }
}
#endif
