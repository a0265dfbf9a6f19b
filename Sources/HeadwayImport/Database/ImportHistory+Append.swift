#if SQLite
import GRDB
import GRDBSQLite

/// An import that added rows after existing ones and ended early.
///
/// The next import of the same file completes it.
struct UnfinishedAppend: Sendable {
  /// The identifier of the history entry.
  let identifier: Int64
  /// The number of the last processed record.
  ///
  /// Its row is in the table, or was rejected there.
  let records: Int
  /// The fingerprint of the records that were rows, up to the last record; nil for an entry of an earlier version.
  let recordsHash: Int64?
  /// The number of these rows that the table has rejected.
  let refused: Int
  /// The difference between the number of a row and the number of its record; nil if other rows are between the rows of
  /// the import.
  let offset: Int?
  /// In a table without a key, all rows of the import have numbers greater than this.
  let start: Int
  /// The number of the last row that was written.
  let lastRow: Int
  /// The number of rows in the table from the first row of the import on, including other rows.
  ///
  /// In a table with a key, the number of rows from the file whose keys the table has.
  let storedRows: Int
}

/// The reason that an append can't be completed.
enum AppendConflict: Error {
  /// The first records of the file differ from those that were added.
  case changedFile
  /// Rows that were in the table when the append ended no longer exist.
  case missingRows
}

extension ImportHistory {
  /// The last append of this file, if it ended early and its rows exist.
  ///
  /// A pipe might have other content now. The fingerprint of the first records decides, as it does for a file, which
  /// might also have changed.
  ///
  /// - Throws: ``ImportError`` with the code `unfinishedAppend`, if the missing rows can't be determined.
  func unfinishedAppend(_ plan: TablePlan, _ database: Database) throws -> UnfinishedAppend? {
    let entries = try entries(sinceEmpty: false, database)
    guard let last = entries.last(where: { finished == nil ? $0.source == source : $0.identifier == finished }),
      finished != nil || last.outcome != Outcome.finished.rawValue
    else { return nil }
    let tableEnd = plan.hasKey ? last.lastRow : try database.lastRow(of: target, plan.rowIdentifier)
    let isLast = tableEnd == last.lastRow
    guard let records = last.records else {
      // An earlier version has written this entry, with row numbers only.
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
    // That import updated rows one by one, and the remaining rows are old ones.
    if !plan.hasKey, last.offset == 0, !last.beganEmpty {
      throw cannotComplete("it was an update, so repeat the same import")
    }
    guard !plan.hasKey else {
      // The keys show whether the rows exist.
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

  /// The place of an append's rows, in a table without a key: their original place or, after VACUUM, the place without
  /// the gaps between their numbers.
  ///
  /// Rows that other programs have added between these rows count as rows of the append, because they can't be
  /// distinguished. Rows that other programs add later follow the last row.
  ///
  /// - Returns: The number before the first row, and the number of the last row; nil if some of the rows no longer
  ///   exist.
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

  /// The error for an append whose rows no longer exist.
  var missingRows: ImportError { cannotComplete("rows that it added are no longer in the table") }

  /// The error for an append that can't be completed.
  func cannotComplete(_ reason: String) -> ImportError {
    ImportError(
      .unfinishedAppend, path: file,
      context: finished == nil
        ? "An earlier import of this file into the table \(target) ended early, and the missing rows can't be "
          + "determined: \(reason)."
        : "An earlier import of several files ended early. It added this one to the table \(target), but \(reason).")
  }

  /// Takes over an append that ended early.
  ///
  /// If its process still runs, it can no longer add rows.
  func takeOver(_ append: UnfinishedAppend, _ database: Database) throws {
    try database.execute(
      sql: """
        UPDATE \(Self.table) SET outcome = 'running', ended = NULL, owner = ?, run = ?, start_row = ?, last_row = ?
        WHERE id = ?
        """, arguments: [owner, run, append.start, append.lastRow, append.identifier])
  }
}

/// The values of a stored row, in the columns that a file has.
struct StoredRows {
  private let table: String
  private let columns: [String]
  /// Nil in a table without row numbers.
  private let rowIdentifier: String?

  /// - Parameters:
  ///   - table: The table's name.
  ///   - header: The file's column names as the history stores them, separated by commas. A name that contains a comma
  ///     is ignored, here as everywhere.
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

  /// The fingerprint of a row's values as text, which stays the same when a column gets a wider type; nil if the row
  /// does not exist.
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
