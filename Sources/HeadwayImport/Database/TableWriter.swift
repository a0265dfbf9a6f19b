#if SQLite
import Foundation
import GRDB
import GRDBSQLite
import Headway

/// Writes batches into one table with prepared statements.
///
/// Values are bound directly from the batch's bytes, through SQLite's own interface. GRDB's interface requires a value
/// object per field, which costs more than SQLite's insertion.
///
/// A table with triggers is written row by row, each row in a savepoint. The reason is that a trigger can interrupt a
/// statement (`RAISE(FAIL)`), end the transaction (`RAISE(ROLLBACK)`), ignore the row, or add rows to the same table.
final class TableWriter: @unchecked Sendable {  // Used only inside accesses to the one writing connection.
  let plan: TablePlan
  var statements: Statements?
  let places: RowPlaces
  /// The statements for rows that lack columns; nil if all rows have all columns of the table that matter.
  var partialStatements: PartialStatements?
  private let stored: StoredRows?
  var state: State
  /// The value of ``state`` when the transaction began.
  private var stateBefore: State
  /// The keys that the transaction has written.
  var newKeys: Set<UInt64> = []

  /// The state that changes with each row and is restored if the transaction is rolled back.
  struct State {
    /// The number of the last row in the table, existing before or written by this writer.
    var lastRow: Int
    /// The number of the last row that this writer has written.
    var lastWritten: Int?
    /// Whether other rows are between the file's rows, so that SQLite numbers the rows.
    var isMixed: Bool
    var hasWritten = false
    /// The places of records that are not rows, until the first row is written.
    var emptyPlaces = IndexSet()
    var removed = 0
    /// The number of the last processed record, and the fingerprint of the rows up to there.
    var records = 0
    var fingerprint = Fingerprint()
    var refused = 0
    /// The number of rows in the table from the first row of this import on, as in ``UnfinishedAppend``.
    var storedRows: Int
    /// Whether the existing rows of an append that is completed were found to be the rows of the file.
    var isVerified: Bool
  }

  /// Whether the table is queried for the stored key of each row.
  ///
  /// This is true if rows are updated, and one of two conditions applies. The table considers keys equal that differ in
  /// the file, or it might reject a row, so that a later row with the same key can be valid.
  let asksForKeys: Bool

  /// The keys of rows that were written, if the table is queried for them.
  private(set) var writtenKeys: KeySet
  /// Whether a row was rejected because of its key.
  private(set) var hasDuplicates = false

  /// The largest number of rows that one statement inserts, if the table has few columns.
  ///
  /// These rows share SQLite's cost of starting a statement.
  ///
  /// More than a few dozen rows bring no benefit.
  private static let mostRowsAtOnce = 32

  /// Prepares the statements.
  ///
  /// - Parameters:
  ///   - plan: The plan of the table.
  ///   - places: The places for its rows.
  ///   - header: The file's column names as the history stores them.
  ///   - writtenKeys: The keys of rows that earlier files have written.
  ///   - database: The connection that writes.
  /// - Throws: GRDB's `DatabaseError`.
  init(
    _ plan: TablePlan, _ places: RowPlaces, header: String, writtenKeys: KeySet, _ database: Database
  ) throws {
    (self.plan, self.places, self.writtenKeys) = (plan, places, writtenKeys)
    let unfinished = places.unfinished
    state = State(
      lastRow: places.lastRowBefore, isMixed: places.offset == nil,
      storedRows: plan.hasKey ? 0 : unfinished?.storedRows ?? 0, isVerified: unfinished == nil)
    stateBefore = state
    stored = places.notesAdvance ? try StoredRows(of: plan.table, header: header, database) : nil
    let valuesPerRow = plan.columns.count + (plan.hasKey ? 0 : 1)
    // SQLite reads several rows as the results of a query, which can't have more results than a table has columns.
    let mayBeSeveral = valuesPerRow <= TablePlan.mostColumns
    let mostRows =
      mayBeSeveral ? max(1, min(Self.mostRowsAtOnce, database.maximumStatementArgumentCount / valuesPerRow)) : 1
    let last = "SELECT max(\(plan.rowIdentifier)) FROM \(SQL.name(plan.table))"
    let delete = "DELETE FROM \(SQL.name(plan.table)) WHERE \(plan.rowIdentifier) = ?"
    let updates = places.updates
    if updates, plan.hasKey, let table = try ExistingTable(named: plan.table, database) {
      asksForKeys =
        try places.enforcesReferences || table.comparesKeysOtherwise(than: plan)
        || table.mayRefuseRows(of: plan, database)
    } else {
      asksForKeys = false
    }
    let existing = try ExistingTable(named: plan.table, isTemporary: places.isTemporary, database)
    let updatesByKey = updates && plan.hasKey
    // Columns whose members a line lacks keep their values, or get the column's default value.
    if !plan.existingColumns.isEmpty,
      plan.isJSONLines || (updatesByKey && existing?.requiresColumns(besides: plan) == true)
    {
      partialStatements = PartialStatements(
        existing: updatesByKey ? try database.makeStatement(sql: SQL.storedKey(plan)) : nil)
    }
    let hasTriggers = try !places.isTemporary && ExistingTable.hasTriggers(plan.table, database)
    let presence = plan.hasKey ? SQL.storedKey(plan) : SQL.presence(plan)
    let count =
      "SELECT count(*) FROM \(SQL.name(plan.table)) WHERE \(plan.rowIdentifier) > ? AND \(plan.rowIdentifier) <= ?"
    statements = Statements(
      insert: try sequence(first: 1, next: { $0 * 2 <= mostRows ? $0 * 2 : nil }).map { rows in
        try database.makeStatement(sql: SQL.insert(plan, rows: rows, updates: updates))
      },
      delete: updates && !plan.hasKey ? try database.makeStatement(sql: delete) : nil,
      last: plan.hasKey || places.isTemporary ? nil : try database.makeStatement(sql: last),
      storedKey: asksForKeys ? try database.makeStatement(sql: SQL.storedKey(plan)) : nil,
      presence: hasTriggers ? try database.makeStatement(sql: presence) : nil,
      key: unfinished != nil && plan.hasKey ? try database.makeStatement(sql: SQL.storedKey(plan)) : nil,
      count: plan.hasKey || places.isTemporary ? nil : try database.makeStatement(sql: count),
      savepoint: hasTriggers || places.enforcesReferences ? try Savepoint(database) : nil,
      origin: try places.originTable.map {
        try database.makeStatement(sql: "INSERT INTO temp.\(SQL.name($0)) VALUES (?, ?, ?, ?)")
      })
  }

