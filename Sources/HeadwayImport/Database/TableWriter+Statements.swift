#if SQLite
import GRDB
import GRDBSQLite

extension TableWriter {
  struct Statements {
    /// The statement at position *n* inserts 2 to the power of *n* rows.
    let insert: [Statement]
    /// Removes a row.
    ///
    /// Only set if the table might have rows whose records are no longer rows.
    let delete: Statement?
    /// Selects the number of the last row, in a table without a key.
    let last: Statement?
    /// Selects the key of a row, if ``asksForKeys``.
    let storedKey: Statement?
    /// Checks whether a row exists, if a trigger of the table might ignore rows.
    let presence: Statement?
    /// Checks whether the table has the key of a row, if an append is completed.
    let key: Statement?
    /// Counts the rows with numbers in a range, in a table without a key.
    let count: Statement?
    /// Only set if the table has triggers.
    let savepoint: Savepoint?
    /// Stores the origin of a row, if rows might be rejected when they replace existing rows.
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

  /// Inserts or updates one row, unless a row with the same key has been written before.
  ///
  /// - Returns: The reason that the table rejects the row; nil if it was written.
  func insertSingle(
    _ batch: RowBatch, _ row: Int, _ statements: Statements, _ database: Database
  ) throws -> String? {
    guard let statement = statements.storedKey else { return try insertGuarded(batch, row, statements, database) }
    if let key = try storedKey(batch, row, statement), writtenKeys.contains(key) || newKeys.contains(key) {
      return plan.duplicateReason
    }
    let reason = try insertGuarded(batch, row, statements, database)
    // The table might have converted the value of the key.
    if reason == nil, let key = try storedKey(batch, row, statement) { newKeys.insert(key) }
    return reason
  }

  /// Inserts or updates one row.
  ///
  /// If the table has triggers, either the whole row is written, with all effects of the triggers, or nothing.
  ///
  /// - Returns: The reason that the table rejects the row; nil if it was written.
  private func insertGuarded(
    _ batch: RowBatch, _ row: Int, _ statements: Statements, _ database: Database
  ) throws -> String? {
    guard let savepoint = statements.savepoint else { return try insertOrNotice(batch, row, statements, database) }
    try execute(savepoint.begin)
    func attempt() throws -> String? {
      var reason = try insertOrNotice(batch, row, statements, database)
      if reason == nil, places.enforcesReferences, Self.hasBrokenReferences(database) {
        reason = TablePlan.brokenReference
      }
      guard let reason else { return nil }
      guard database.isInsideTransaction else {
        throw TransactionEnded(row: RefusedRow(position: row, reason: reason))
      }
      // Changes that a trigger made before it ignored the row are intended.
      if reason != plan.ignoredReason { try execute(savepoint.rollback) }
      return reason
    }
    var reason = try attempt()
    if reason == TablePlan.takenNumber, !places.updates, !state.isMixed {
      // A trigger has added a row in the place of this one.
      state.isMixed = true
      reason = try attempt()
    }
    try execute(savepoint.release)
    return reason
  }

  /// Whether a row that was written in this transaction violates a foreign key.
  private static func hasBrokenReferences(_ database: Database) -> Bool {
    var (count, most): (Int32, Int32) = (0, 0)
    sqlite3_db_status(database.sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &most, 0)
    return count != 0
  }

  /// Writes rows again that were rejected only because they violate foreign keys, if rows written in the meantime allow
  /// it.
  ///
  /// - Returns: The rows that are still rejected.
  func retry(_ refused: [RefusedRow], of batch: RowBatch, _ database: Database) throws -> [RefusedRow] {
    guard let statements else { return refused }
    return try refused.filter { row in
      guard row.reason == TablePlan.brokenReference, try insertSingle(batch, row.position, statements, database) == nil
      else { return true }
      try noteWritten(batch, row.position, count: 1, statements, database)
      if places.notesAdvance { state.refused -= 1 }
      return false
    }
  }

  /// Executes without GRDB, which would prepare to notify its observers of savepoints.
  private func execute(_ statement: Statement) throws {
    let result = sqlite3_step(statement.sqliteStatement)
    sqlite3_reset(statement.sqliteStatement)
    guard result == SQLITE_DONE else {
      throw DatabaseError(resultCode: ResultCode(rawValue: result), sql: statement.sql)
    }
  }

  /// Inserts or updates one row and detects when a trigger has ignored it (`RAISE(IGNORE)`), which is not an error.
  ///
  /// - Returns: The reason that the table rejects the row; nil if it was written.
  private func insertOrNotice(
    _ batch: RowBatch, _ row: Int, _ statements: Statements, _ database: Database
  ) throws -> String? {
    let statement = statements.insert[0]
    let isPartial = partialStatements.map { $0.existing != nil || hasAbsentValues(batch, row) } == true
    let reason =
      isPartial ? try writePartially(batch, row, database) : try insert(batch, from: row, count: 1, statement)
    // A row that already has the values of the file is not written either.
    guard let presence = statements.presence, reason == nil,
      sqlite3_changes(sqlite3_db_handle(statement.sqliteStatement)) == 0,
      try state.isMixed || find(batch, row, presence, { _ in }) == nil
    else { return reason }
    return plan.ignoredReason
  }

