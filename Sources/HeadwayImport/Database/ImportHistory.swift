#if SQLite
import Foundation
import GRDB
import HeadwayFiles
import HeadwayLines

/// The entries for one table in `grdb_headway_imports`, the table of imports: which files have written its rows.
///
/// In a table without a key, the record with number *n* of a file is the row with number `offset` + *n*. The last of
/// these numbers, together with the content of that row, separates the import's rows from the other rows after them. If
/// other programs have added rows in between, the offset is -1.
///
/// Each transaction that appends rows stores the number of its last record. An append that ended early can therefore be
/// completed exactly, no matter which other rows the table has.
///
/// Used with the writing connection, in the transactions that write the rows.
struct ImportHistory {
  /// One import.
  struct Entry {
    let identifier: Int64
    let source: String
    let offset: Int
    let lastRow: Int
    /// The fingerprint of the last row; nil if it is unknown.
    let lastRowHash: Int64?
    let outcome: String
    let beganEmpty: Bool
    /// The number of the last processed record; nil for an entry of an earlier version.
    let records: Int?
    let recordsHash: Int64?
    let refused: Int
    /// The number before the first row, the number of rows in the table before the import, and the number of rows from
    /// the first one on, as in ``UnfinishedAppend``.
    let startRow: Int?
    let rowsBefore: Int?
    let storedRows: Int?
    /// The file's column names, separated by commas.
    let columns: String
  }

  enum Outcome: String { case running, finished, cancelled, failed }

  let target: String
  /// The path of the file, with links resolved.
  ///
  /// For a file in an archive, this is the path of the archive followed by the name in it. For a pipe, it is the name
  /// as given, because links such as `/dev/stdin` lead elsewhere in each process.
  let source: String

  /// The path of the file as given, for errors.
  let file: String

  /// Whether reading the path again yields the same data.
  ///
  /// A pipe has the same name for any data that passes through it.
  let isRegular: Bool

  /// The identifier of the run that the import belongs to, if rows are appended.
  var run: String?

  /// The history entry of this file's import, if it has completed in a run that is now completed.
  var finished: Int64?

  /// Identifies this import as the one that continues an append.
  let owner = UUID().uuidString

  init(target: String, file: String, isRegular: Bool) {
    (self.target, self.file, self.isRegular) = (target, file, isRegular)
    let inArchive = ArchivePath(file)
    let named = inArchive?.archive ?? file
    let path: String
    if named.hasForeignBytes {
      path = (isRegular ? FileSystem.resolved(named) : nil) ?? named
    } else {
      let url = URL(fileURLWithPath: named).standardizedFileURL
      path = (isRegular ? url.resolvingSymlinksInPath() : url).path
    }
    source = inArchive.map { "\(path)/\($0.entry)" } ?? path
  }

  /// The imports since the table was empty or was replaced, the oldest first.
  ///
  /// - Parameters:
  ///   - sinceEmpty: If it is unknown whether the table was ever empty, true returns no imports, and false returns all.
  ///   - database: Any connection.
  /// - Returns: The entries of the imports, oldest first.
  /// - Throws: GRDB's `DatabaseError`.
  func entries(sinceEmpty: Bool = true, _ database: Database) throws -> [Entry] {
    guard try Self.exists(database) else { return [] }
    return try Row.fetchAll(
      database,
      sql: """
        SELECT * FROM \(Self.table) WHERE "table" = :target AND id >= coalesce(
          (SELECT max(id) FROM \(Self.table) WHERE "table" = :target AND began_empty), :otherwise) ORDER BY id
        """, arguments: ["target": target, "otherwise": sinceEmpty ? Int64.max : 0]
    ).map {
      Entry(
        identifier: $0["id"], source: $0["source"], offset: $0["row_offset"], lastRow: $0["last_row"],
        lastRowHash: $0["last_row_hash"], outcome: $0["outcome"], beganEmpty: $0["began_empty"],
        records: $0["records"], recordsHash: $0["records_hash"], refused: $0["refused"],
        startRow: $0["start_row"], rowsBefore: $0["rows_before"], storedRows: $0["stored_rows"], columns: $0["columns"])
    }
  }

