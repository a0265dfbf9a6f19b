#if SQLite
import GRDB
import GRDBSQLite

extension TableWriter {
  struct Statements {
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

  struct Savepoint {
    let begin: Statement
    let rollback: Statement
    let release: Statement

    init(_ database: Database) throws {
      begin = try database.makeStatement(sql: "SAVEPOINT headway_row")
      rollback = try database.makeStatement(sql: "ROLLBACK TO headway_row")
      release = try database.makeStatement(sql: "RELEASE headway_row")
    }
  }

  // MARK: Inserting

  /// Inserts or updates one row, unless one with its key has been written before.
  ///
  /// - Returns: Why it is not let in; nil if it is.
  func insertSingle(
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
  func find<Answer>(
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
  func insert(_ batch: RowBatch, from first: Int, count: Int, _ statement: Statement) throws -> String? {
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
#endif