  /// The hash of the key of the row that the table considers equal; nil if there is none.
  private func storedKey(_ batch: RowBatch, _ row: Int, _ statement: Statement) throws -> UInt64? {
    try find(batch, row, statement) { handle in
      let text = sqlite3_column_text(handle, 0)
      return KeySet.hash(UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, 0))))
    }
  }

  /// Finds a row by its key, or by its number in a table without a key.
  ///
  /// - Returns: The result of `body` for the row; nil if the row does not exist.
  func find<Answer>(
    _ batch: RowBatch, _ row: Int, _ statement: Statement, _ body: (OpaquePointer) -> Answer
  ) throws -> Answer? {
    let handle = statement.sqliteStatement
    if plan.hasKey {
      let values = batch.values + row * batch.columnCount
      for (number, column) in plan.key.enumerated() { bind(values[column], Int32(number + 1), handle, batch) }
    } else {
      sqlite3_bind_int64(handle, 1, Int64(number(ofRecord: batch.origins[row].recordNumber)))
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
  /// - Returns: The reason that the table rejects a row; nil if all rows were inserted. If there is a reason, no row
  ///   was inserted.
  func insert(_ batch: RowBatch, from first: Int, count: Int, _ statement: Statement) throws -> String? {
    let handle = statement.sqliteStatement
    var parameter: Int32 = 0
    for row in first..<first + count {
      if !plan.hasKey {
        parameter += 1
        if state.isMixed {
          sqlite3_bind_null(handle, parameter)
        } else {
          sqlite3_bind_int64(handle, parameter, Int64(number(ofRecord: batch.origins[row].recordNumber)))
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
    return try step(statement)
  }

  /// Executes a statement whose parameters are the row number, if there is one, and then the values of a row.
  func execute(
    _ statement: Statement, _ columns: [Int], number: Int?? = nil, _ batch: RowBatch, _ row: Int
  ) throws -> String? {
    let (handle, values) = (statement.sqliteStatement, batch.values + row * batch.columnCount)
    var parameter: Int32 = 0
    if let number {
      parameter += 1
      bind(number.map { .integer(Int64($0)) } ?? .null, parameter, handle, batch)
    }
    for column in columns {
      parameter += 1
      let becomesText = batch.widenings[column] == .text
      if becomesText, bindLongText(values[column], parameter, handle) { continue }
      bind(values[column], parameter, handle, batch)
    }
    return try step(statement)
  }

  /// Whether a line lacks members.
  private func hasAbsentValues(_ batch: RowBatch, _ row: Int) -> Bool {
    let values = batch.values + row * batch.columnCount
    return (0..<batch.columnCount).contains { values[$0].kind == .absent }
  }

  /// Executes a statement whose parameters are bound.
  private func step(_ statement: Statement) throws -> String? {
    let handle = statement.sqliteStatement
    let result = sqlite3_step(handle)
    sqlite3_reset(handle)
    guard result != SQLITE_DONE else { return nil }
    let message = sqlite3_db_handle(handle).map { String(cString: sqlite3_errmsg($0)) }
    if let reason = plan.refusal(ResultCode(rawValue: result), message) { return reason }
    throw DatabaseError(resultCode: ResultCode(rawValue: result), message: message, sql: statement.sql)
  }

  /// Binds a number as text, if it has more digits than SQLite would write.
  ///
  /// - Returns: False for any other value.
  private func bindLongText(_ value: EncodedValue, _ parameter: Int32, _ handle: OpaquePointer) -> Bool {
    guard value.kind == .real,
      let text = ExactNumber.longText(Double(bitPattern: UInt64(bitPattern: value.payload)))
    else { return false }
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    return sqlite3_bind_text(handle, parameter, text, -1, copies) == SQLITE_OK
  }

  /// Binds a value.
  ///
  /// The bytes of text are not copied; they stay in place until the statement is reset.
  private func bind(_ value: EncodedValue, _ parameter: Int32, _ handle: OpaquePointer, _ batch: RowBatch) {
    switch value.kind {
    case .null, .absent: sqlite3_bind_null(handle, parameter)
    case .integer: sqlite3_bind_int64(handle, parameter, value.payload)
    case .real: sqlite3_bind_double(handle, parameter, Double(bitPattern: UInt64(bitPattern: value.payload)))
    case .text:
      let start = (batch.bytes + Int(value.payload)).assumingMemoryBound(to: CChar.self)
      sqlite3_bind_text(handle, parameter, start, value.length, nil)
    }
  }
}
#endif