  /// Ensures that this file alone has written all rows in the table, record *n* as row *n*.
  ///
  /// - Throws: ``ImportError`` with the code `foreignRows`.
  func requireOwnRows(rowIdentifier: String, hasHeader: Bool, _ database: Database) throws {
    let entries = try entries(database)
    guard isRegular, entries.allSatisfy({ $0.source == source && $0.offset == 0 }),
      try hasRows(of: entries, rowIdentifier: rowIdentifier, hasHeader: hasHeader, database)
    else { throw otherRows }
  }

  /// Ensures that these files alone have written all rows of a table, one file after the other.
  ///
  /// - Throws: ``ImportError`` with the code `foreignRows`.
  static func requireOwnRows(
    of files: [(path: String, isRegular: Bool)], in target: String, rowIdentifier: String, hasHeader: Bool,
    _ database: Database
  ) throws {
    let histories = files.map { ImportHistory(target: target, file: $0.path, isRegular: $0.isRegular) }
    guard let first = histories.first else { return }
    let (entries, sources) = (try first.entries(database), Set(histories.map(\.source)))
    guard histories.allSatisfy(\.isRegular),
      entries.allSatisfy({ sources.contains($0.source) && $0.offset >= 0 }),
      try first.hasRows(of: entries, rowIdentifier: rowIdentifier, hasHeader: hasHeader, database)
    else { throw first.otherRows }
  }

  /// Whether these imports have written the table's rows.
  private func hasRows(
    of entries: [Entry], rowIdentifier: String, hasHeader: Bool, _ database: Database
  ) throws -> Bool {
    // Record 1 of these files is the header. If there is a row 1, another program has added it, or VACUUM has
    // renumbered the rows.
    let hasRowOne = try Row.fetchOne(
      database, sql: "SELECT 1 FROM \(SQL.name(target)) WHERE \(rowIdentifier) = 1")
    // A finished import has removed the rows of earlier imports beyond its own.
    let first = entries.lastIndex { $0.outcome == Outcome.finished.rawValue } ?? 0
    let end = try database.lastRow(of: target, rowIdentifier)
    guard !entries.isEmpty, hasRowOne == nil || !hasHeader,
      let last = entries[first...].reversed().max(by: { $0.lastRow < $1.lastRow }), end <= last.lastRow
    else { return false }
    // SQLite reuses a row number only after the last row has been removed. In that case, another row has this number,
    // or none.
    guard let hash = last.lastRowHash else { return true }
    return try StoredRows(of: target, header: last.columns, database)?.hash(ofRow: last.lastRow, database) == hash
  }

  private var otherRows: ImportError {
    ImportError(
      .foreignRows, path: file,
      context: "The table \(target) has rows that were not imported from this file, or were changed later, and it has "
        + "no key to match them by.")
  }

  /// Whether an earlier import was of a file with other columns.
  func hadOtherColumns(_ header: [String], _ database: Database) throws -> Bool {
    try entries(database).contains { $0.columns != Self.joined(header) }
  }

  /// Adds an entry for an import that begins.
  ///
  /// - Returns: The identifier of the entry.
  func begin(
    size: Int?, columns: [String], inferredColumns: [String], beganEmpty: Bool, offset: Int, lastRow: Int,
    lastRowHash: Int64? = nil, startRow: Int = 0, rowsBefore: Int = 0, _ database: Database
  ) throws -> Int64 {
    let earlier = Set(try Self.inferredColumns(of: target, database))
    let found = String(decoding: try JSONEncoder().encode(earlier.union(inferredColumns).sorted()), as: UTF8.self)
    try database.execute(
      sql: """
        INSERT INTO \(Self.table)
          ("table", source, size, columns, began_empty, row_offset, last_row, last_row_hash, run, found_columns,
          start_row, rows_before, stored_rows, records, owner, made_as)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?,
          (SELECT made_as FROM \(Self.table) WHERE "table" = ? ORDER BY id DESC LIMIT 1))
        """,
      arguments: [
        target, source, size, Self.joined(columns), beganEmpty, offset, lastRow, lastRowHash, run, found,
        startRow, rowsBefore, owner, target,
      ])
    return database.lastInsertedRowID
  }

