#if SQLite
import Foundation
import GRDB
import GRDBSQLite

/// Somebody else has added rows while an import was adding its own.
struct OtherRows: Error {}

/// A row of a batch that a constraint of the table does not let in.
struct RefusedRow {
  let position: Int
  /// Why, for a person.
  let reason: String
}

/// A trigger has ended the transaction because of a row (`RAISE(ROLLBACK)`): all rows of the transaction are gone.
struct TransactionEnded: Error {
  let row: RefusedRow
}

extension Database {
  /// A number that changes when another connection commits.
  func dataVersion() throws -> Int { try Int.fetchOne(self, sql: "PRAGMA data_version") ?? 0 }
}

/// Where the rows of an import go.
struct RowPlaces: Sendable {
  /// Whether rows of this import may be there already: then they are updated.
  var updates = false
  /// Whether the rows are added behind those of others, who may add more meanwhile.
  var appends = false
  /// In a table without a key, what is added to the number of a record; nil if SQLite numbers the rows.
  var offset: Int? = 0
  /// The number of the last row that was there, in a table without a key.
  var lastRowBefore = 0
  /// The append that is completed.
  var unfinished: UnfinishedAppend?
  /// What SQLite's data version was when the table was found empty, where it matters who has written its rows.
  var emptyAtDataVersion: Int?
  /// The table is a temporary one.
  var isTemporary = false
  /// The temporary table that keeps the file, the line and the record of each row, because triggers may refuse rows
  /// when they replace others.
  var originTable: String?
  /// How many files have rows there before.
  var fileNumber = 0
  /// Whether it is noted how far the import has come.
  var notesAdvance = false
}

/// Writes batches into one table with prepared statements.
///
/// Values are bound straight from the batch's bytes, through SQLite's own interface: a value object a field, as
/// GRDB's interface takes, costs more than SQLite's insertion itself.
///
/// A table with triggers is written row by row, each in a savepoint, because a trigger may end a statement half way
/// (`RAISE(FAIL)`), end the transaction (`RAISE(ROLLBACK)`), ignore the row, or add rows to the same table.
final class TableWriter: @unchecked Sendable {  // Used only inside accesses to the one writing connection.
  private let plan: TablePlan
  private var statements: Statements?
  private let places: RowPlaces
  private let stored: StoredRows?
  private var state: State
  /// What ``state`` was when the transaction began.
  private var stateBefore: State
  /// The keys that the transaction has written.
  private var newKeys: Set<UInt64> = []

  /// What changes with each row, and is taken back with the transaction.
  private struct State {
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

  private struct Statements {
    /// The one at position *n* inserts 2 to the power of *n* rows.
    let insert: [Statement]
    /// Only where rows may be there whose records are no rows any more.
    let delete: Statement?
    /// Asks for the number of the last row, in a table without a key.
    let last: Statement?
    /// Asks for the key of a row, where ``asksForKeys``.
    let storedKey: Statement?
    /// Asks whether a row is there, where a trigger of the table may ignore rows.
    let presence: Statement?
    /// Asks whether the table has the key of a row, where an append is completed.
    let key: Statement?
    /// Counts the rows with numbers behind one, up to another, in a table without a key.
    let count: Statement?
    /// Where the table has triggers.
    let savepoint: Savepoint?
    /// Notes the origin of a row, where the rows that replace others may be refused.
    let origin: Statement?
  }

  private struct Savepoint {
    let begin: Statement
    let rollback: Statement
    let release: Statement

    init(_ database: Database) throws {
      begin = try database.makeStatement(sql: "SAVEPOINT headway_row")
      rollback = try database.makeStatement(sql: "ROLLBACK TO headway_row")
      release = try database.makeStatement(sql: "RELEASE headway_row")
    }
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

  /// The number of the row of a record, in a table without a key.
  private func number(ofRecord ordinal: Int) -> Int { (places.offset ?? 0) + ordinal }

