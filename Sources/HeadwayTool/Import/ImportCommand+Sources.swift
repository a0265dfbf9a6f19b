#if SQLite
import ArgumentParser
import GRDB
import Headway
import HeadwayImport

extension ImportCommand {
  /// Looks at what is to be imported, before anything is made, and says what was found.
  ///
  /// - Throws: ``ImportError``, or a `ValidationError`.
  func look(at sources: ImportSources, _ notices: Notices) throws {
    if let first = sources.filesInside.first {
      let others = sources.filesInside.count - 1
      let rest = others == 0 ? "is" : others == 1 ? "and one more file are" : "and \(others) more files are"
      notices.say("\(first) \(rest) not imported. To import files in a folder inside, name that folder.")
    }
    switch sources.content {
    case .feed(let files):
      for file in files.leftOut {
        notices.say("\(files.folder)/\(file) does not look like a table, and is left out.")
      }
    case .files(let files), .table(let files):
      // What is read of a pipe is gone.
      for file in files where file.size != nil {
        do {
          say(try FileForm(ofFile: file.path, table: file.table, options: options), of: file.path, notices)
        } catch {
          // Of several, each fails by itself.
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

  /// Says that the database has another release of the feed.
  func sayRelease(of files: FeedFiles, in target: ImportDatabase, _ notices: Notices) {
    let known = try? target.pool.read {
      try String.fetchOne($0, sql: "SELECT feed_version FROM \"\(prefix)feed_info\" LIMIT 1")
    }
    guard let old = known, let new = files.version, old != new else { return }
    let advice =
      replace
      ? "it is replaced."
      : "what only the old one has will stay. Use --replace to leave nothing of it in these tables."
    notices.say("\(database) has release \(old) of a feed, and \(files.folder) is release \(new): \(advice)")
  }

  /// Says what was found in a file and is not the usual thing.
  private func say(_ found: FileForm, of path: String, _ notices: Notices) {
    let findings = form.findings(found)
    if !findings.isEmpty { notices.say("\(path): found \(findings.joined(separator: ", ")).") }
    guard progress == .json, !quiet else { return }
    StandardStream.output.writeLine(JSONEvent.line(JSONEvent.Start(path, found, findings)))
  }

  var options: ImportOptions {
    var options = form.options
    (options.batchSize, options.isStrict) = (batchSize, strict)
    options.existingRows = append ? .append : replace ? .replace : .update
    options.requiresDescribedColumns = !columnType.isEmpty
    (options.addsColumns, options.allowsNoRows, options.completesAppend) = (addColumns, allowRejects, !fromStart)
    return options
  }

  // MARK: What the arguments name

  /// What is to be imported.
  var named: [String] { into == nil && isDatabaseNamed ? source.dropLast() : source }

  /// Whether the arguments name a database, which a dry run does not need.
  ///
  /// The last argument of a dry run is a source, unless it is a database or the second name, of a file that does not
  /// exist.
  var isDatabaseNamed: Bool {
    guard dryRun, into == nil, let last = source.last else { return true }
    guard source.count > 1, last != "-", !last.contains(where: { "*?[".contains($0) }), !last.contains("://") else {
      return false
    }
    guard let kind = FileSystem.kind(of: last) else {
      return source.count == 2 && (try? SourceFolder.size(ofFileInArchive: last)) == nil
    }
    return kind == .file(size: 0) || ImportDatabase.isDatabase(last)
  }

  var database: String { into ?? source.last ?? "" }

  /// The feed that is to be checked.
  func checkedFeed() throws -> String {
    guard source.count == 1, into == nil else {
      throw ValidationError("--check accepts one feed, and no database.")
    }
    return source[0]
  }

  /// Makes sure that there is something to import, and something to import it into.
  ///
  /// Not asked while options are parsed: the value of an unknown option would be one name too many.
  func requireNames() throws {
    if named.contains("-"), table == nil { throw ValidationError("Standard input has no name: use --table NAME.") }
    if source.isEmpty { throw ValidationError("Name what to import, <source>, and the <database>.") }
    guard into == nil, source.count != 2, isDatabaseNamed else { return }
    throw ValidationError(
      source.count == 1
        ? "Name the <database> into which to import \(source[0])."
        : "For several sources use --output DATABASE: \(source.joined(separator: " ")) does not show which that is.")
  }

  /// What the options say of the tables of files.
  func describedTables() throws -> ImportSources.Description {
    let types = try columnTypes()
    let describes = table != nil || !key.isEmpty || !types.isEmpty
    let columns = types.map { ColumnSchema(name: $0.name, type: $0.type) }
    return ImportSources.Description(
      tablePrefix: prefix, table: table, leftOut: without, describesTables: describes || form.areForOneFile
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
