#if SQLite
import GRDB
import GRDBSQLite

/// An import that added rows behind others and ended early: the next one of the same file completes it.
struct UnfinishedAppend: Sendable {
  /// By what it is noted.
  let identifier: Int64
  /// The number of the last record that it has dealt with: its row is in the table, or was refused there.
  let records: Int
  /// The fingerprint of the records up to there that were rows; nil if an earlier version has noted them.
  let recordsHash: Int64?
  /// How many of these rows the table has refused.
  let refused: Int
  /// The difference between the number of a row and that of its record; nil if rows of others are between them.
  let offset: Int?
  /// In a table without a key, the rows from the first one on have numbers greater than this.
  let start: Int
  /// The number of the last row that it has written.
  let lastRow: Int
  /// How many rows the table has from the first one on, those of others among them.
  ///
  /// In a table with a key, how many rows of the file have keys that the table has.
  let storedRows: Int
}

/// Why an append can't be completed.
enum AppendConflict: Error {
  /// The first records of the file are others than those that it has added.
  case changedFile
  /// Rows that the table had when it ended are gone.
  case missingRows
}

extension ImportHistory {
  /// The last append of this file, if it ended early and its rows exist.
  ///
  /// A pipe might have other content now. The fingerprint of the first records decides, as it does for a file, which
  /// might have changed.
  ///
  /// - Throws: ``ImportError`` with the code `unfinishedAppend`, if it can't be known which rows are missing.
  func unfinishedAppend(_ plan: TablePlan, _ database: Database) throws -> UnfinishedAppend? {
    let entries = try entries(sinceEmpty: false, database)
    guard let last = entries.last(where: { finished == nil ? $0.source == source : $0.identifier == finished }),
      finished != nil || last.outcome != Outcome.finished.rawValue
    else { return nil }
    let tableEnd = plan.hasKey ? last.lastRow : try database.lastRow(of: target, plan.rowIdentifier)
    let isLast = tableEnd == last.lastRow
    guard let records = last.records else {
      // An earlier version: it noted the numbers of rows alone.
      guard isRegular, !plan.hasKey, last.lastRow > last.offset else { return nil }
      guard entries.last?.source == source, isLast else {
        throw cannotComplete("rows have been added to the table since")
      }
      return UnfinishedAppend(
        identifier: last.identifier, records: last.lastRow - last.offset, recordsHash: nil, refused: 0,
        offset: last.offset, start: last.offset, lastRow: last.lastRow,
        storedRows: try database.rowCount(
          of: target, plan.rowIdentifier, behind: last.offset, upTo: last.lastRow))
    }
    guard records > 0 else { return nil }
    // It has replaced rows one by one, and the remaining ones are old.
    if !plan.hasKey, last.offset == 0, !last.beganEmpty {
      throw cannotComplete("it was an update, so repeat the same import")
    }
    guard !plan.hasKey else {
      // Whether its rows exist is known by their keys.
      return UnfinishedAppend(
        identifier: last.identifier, records: records, recordsHash: last.recordsHash, refused: last.refused,
        offset: 0, start: 0, lastRow: last.lastRow, storedRows: last.storedRows ?? 0)
    }
    guard let (start, lastRow) = try place(of: last, plan, database) else { throw missingRows }
    return UnfinishedAppend(
      identifier: last.identifier, records: records, recordsHash: last.recordsHash, refused: last.refused,
      offset: isLast && lastRow == last.lastRow && last.offset >= 0 ? last.offset : nil, start: start,
      lastRow: lastRow,
      storedRows: try database.rowCount(of: target, plan.rowIdentifier, behind: start, upTo: tableEnd))
  }