  /// Column names in the form that the history stores.
  static func joined(_ columns: [String]) -> String { columns.joined(separator: ",") }

  /// The progress of an import.
  struct Advance {
    /// The number of the last processed record, and the fingerprint of the rows up to there.
    let records: Int
    let recordsHash: Int64
    /// The number of the last row that was written, and the fingerprint of its values.
    let lastRow: Int
    let lastRowHash: Int64?
    /// The number of rows in the table from the first row of the import on, as in ``UnfinishedAppend``.
    let storedRows: Int
    /// The number of rows that the table has rejected since the last advance.
    let refused: Int
    /// Whether others have added rows in between.
    let isMixed: Bool
  }

  /// Stores the progress of an import, in the transaction that writes the rows.
  ///
  /// - Throws: ``ImportError`` with the code `otherWriter`, if another import has taken over this one.
  func note(_ advance: Advance, of identifier: Int64, _ database: Database) throws {
    try database.cachedStatement(
      sql: """
        UPDATE \(Self.table) SET records = ?, records_hash = ?, last_row_hash = iif(last_row > ?, last_row_hash, ?),
          last_row = max(last_row, ?), stored_rows = ?, refused = refused + ?, row_offset = iif(?, -1, row_offset)
        WHERE id = ? AND owner IS ?
        """
    ).execute(arguments: [
      advance.records, advance.recordsHash, advance.lastRow, advance.lastRowHash, advance.lastRow, advance.storedRows,
      advance.refused, advance.isMixed, identifier, owner,
    ])
    guard database.changesCount == 1 else {
      throw ImportError(
        .otherWriter, path: file,
        context: "Another import of this file into the table \(target) has begun, and completes this one.")
    }
  }

  /// Removes the entry of an import that has changed nothing.
  static func forget(_ identifier: Int64, _ database: Database) throws {
    try database.execute(sql: "DELETE FROM \(table) WHERE id = ?", arguments: [identifier])
  }

  /// Stores the outcome of an import.
  func end(_ identifier: Int64, _ outcome: Outcome, rows: Int, _ database: Database) throws {
    try database.execute(
      sql: "UPDATE \(Self.table) SET ended = CURRENT_TIMESTAMP, outcome = ?, rows = ? WHERE id = ? AND owner IS ?",
      arguments: [outcome.rawValue, rows, identifier, owner])
  }
}

extension Int {
  /// The number of rows, as text for people.
  var rows: String { "\(self) row\(self == 1 ? "" : "s")" }
  /// The beginning of a message that none of this number of rows was imported.
  var noneOfRows: String { self == 1 ? "The only row could not" : "None of the \(self) rows could" }
}

extension Database {
  func hasRows(in table: String) throws -> Bool {
    try Row.fetchOne(self, sql: "SELECT 1 FROM \(SQL.name(table)) LIMIT 1") != nil
  }

  /// The number of rows in a table.
  func rowCount(of table: String) throws -> Int {
    try Int.fetchOne(self, sql: "SELECT count(*) FROM \(SQL.name(table))") ?? 0
  }

  /// The number of rows in a table with numbers after `start`, up to `end`.
  func rowCount(of table: String, _ rowIdentifier: String, behind start: Int, upTo end: Int) throws -> Int {
    try Int.fetchOne(
      self, sql: "SELECT count(*) FROM \(SQL.name(table)) WHERE \(rowIdentifier) > ? AND \(rowIdentifier) <= ?",
      arguments: [start, end]) ?? 0
  }

  /// The number of the last row in a table; 0 if the table is empty.
  func lastRow(of table: String, _ rowIdentifier: String) throws -> Int {
    try Int.fetchOne(self, sql: "SELECT max(\(rowIdentifier)) FROM \(SQL.name(table))") ?? 0
  }
}
#endif
