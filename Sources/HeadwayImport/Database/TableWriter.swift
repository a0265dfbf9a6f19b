#if SQLite
import Foundation
import GRDB
import GRDBSQLite

/// Writes batches into one table with prepared statements.
///
/// Values are bound straight from the batch's bytes, through SQLite's own interface: a value object a field, as
/// GRDB's interface takes, costs more than SQLite's insertion itself.
///
/// A table with triggers is written row by row, each in a savepoint, because a trigger may end a statement half way
/// (`RAISE(FAIL)`), end the transaction (`RAISE(ROLLBACK)`), ignore the row, or add rows to the same table.
final class TableWriter: @unchecked Sendable {  // Used only inside accesses to the one writing connection.
  let plan: TablePlan
  var statements: Statements?
  let places: RowPlaces
  private let stored: StoredRows?
  var state: State
  /// What ``state`` was when the transaction began.
  private var stateBefore: State
  /// The keys that the transaction has written.
  var newKeys: Set<UInt64> = []

  /// What changes with each row, and is taken back with the transaction.
  struct State {
    /// The number of the last row that was there or that this has written.
    var lastRow: Int
    /// The number of the last row that this has written.
    var lastWritten: Int?
    /// Rows of others are between those of the file, so SQLite numbers the rows.
    var isMixed: Bool
    var hasWritten = false
    /// While no row is written: the places of records that are no rows.
    var emptyPlaces = IndexSet()
    var removed = 0
    /// The number of the last record that was dealt with, and the fingerprint of the rows up to there.
    var records = 0
    var fingerprint = Fingerprint()
    var refused = 0
    /// How many rows the table has from the first one of this import on: see ``UnfinishedAppend``.
    var storedRows: Int
    /// Whether the rows of an append that is completed are known to be those of the file.
    var isVerified: Bool
  }

  /// Where rows are updated, the table is asked which row has a key: it takes other keys for the same than the file,
  /// or refuses rows, behind which one with the same key may be right.
  let asksForKeys: Bool

  /// The keys of rows that were written, where the table is asked for them.
  private(set) var writtenKeys: KeySet
  /// Whether a row was refused because of its key.
  private(set) var hasDuplicates = false

  /// How many rows one statement inserts at most, where the table has few columns: SQLite's cost for starting a
  /// statement is paid once for them.
  ///
  /// More than some dozens brings nothing.
  private static let mostRowsAtOnce = 32

  /// Prepares the statements.
  ///
  /// - Parameters:
  ///   - plan: The table.
  ///   - places: Where its rows go.
  ///   - header: The names of the file's columns, as the history has them.
  ///   - writtenKeys: The keys of rows that earlier files have written.
  ///   - database: The writing connection.
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
    let mostRows = max(1, min(Self.mostRowsAtOnce, database.maximumStatementArgumentCount / valuesPerRow))
    let last = "SELECT max(\(plan.rowIdentifier)) FROM \(SQL.name(plan.table))"
    let delete = "DELETE FROM \(SQL.name(plan.table)) WHERE \(plan.rowIdentifier) = ?"
    let updates = places.updates
    if updates, plan.hasKey, let table = try ExistingTable(named: plan.table, database) {
      asksForKeys = try table.comparesKeysOtherwise(than: plan) || table.mayRefuseRows(of: plan, database)
    } else {
      asksForKeys = false
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
      savepoint: hasTriggers ? try Savepoint(database) : nil,
      origin: try places.originTable.map {
        try database.makeStatement(sql: "INSERT INTO temp.\(SQL.name($0)) VALUES (?, ?, ?, ?)")
      })
  }

  /// Lets go of the statements, inside an access to the writing connection like everything else.
  func close() { statements = nil }

  /// Whether ``close()`` was called.
  var isClosed: Bool { statements == nil }

  /// How many rows have been removed whose records are no rows any more.
  var removed: Int { state.removed }

  // MARK: Transactions

  /// Called when a transaction begins.
  func begin() { (stateBefore, newKeys) = (state, []) }

  /// Called when the transaction is committed.
  func commit() {
    for key in newKeys { _ = writtenKeys.insert(key) }
    newKeys = []
  }

  /// Called when the transaction is taken back.
  func rollback() { (state, newKeys) = (stateBefore, []) }

  /// How far the import has come, in the transaction that writes the rows; nil if that is not noted.
  func advance(_ database: Database) throws -> ImportHistory.Advance? {
    guard places.notesAdvance, state.records > stateBefore.records || state.isMixed != stateBefore.isMixed,
      state.records > places.unfinished?.records ?? 0
    else { return nil }
    let row = state.lastWritten
    // Those of others behind the last row may go.
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
  ///   - batch: The rows.
  ///   - known: By their positions, rows that are known to be refused, with the reasons.
  ///   - stopsAtRefused: Whether the rows behind the first that is not written are not written either.
  ///   - mayGoOn: Asked every few rows.
  ///   - database: The writing connection.
  /// - Returns: The rows that a constraint of the table does not let in; nil if it was stopped.
  /// - Throws: GRDB's `DatabaseError`, ``OtherRows``, ``TransactionEnded``, ``AppendConflict``, or ``ImportError`` with
  ///   the code `unsuitableTable`.
  func write(
    _ batch: RowBatch, refusing known: [Int: String], stopsAtRefused: Bool, while mayGoOn: () -> Bool,
    _ database: Database
  ) throws -> [RefusedRow]? {
    guard let statements else { preconditionFailure("A batch is written after the statements were closed") }
    try noticeOtherRows(batch, statements)
    if let delete = statements.delete {
      for ordinal in batch.rejectedOrdinals { try empty(number(ofRecord: ordinal), delete, database) }
    }
    var refused: [RefusedRow] = []
    var row = try skipPresentRows(batch, statements)
    var end = batch.count
    while row < batch.count {
      guard mayGoOn() else { return nil }
      // As many as there is a statement for.
      let isSingle = statements.storedKey != nil || statements.savepoint != nil || statements.origin != nil
      let most = isSingle ? 1 : statements.insert.count
      let power = min(most, Int.bitWidth - (batch.count - row).leadingZeroBitCount) - 1
      let count = 1 << power
      if count > 1, try insert(batch, from: row, count: count, statements.insert[power]) == nil {
        try noteWritten(batch, row + count - 1, count: count, statements, database)
        row += count
        continue
      }
      // The last one, or a statement that failed as a whole because of one row: one by one.
      for single in row..<row + count {
        guard let reason = try known[single] ?? insertSingle(batch, single, statements, database) else {
          try noteWritten(batch, single, count: 1, statements, database)
          continue
        }
        // What an earlier import has put there is not this row.
        if let delete = statements.delete {
          try empty(number(ofRecord: batch.origins[single].ordinal), delete, database)
        }
        if reason == plan.duplicateReason {
          try requireOwnRows(database)
          state.storedRows += 1
          hasDuplicates = true
        }
        refused.append(RefusedRow(position: single, reason: reason))
        if stopsAtRefused { break }
      }
      if stopsAtRefused, let first = refused.first {
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