  /// Releases the statements.
  ///
  /// Like all other methods, this must be called inside an access to the writing connection.
  func close() { (statements, partialStatements) = (nil, nil) }

  /// Whether ``close()`` was called.
  var isClosed: Bool { statements == nil }

  /// The number of rows that were removed because their records are no longer rows.
  var removed: Int { state.removed }

  // MARK: Transactions

  /// Called when a transaction begins.
  func begin() { (stateBefore, newKeys) = (state, []) }

  /// Called when the transaction is committed.
  func commit() {
    for key in newKeys { _ = writtenKeys.insert(key) }
    newKeys = []
  }

  /// Called when the transaction is rolled back.
  func rollback() { (state, newKeys) = (stateBefore, []) }

  /// The progress of the import, for the transaction that writes the rows; nil if it is not recorded or has not
  /// changed.
  func advance(_ database: Database) throws -> ImportHistory.Advance? {
    guard places.notesAdvance, state.records > stateBefore.records || state.isMixed != stateBefore.isMixed,
      state.records > places.unfinished?.records ?? 0
    else { return nil }
    let row = state.lastWritten
    // Other rows after the last one might be removed later, so they don't count.
    let end = row ?? places.unfinished?.lastRow ?? places.lastRowBefore
    let others = state.lastRow > end ? try newRows(behind: end, upTo: state.lastRow, statements?.count) : 0
    return ImportHistory.Advance(
      records: state.records, recordsHash: state.fingerprint.value, lastRow: row ?? 0,
      lastRowHash: try row.flatMap { try stored?.hash(ofRow: $0, database) },
      storedRows: state.storedRows - others, refused: state.refused - stateBefore.refused, isMixed: state.isMixed)
  }

  // MARK: Rows

  /// Writes all rows of a batch, inside the caller's transaction.
  ///
  /// - Parameters:
  ///   - batch: The rows to write, in file order.
  ///   - known: Rows that are known to be rejected, by their position, with the reasons.
  ///   - stopsAtRefused: Whether to write no rows after the first rejected one, except ignored rows.
  ///   - mayGoOn: Called every few rows. Returns whether to continue.
  ///   - database: The connection that writes.
  /// - Returns: The rows that a constraint of the table rejects; nil if `mayGoOn` returned false.
  /// - Throws: GRDB's `DatabaseError`, ``OtherRows``, ``TransactionEnded``, ``AppendConflict``, or ``ImportError`` with
  ///   the code `unsuitableTable`.
  func write(
    _ batch: RowBatch, refusing known: [Int: String], stopsAtRefused: Bool, while mayGoOn: () -> Bool,
    _ database: Database
  ) throws -> [RefusedRow]? {
    guard let statements else { misuse("A batch was written after the statements of its table had been closed.") }
    try noticeOtherRows(batch, statements)
    if let delete = statements.delete {
      for recordNumber in batch.rejectedRecordNumbers { try empty(number(ofRecord: recordNumber), delete, database) }
    }
    var refused: [RefusedRow] = []
    var row = try skipPresentRows(batch, statements)
    var end = batch.count
    while row < batch.count {
      guard mayGoOn() else { return nil }
      // Writes as many rows as one of the statements inserts.
      let isSingle =
        partialStatements != nil || statements.storedKey != nil || statements.savepoint != nil
        || statements.origin != nil
      let most = isSingle ? 1 : statements.insert.count
      let power = min(most, Int.bitWidth - (batch.count - row).leadingZeroBitCount) - 1
      let count = 1 << power
      if count > 1, try insert(batch, from: row, count: count, statements.insert[power]) == nil {
        try noteWritten(batch, row + count - 1, count: count, statements, database)
        row += count
        continue
      }
      // Writes rows one by one: the last row, or the rows of a statement that failed as a whole because of one of them.
      for single in row..<row + count {
        guard let reason = try known[single] ?? insertSingle(batch, single, statements, database) else {
          try noteWritten(batch, single, count: 1, statements, database)
          continue
        }
        // A row that an earlier import has put in this place is a different one.
        if let delete = statements.delete {
          try empty(number(ofRecord: batch.origins[single].recordNumber), delete, database)
        }
        if reason == plan.duplicateReason {
          try requireOwnRows(database)
          state.storedRows += 1
          hasDuplicates = true
        }
        refused.append(RefusedRow(position: single, reason: reason))
        if stopsAtRefused, !plan.isIgnored(reason) { break }
      }
      if stopsAtRefused, let first = refused.last, !plan.isIgnored(first.reason) {
        end = first.position
        break
      }
      row += count
    }
    noteRecords(batch, upTo: end, refused: stopsAtRefused ? 0 : refused.count)
    return refused
  }
}
#endif
