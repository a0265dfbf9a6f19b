#if Jobs
import GRDB
import GRDBSQLite
@_spi(JobStore) import HeadwayJobs

/// A prepared statement of a connection that is bound and executed without GRDB.
///
/// GRDB would copy each value several times, and prepare to notify observers for each statement.
struct SQLStatement {
  private let statement: Statement
  private var handle: OpaquePointer { statement.sqliteStatement }

  /// Makes SQLite copy the bound bytes.
  private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  /// Finds the statement in the cache of the connection, or compiles it.
  init(_ sql: String, _ database: Database) throws {
    statement = try database.cachedStatement(sql: sql)
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// Compiles a statement without the cache.
  init(separate sql: String, _ database: Database) throws { statement = try database.makeStatement(sql: sql) }

  // MARK: Binding

  func bind(_ value: Int, at index: Int32) { bind(Int64(value), at: index) }

  func bind(_ value: Int64?, at index: Int32) { bind(value, at: index) { sqlite3_bind_int64(handle, index, $0) } }

  func bind(_ value: Double?, at index: Int32) { bind(value, at: index) { sqlite3_bind_double(handle, index, $0) } }

  func bind(_ value: String?, at index: Int32) {
    bind(value, at: index) { text in
      var text = text
      return text.withUTF8 { bytes in
        // A text without an address would be bound as null.
        guard let start = UnsafeRawPointer(bytes.baseAddress) else {
          return sqlite3_bind_text(handle, index, "", 0, Self.copied)
        }
        let text = start.assumingMemoryBound(to: CChar.self)
        return sqlite3_bind_text(handle, index, text, Int32(bytes.count), Self.copied)
      }
    }
  }

  func bind(_ value: [UInt8]?, at index: Int32) {
    bind(value, at: index) { bytes in
      // An empty buffer has no address, and would be bound as null.
      bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle, index, 0)
        : sqlite3_bind_blob(handle, index, bytes, Int32(bytes.count), Self.copied)
    }
  }

  private func bind<Value>(_ value: Value?, at index: Int32, _ bind: (Value) -> Int32) {
    _ = value.map(bind) ?? sqlite3_bind_null(handle, index)
  }

  // MARK: Executing

  /// Executes the statement up to its next row.
  ///
  /// - Returns: Whether there is another row. If not, the statement can be executed again.
  func step() throws -> Bool {
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE {
      sqlite3_reset(handle)
      return false
    }
    let connection = sqlite3_db_handle(handle)
    let error = DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
      message: sqlite3_errmsg(connection).map { String(cString: $0) }, sql: statement.sql)
    sqlite3_reset(handle)
    throw error
  }

  /// Executes a statement and ignores its rows.
  ///
  /// - Returns: The number of rows that it has changed.
  @discardableResult
  func run() throws -> Int {
    while try step() {}
    return Int(sqlite3_changes(sqlite3_db_handle(handle)))
  }

  /// Executes the statement and calls a function with each row.
  func forEachRow(_ body: (SQLStatement) throws -> Void) throws {
    defer { reset() }
    while try step() { try body(self) }
  }

  /// Ends an execution before the last row has been read.
  func reset() { sqlite3_reset(handle) }
}

// MARK: Reading

extension SQLStatement: StoredRow {
  func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

  func int64(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

  func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }

  func bool(_ column: Int) -> Bool { int64(column) != 0 }

  func text(_ column: Int) -> String {
    guard let start = sqlite3_column_text(handle, Int32(column)) else { return "" }
    return String(decoding: UnsafeBufferPointer(start: start, count: count(column)), as: UTF8.self)
  }

  func bytes(_ column: Int) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, Int32(column)) else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: start, count: count(column)))
  }

  func time(_ column: Int) -> StoreTime { StoreTime(microseconds: int64(column)) }

  /// The number of bytes of a text or of bytes.
  private func count(_ column: Int) -> Int { Int(sqlite3_column_bytes(handle, Int32(column))) }
}

// MARK: Rows

/// Binds the values of rows to the parameters of a statement, one after another.
struct ParameterBinder: StoredRowWriter {
  private let statement: SQLStatement
  private var index: Int32

  /// Creates a binder.
  ///
  /// - Parameters:
  ///   - statement: The statement to bind values to.
  ///   - first: The number of the first parameter.
  init(_ statement: SQLStatement, from first: Int = 1) { (self.statement, index) = (statement, Int32(first)) }

  private mutating func next() -> Int32 {
    defer { index += 1 }
    return index
  }

  mutating func add(_ value: Int64?) { statement.bind(value, at: next()) }
  mutating func add(_ value: Double?) { statement.bind(value, at: next()) }
  mutating func add(_ value: Bool) { statement.bind(value ? 1 : 0, at: next()) }
  mutating func add(_ value: String?) { statement.bind(value, at: next()) }
  mutating func add(_ value: [UInt8]?) { statement.bind(value, at: next()) }
  mutating func add(_ value: StoreTime?) { statement.bind(value?.microseconds, at: next()) }
}
#endif