  /// Notes that some rows were written, of which this is the last, and what they brought with them.
  private func noteWritten(
    _ batch: RowBatch, _ row: Int, count: Int, _ statements: Statements, _ database: Database
  ) throws {
    state.lastWritten =
      places.updates ? number(ofRecord: batch.origins[row].ordinal) : Int(database.lastInsertedRowID)
    if !state.hasWritten {
      state.hasWritten = true
      if let delete = statements.delete { for place in state.emptyPlaces { try remove(place, delete, database) } }
      state.emptyPlaces = IndexSet()
    }
    if let origin = statements.origin {
      let record = batch.recordBytes(of: row)
      try origin.execute(arguments: [state.lastWritten, places.fileNumber, batch.origins[row].line, Data(record)])
    }
    guard !plan.hasKey, let written = state.lastWritten else { return state.storedRows += count }
    let lastRow = state.lastRow
    state.lastRow = max(lastRow, written)
    guard statements.savepoint != nil, let last = statements.last else { return state.storedRows += count }
    // A trigger may have added rows before it and behind it.
    let found = try Int.fetchOne(last) ?? 0
    state.storedRows += try newRows(behind: lastRow, upTo: max(found, state.lastRow), statements.count)
    guard found > state.lastRow else { return }
    guard !places.updates else {
      throw ImportError(
        .unsuitableTable, path: plan.table,
        message: "A trigger adds rows to the table, so rows can't be matched by row number. Replace the rows, or use a "
          + "key.")
    }
    (state.lastRow, state.isMixed) = (found, true)
  }

  /// How many rows have numbers behind one, up to another; 0 if the rows of an earlier import are updated.
  private func newRows(behind start: Int, upTo end: Int, _ count: Statement?) throws -> Int {
    guard !places.updates, let count else { return 0 }
    return try Int.fetchOne(count, arguments: [start, end]) ?? 0
  }

  /// Removes what an earlier import has put into a place; but not before there is a row that takes the place of
  /// others: a file without one changes nothing.
  private func empty(_ place: Int, _ delete: Statement, _ database: Database) throws {
    // What is behind the rows that were there is of others.
    guard place <= places.lastRowBefore else { return }
    guard state.hasWritten else {
      state.emptyPlaces.insert(place)
      return
    }
    try remove(place, delete, database)
  }

  private func remove(_ place: Int, _ delete: Statement, _ database: Database) throws {
    try delete.execute(arguments: [place])
    state.removed += database.changesCount
  }

  /// Notices rows that others have put behind those of this import, in the places of those to come.
  ///
  /// - Throws: ``OtherRows``, unless the rows can go behind those as well.
  private func noticeOtherRows(_ batch: RowBatch, _ statements: Statements) throws {
    guard let last = statements.last, let found = try Int.fetchOne(last), found > state.lastRow else { return }
    if places.appends || state.isMixed {
      state.storedRows += try newRows(behind: state.lastRow, upTo: found, statements.count)
      (state.lastRow, state.isMixed) = (found, true)
    } else if !places.updates || number(ofRecord: batch.origins.last?.ordinal ?? 0) > state.lastRow {
      throw OtherRows()
    }
  }

  /// Makes sure that a row that has the key of another is a second one of the file: the table was empty, and nobody
  /// else has committed since.
  ///
  /// - Throws: ``OtherRows``.
  private func requireOwnRows(_ database: Database) throws {
    guard let dataVersion = places.emptyAtDataVersion, try database.dataVersion() != dataVersion else { return }
    throw OtherRows()
  }

  // MARK: Completing an append

  /// The first row of a batch that is not in the table already.
  private func skipPresentRows(_ batch: RowBatch, _ statements: Statements) throws -> Int {
    guard !state.isVerified, let unfinished = places.unfinished else { return 0 }
    let end = batch.origins.firstIndex { $0.ordinal > unfinished.records } ?? batch.count
    if let key = statements.key {
      for row in 0..<end where try find(batch, row, key, { _ in }) != nil { state.storedRows += 1 }
    }
    noteRecords(batch, upTo: end, refused: 0)
    if end < batch.count { try requirePresentRows() }
    return end
  }

  /// Makes sure that the rows that an append has found to be there are those of the file.
  ///
  /// - Throws: ``AppendConflict``.
  func requirePresentRows() throws {
    guard !state.isVerified, let unfinished = places.unfinished else { return }
    guard unfinished.recordsHash == nil || unfinished.recordsHash == state.fingerprint.value else {
      throw AppendConflict.changedFile
    }
    // With a key, those of the file were counted, and before that those of the table.
    guard state.storedRows >= unfinished.storedRows else { throw AppendConflict.missingRows }
    state.isVerified = true
  }