  /// Where the rows of an append are, in a table without a key: where it has put them or, after VACUUM, without the
  /// gaps between their numbers.
  ///
  /// Rows that others have added between them are counted like its own, because they can't be told apart. Rows that
  /// others add later come behind the last one.
  ///
  /// - Returns: The number behind which they begin, and that of the last one; nil if some of them are gone.
  private func place(of entry: Entry, _ plan: TablePlan, _ database: Database) throws -> (start: Int, lastRow: Int)? {
    let start = entry.startRow ?? max(0, entry.offset)
    guard let hash = entry.lastRowHash else { return (start, entry.lastRow) }
    guard let stored = try StoredRows(of: target, header: entry.columns, database) else { return nil }
    guard let count = entry.storedRows, let rowsBefore = entry.rowsBefore else {
      return try stored.hash(ofRow: entry.lastRow, database) == hash ? (start, entry.lastRow) : nil
    }
    let places = [(start: start, lastRow: entry.lastRow), (start: rowsBefore, lastRow: rowsBefore + count)]
    return try places.first { place in
      try stored.hash(ofRow: place.lastRow, database) == hash
        && database.rowCount(of: target, plan.rowIdentifier, behind: place.start, upTo: place.lastRow) == count
    }
  }

  /// The error of an append whose rows are gone.
  var missingRows: ImportError { cannotComplete("rows that it added are no longer in the table") }

  /// That an append can't be completed.
  func cannotComplete(_ reason: String) -> ImportError {
    ImportError(
      .unfinishedAppend, path: file,
      message: finished == nil
        ? "An earlier import of this file into the table \(target) ended early, and the missing rows can't be "
          + "determined: \(reason)."
        : "An earlier import of several files ended early. It added this one to the table \(target), but \(reason).")
  }

  /// Takes over an append that ended early.
  ///
  /// If its process still runs, that can no longer add rows.
  func takeOver(_ append: UnfinishedAppend, _ database: Database) throws {
    try database.execute(
      sql: """
        UPDATE \(Self.table) SET outcome = 'running', ended = NULL, owner = ?, run = ?, start_row = ?, last_row = ?
        WHERE id = ?
        """, arguments: [owner, run, append.start, append.lastRow, append.identifier])
  }
}

/// The values of the columns that a file has, of a row in a table.
struct StoredRows {
  private let table: String
  private let columns: [String]
  /// Nil in a table without row numbers.
  private let rowIdentifier: String?

  /// - Parameters:
  ///   - table: The table.
  ///   - header: The names of the file's columns as the history has them, separated by commas. A name with a comma
  ///     counts as none, here as everywhere.
  ///   - database: Any connection.
  /// - Throws: GRDB's `DatabaseError`.
  init?(of table: String, header: String, _ database: Database) throws {
    guard let existing = try ExistingTable(named: table, database) else { return nil }
    let names = Set(header.split(separator: ",").map { String($0).lowercasedAsName })
    self.table = existing.name
    columns = existing.storedColumnNames.filter { names.contains($0.lowercasedAsName) }
    rowIdentifier =
      existing.isWithoutRowIdentifier ? nil : SQL.rowIdentifier(besideColumns: existing.columnNames)
  }

  private var selection: String {
    "SELECT \(columns.isEmpty ? "NULL" : SQL.names(columns)) FROM \(SQL.name(table))"
  }

  /// The fingerprint of a row's values as text, which stays the same when a column gets a wider type; nil if there is
  /// no such row.
  func hash(ofRow number: Int, _ database: Database) throws -> Int64? {
    guard let rowIdentifier else { return nil }
    let statement = try database.cachedStatement(sql: "\(selection) WHERE \(rowIdentifier) = ?")
    let rows = try Row.fetchCursor(statement, arguments: [number])
    return try rows.next() == nil ? nil : hash(statement)
  }

  private func hash(_ statement: Statement) -> Int64 {
    var fingerprint = Fingerprint()
    let handle = statement.sqliteStatement
    for column in 0..<Int32(statement.columnCount) {
      guard let text = sqlite3_column_text(handle, column) else {
        fingerprint.combineNone()
        continue
      }
      fingerprint.combine(UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column))))
    }
    return fingerprint.value
  }
}
#endif
