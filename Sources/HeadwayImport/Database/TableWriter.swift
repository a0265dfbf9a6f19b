#if SQLite
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

  extension Database {
    /// A number that changes when another connection commits.
    func dataVersion() throws -> Int { try Int.fetchOne(self, sql: "PRAGMA data_version") ?? 0 }
  }

  /// Writes batches into one table with prepared statements.
  ///
  /// Values are bound straight from the batch's bytes, through SQLite's own interface: a value object a field, as
  /// GRDB's interface takes, costs more than SQLite's insertion itself.
  final class TableWriter: @unchecked Sendable {  // Used only inside accesses to the one writing connection.
    private let plan: TablePlan
    private var statements: Statements?
    private let updates: Bool
    private let offset: Int
    /// The number of the last row that was there or that this has written.
    private var lastRow: Int
    /// What SQLite's data version was when the table was found empty.
    private let dataVersion: Int?

    private struct Statements {
      /// The one at position *n* inserts 2 to the power of *n* rows.
      let insert: [Statement]
      /// Only where rows may be there whose records are no rows any more.
      let delete: Statement?
      /// Asks for the number of the last row, where rows are added behind others.
      let last: Statement?
      /// Asks for the key of a row, where ``asksForKeys``.
      let storedKey: Statement?
      /// Asks whether a row is there, where a trigger of the table may ignore rows.
      let presence: Statement?
    }

    /// Where rows are updated, the table is asked which row has a key: it takes other keys for the same than the file,
    /// or refuses rows, behind which one with the same key may be right.
    let asksForKeys: Bool

    /// The keys of rows that were written, where the table is asked for them.
    private var writtenKeys = KeySet()

    /// How many rows one statement inserts at most, where the table has few columns: SQLite's cost for starting a
    /// statement is paid once for them.
    ///
    /// More than some dozens brings nothing.
    private static let mostRowsAtOnce = 32

    /// Prepares the statements.
    ///
    /// - Parameters:
    ///   - plan: The table.
    ///   - updates: Whether rows of this import may be there already.
    ///   - offset: In a table without a key, what is added to the number of a record.
    ///   - dataVersion: What SQLite's data version was when the table was found empty, where it was.
    ///   - database: The writing connection.
    /// - Throws: GRDB's `DatabaseError`.
    init(_ plan: TablePlan, updates: Bool, offset: Int, foundEmptyAt dataVersion: Int?, _ database: Database) throws {
      self.plan = plan
      self.updates = updates
      self.offset = offset
      lastRow = offset
      self.dataVersion = dataVersion
      let valuesPerRow = plan.columns.count + (plan.hasKey ? 0 : 1)
      let mostRows = max(1, min(Self.mostRowsAtOnce, database.maximumStatementArgumentCount / valuesPerRow))
      let last = "SELECT max(\(plan.rowIdentifier)) FROM \(SQL.name(plan.table))"
      let delete = "DELETE FROM \(SQL.name(plan.table)) WHERE \(plan.rowIdentifier) = ?"
      if updates, plan.hasKey, let table = try ExistingTable(named: plan.table, database) {
        asksForKeys = try table.comparesKeysOtherwise(than: plan) || table.mayRefuseRows(of: plan, database)
      } else {
        asksForKeys = false
      }
      let mayIgnore = try ExistingTable.mayIgnoreRows(plan.table, database)
      let presence = plan.hasKey ? SQL.storedKey(plan) : SQL.presence(plan)
      statements = Statements(
        insert: try sequence(first: 1, next: { $0 * 2 <= mostRows ? $0 * 2 : nil }).map { rows in
          try database.makeStatement(sql: SQL.insert(plan, rows: rows, updates: updates))
        },
        delete: updates && !plan.hasKey ? try database.makeStatement(sql: delete) : nil,
        last: updates || plan.hasKey ? nil : try database.makeStatement(sql: last),
        storedKey: asksForKeys ? try database.makeStatement(sql: SQL.storedKey(plan)) : nil,
        presence: mayIgnore ? try database.makeStatement(sql: presence) : nil)
    }

    /// Lets go of the statements, inside an access to the writing connection like everything else.
    func close() { statements = nil }

    /// Whether ``close()`` was called.
    var isClosed: Bool { statements == nil }

    /// Writes all rows of a batch, inside the caller's transaction.
    ///
    /// - Parameters:
    ///   - batch: The rows.
    ///   - stopsAtRefused: Whether the rows behind the first that is not written are not written either.
    ///   - mayGoOn: Asked every few rows.
    ///   - database: The writing connection.
    /// - Returns: The rows that a constraint of the table does not let in; nil if it was stopped.
    /// - Throws: GRDB's `DatabaseError`, or ``OtherRows``.
    func write(
      _ batch: RowBatch, stopsAtRefused: Bool, while mayGoOn: () -> Bool, _ database: Database
    ) throws -> [RefusedRow]? {
      guard let statements else { preconditionFailure("A batch is written after the statements were closed") }
      try requireOwnEnd(statements)
      if let delete = statements.delete {
        for ordinal in batch.rejectedOrdinals { try delete.execute(arguments: [offset + ordinal]) }
      }
      var refused: [RefusedRow] = []
      var row = 0
      while row < batch.count {
        guard mayGoOn() else { return nil }
        // As many as there is a statement for.
        let most = statements.storedKey == nil && statements.presence == nil ? statements.insert.count : 1
        let power = min(most, Int.bitWidth - (batch.count - row).leadingZeroBitCount) - 1
        let count = 1 << power
        if count > 1, try insert(batch, from: row, count: count, statements.insert[power]) == nil {
          row += count
          continue
        }
        // The last one, or a statement that failed as a whole because of one row: one by one.
        for single in row..<row + count {
          guard let reason = try insertSingle(batch, single, statements) else { continue }
          // What an earlier import has put there is not this row.
          try statements.delete?.execute(arguments: [offset + batch.origins[single].ordinal])
          if reason == plan.duplicateReason { try requireOwnRows(database) }
          refused.append(RefusedRow(position: single, reason: reason))
          if stopsAtRefused { return refused }
        }
        row += count
      }
      lastRow = max(lastRow, offset + (batch.origins.last?.ordinal ?? 0))
      return refused
    }

    /// Makes sure that nobody else has put rows behind those of this import, in the places of those to come.
    ///
    /// - Throws: ``OtherRows``.
    private func requireOwnEnd(_ statements: Statements) throws {
      guard let last = statements.last else { return }
      let found = try Int.fetchOne(last) ?? 0
      guard found <= lastRow else { throw OtherRows() }
    }

    /// Makes sure that a row that has the key of another is a second one of the file: the table was empty, and nobody
    /// else has committed since.
    ///
    /// - Throws: ``OtherRows``.
    private func requireOwnRows(_ database: Database) throws {
      guard let dataVersion, try database.dataVersion() != dataVersion else { return }
      throw OtherRows()
    }

    /// Inserts or updates one row, unless one with its key has been written before.
    ///
    /// - Returns: Why it is not let in; nil if it is.
    private func insertSingle(_ batch: RowBatch, _ row: Int, _ statements: Statements) throws -> String? {
      guard let statement = statements.storedKey else { return try insertOrNotice(batch, row, statements) }
      if let key = try storedKey(batch, row, statement), writtenKeys.contains(key) { return plan.duplicateReason }
      let reason = try insertOrNotice(batch, row, statements)
      // The table may have made another value of it.
      if reason == nil, let key = try storedKey(batch, row, statement) { _ = writtenKeys.insert(key) }
      return reason
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
        try find(batch, row, presence, { _ in }) == nil
      else { return reason }
      return "A trigger of the table \(plan.table) ignores it"
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
        sqlite3_bind_int64(handle, 1, Int64(offset + batch.origins[row].ordinal))
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
          sqlite3_bind_int64(handle, parameter, Int64(offset + batch.origins[row].ordinal))
        }
        let values = batch.values + row * batch.columnCount
        for column in 0..<batch.columnCount {
          parameter += 1
          bind(values[column], parameter, handle, batch)
        }
      }
      let result = sqlite3_step(handle)
      sqlite3_reset(handle)
      switch result {
      case SQLITE_DONE: return nil
      default:
        let message = sqlite3_db_handle(handle).map { String(cString: sqlite3_errmsg($0)) }
        if let reason = reason(ofConstraint: result, message) { return reason }
        throw DatabaseError(resultCode: ResultCode(rawValue: result), message: message, sql: statement.sql)
      }
    }

    /// Why a row is not let in, for a person; nil if that is not for the row alone: a trigger may have said it.
    private func reason(ofConstraint result: Int32, _ message: String?) -> String? {
      let columns = plan.key.map { "\(plan.table).\(plan.columns[$0].name)" }.joined(separator: ", ")
      switch ResultCode(rawValue: result) {
      case .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID: return plan.duplicateReason
      case .SQLITE_CONSTRAINT_UNIQUE where message?.hasSuffix("failed: \(columns)") == true: return plan.duplicateReason
      case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_CHECK, .SQLITE_CONSTRAINT_NOTNULL,
        ResultCode(rawValue: SQLITE_CONSTRAINT | (12 << 8)):  // SQLITE_CONSTRAINT_DATATYPE
        return message
      default: return nil
      }
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