  /// Takes rows into the fingerprint.
  private func noteRecords(_ batch: RowBatch, upTo end: Int, refused: Int) {
    guard places.notesAdvance else { return }
    for row in 0..<end where batch.origins[row].ordinal > state.records {
      state.fingerprint.combine(batch.recordBytes(of: row))
      state.records = batch.origins[row].ordinal
    }
    state.refused += refused
  }

  // MARK: Statements

  /// Inserts or updates one row, unless one with its key has been written before.
  ///
  /// - Returns: Why it is not let in; nil if it is.
  private func insertSingle(
    _ batch: RowBatch, _ row: Int, _ statements: Statements, _ database: Database
  ) throws -> String? {
    guard let statement = statements.storedKey else { return try insertGuarded(batch, row, statements, database) }
    if let key = try storedKey(batch, row, statement), writtenKeys.contains(key) || newKeys.contains(key) {
      return plan.duplicateReason
    }
    let reason = try insertGuarded(batch, row, statements, database)
    // The table may have made another value of it.
    if reason == nil, let key = try storedKey(batch, row, statement) { newKeys.insert(key) }
    return reason
  }

  /// Inserts or updates one row; where the table has triggers, either the whole row with all that these do, or
  /// nothing.
  ///
  /// - Returns: Why it is not let in; nil if it is.
  private func insertGuarded(
    _ batch: RowBatch, _ row: Int, _ statements: Statements, _ database: Database
  ) throws -> String? {
    guard let savepoint = statements.savepoint else { return try insertOrNotice(batch, row, statements) }
    try execute(savepoint.begin)
    func attempt() throws -> String? {
      guard let reason = try insertOrNotice(batch, row, statements) else { return nil }
      guard database.isInsideTransaction else {
        throw TransactionEnded(row: RefusedRow(position: row, reason: reason))
      }
      // What a trigger did before it ignored the row is what it is for.
      if reason != plan.ignoredReason { try execute(savepoint.rollback) }
      return reason
    }
    var reason = try attempt()
    if reason == TablePlan.takenNumber, !places.updates, !state.isMixed {
      // A trigger has added a row where this was to be.
      state.isMixed = true
      reason = try attempt()
    }
    try execute(savepoint.release)
    return reason
  }

  /// Without GRDB, which would prepare to notify its observers of savepoints.
  private func execute(_ statement: Statement) throws {
    let result = sqlite3_step(statement.sqliteStatement)
    sqlite3_reset(statement.sqliteStatement)
    guard result == SQLITE_DONE else {
      throw DatabaseError(resultCode: ResultCode(rawValue: result), sql: statement.sql)
    }
  }

  /// Inserts or updates one row, and notices when a trigger has ignored it (`RAISE(IGNORE)`), which is no error.
  ///
  /// - Returns: Why it is not let in; nil if it is.
  private func insertOrNotice(_ batch: RowBatch, _ row: Int, _ statements: Statements) throws -> String? {
    let statement = statements.insert[0]
    let reason = try insert(batch, from: row, count: 1, statement)
    // One that is there as it is in the file is not written either.
    guard let presence = statements.presence, reason == nil,
      sqlite3_changes(sqlite3_db_handle(statement.sqliteStatement)) == 0,
      try state.isMixed || find(batch, row, presence, { _ in }) == nil
    else { return reason }
    return plan.ignoredReason
  }

  /// The hash of the key of the row that the table takes for the same; nil if there is none.
  private func storedKey(_ batch: RowBatch, _ row: Int, _ statement: Statement) throws -> UInt64? {
    try find(batch, row, statement) { handle in
      let text = sqlite3_column_text(handle, 0)
      return KeySet.hash(UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, 0))))
    }
  }

  /// Looks for a row by its key, or by its number in a table without one.
  ///
  /// - Returns: What `body` makes of it; nil if there is none.
  private func find<Answer>(
    _ batch: RowBatch, _ row: Int, _ statement: Statement, _ body: (OpaquePointer) -> Answer
  ) throws -> Answer? {
    let handle = statement.sqliteStatement
    if plan.hasKey {
      let values = batch.values + row * batch.columnCount
      for (number, column) in plan.key.enumerated() { bind(values[column], Int32(number + 1), handle, batch) }
    } else {
      sqlite3_bind_int64(handle, 1, Int64(number(ofRecord: batch.origins[row].ordinal)))
    }
    defer { sqlite3_reset(handle) }
    switch sqlite3_step(handle) {
    case SQLITE_DONE: return nil
    case SQLITE_ROW: return body(handle)
    case let result: throw DatabaseError(resultCode: ResultCode(rawValue: result), sql: statement.sql)
    }
  }

  /// Executes one statement.
  ///
  /// - Returns: Why a constraint does not let it: then nothing was inserted; nil if all was.
  private func insert(_ batch: RowBatch, from first: Int, count: Int, _ statement: Statement) throws -> String? {
    let handle = statement.sqliteStatement
    var parameter: Int32 = 0
    for row in first..<first + count {
      if !plan.hasKey {
        parameter += 1
        if state.isMixed {
          sqlite3_bind_null(handle, parameter)
        } else {
          sqlite3_bind_int64(handle, parameter, Int64(number(ofRecord: batch.origins[row].ordinal)))
        }
      }
      let values = batch.values + row * batch.columnCount
      for column in 0..<batch.columnCount {
        parameter += 1
        let becomesText = !batch.widenings.isEmpty && batch.widenings[column] == .text
        if becomesText, bindLongText(values[column], parameter, handle) { continue }
        bind(values[column], parameter, handle, batch)
      }
    }
    let result = sqlite3_step(handle)
    sqlite3_reset(handle)
    switch result {
    case SQLITE_DONE: return nil
    default:
      let message = sqlite3_db_handle(handle).map { String(cString: sqlite3_errmsg($0)) }
      if let reason = plan.refusal(ResultCode(rawValue: result), message) { return reason }
      throw DatabaseError(resultCode: ResultCode(rawValue: result), message: message, sql: statement.sql)
    }
  }

  /// Binds a number that is to be text, if it has more digits than SQLite would write.
  ///
  /// - Returns: False for any other value.
  private func bindLongText(_ value: EncodedValue, _ parameter: Int32, _ handle: OpaquePointer) -> Bool {
    guard value.kind == .real,
      let text = ExactNumber.longText(Double(bitPattern: UInt64(bitPattern: value.payload)))
    else { return false }
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    return sqlite3_bind_text(handle, parameter, text, -1, copies) == SQLITE_OK
  }

  /// The bytes of text are not copied: they stay where they are until the statement is reset.
  private func bind(_ value: EncodedValue, _ parameter: Int32, _ handle: OpaquePointer, _ batch: RowBatch) {
    switch value.kind {
    case .null: sqlite3_bind_null(handle, parameter)
    case .integer: sqlite3_bind_int64(handle, parameter, value.payload)
    case .real: sqlite3_bind_double(handle, parameter, Double(bitPattern: UInt64(bitPattern: value.payload)))
    case .text:
      let start = (batch.bytes + Int(value.payload)).assumingMemoryBound(to: CChar.self)
      sqlite3_bind_text(handle, parameter, start, value.length, nil)
    }
  }
}

extension TablePlan {
  /// The reason for which a row is rejected that a trigger ignores (`RAISE(IGNORE)`).
  var ignoredReason: String { "A trigger of the table \(table) ignores it" }

  /// In a table without a key, the number of the row is another's.
  static let takenNumber = "another row has its number"

  /// The result codes of rows with a wrong value: for a constraint, or for an expression of a constraint, an index or
  /// a trigger that cannot be computed.
  private static let rowErrors: [ResultCode] = [
    .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_ERROR,
  ]

  /// The reason for which the table refuses a row; nil if the error is not one of the row.
  func refusal(_ code: ResultCode, _ message: String?) -> String? {
    let columns = key.map { "\(table).\(self.columns[$0].name)" }.joined(separator: ", ")
    switch code {
    case .SQLITE_CONSTRAINT_TRIGGER: return "A trigger of the table \(table) refuses it: \(message ?? "")"
    // A trigger may have tried to add a row to another table.
    case .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID:
      guard message?.contains("failed: \(table).") == true else { return message }
      return hasKey ? duplicateReason : Self.takenNumber
    case .SQLITE_CONSTRAINT_UNIQUE where message?.hasSuffix("failed: \(columns)") == true: return duplicateReason
    // The table, one that a trigger uses, or a column of theirs is gone.
    case .SQLITE_ERROR where message?.hasPrefix("no such ") == true: return nil
    case .SQLITE_ERROR where message?.contains(" has no column named ") == true: return nil
    case let code where Self.rowErrors.contains(code.primaryResultCode): return message ?? "SQLite refuses it"
    default: return nil
    }
  }
}
#endif
