#if SQLite
import GRDB
import GRDBSQLite
public import Headway

/// Watches a table while this or another process writes it: the number of its rows, and the rows of a range.
///
/// ```swift
/// let stops = LiveTable(path: "vbb.sqlite", table: "stops", rowRange: 0..<20)
/// for try await snapshot in stops.snapshots {
///   print(snapshot.count, snapshot.rows.first ?? [])
/// }
/// ```
///
/// A live table has its own read-only connection, which is never blocked by a writer, and never blocks one. It checks
/// at most 30 times per second whether something was committed, which takes microseconds, and reads the rows only then.
/// If reading takes a long time (for example, to count many millions of rows), it waits longer, so that it uses at most
/// a tenth of one processor.
public struct LiveTable: Sendable {
  /// The content of the table at one moment.
  public struct Snapshot: Sendable, Hashable {
    /// The number of rows in the table.
    public let count: Int
    /// The column names.
    public let columns: [String]
    /// The rows of the range, the newest first.
    ///
    /// Each value is text, or nil for `NULL`.
    public let rows: [[String?]]
  }

  /// The path of the database.
  public let path: String
  /// The table's name.
  public let table: String
  /// The columns to deliver; empty for all columns.
  public let columns: [String]
  /// The rows to deliver, counted from the newest.
  public let rowRange: Range<Int>

  /// The shortest time between two checks: 30 checks per second.
  static let shortestInterval = Duration.seconds(1) / 30
  /// The ratio between the pause after a query and the duration of the query.
  static let pauseFactor = 9

  /// Creates a live table.
  ///
  /// The database is not opened until you iterate ``snapshots``.
  ///
  /// - Parameters:
  ///   - path: The path of the database. The database and the table need not exist yet.
  ///   - table: The table's name.
  ///   - columns: The columns to deliver; empty for all columns.
  ///   - rowRange: The rows to deliver, counted from the newest.
  public init(path: String, table: String, columns: [String] = [], rowRange: Range<Int> = 0..<20) {
    self.path = path
    self.table = table
    self.columns = columns
    self.rowRange = rowRange
  }

  /// The current content of the table, and its content after each change, at most 30 times per second.
  ///
  /// Faster changes are combined. The sequence ends when the iterating task is cancelled.
  ///
  /// Iterating throws GRDB's `DatabaseError` if the database can't be read.
  public var snapshots: Snapshots { Snapshots(table: self, operations: nil, clock: ContinuousClock()) }

  /// Returns the current content of the table and its content after each change, until operations have finished.
  ///
  /// Snapshots are delivered at most 30 times per second. The last snapshot shows the table as the operations have left
  /// it. The sequence does not report whether they have failed. Iterating throws GRDB's `DatabaseError` if the database
  /// can't be read.
  ///
  /// - Parameter operations: The operations that write the table.
  /// - Returns: The snapshots; none if the database does not exist when the operations have finished.
  public func snapshots(until operations: [Headway.Operation]) -> Snapshots {
    Snapshots(table: self, operations: operations, clock: ContinuousClock())
  }

  /// Returns the current content of the table.
  ///
  /// - Returns: The snapshot; empty if the database or the table does not exist.
  /// - Throws: GRDB's `DatabaseError` if the database can't be read.
  public func snapshot() async throws -> Snapshot {
    guard let connection = try Connection(self) else { return Snapshot(count: 0, columns: [], rows: []) }
    return try await connection.snapshot(of: self)
  }

  /// The snapshots of a table: a sequence that is endless, or that ends after operations have finished.
  public struct Snapshots: AsyncSequence, Sendable {
    /// A snapshot.
    public typealias Element = Snapshot

    let table: LiveTable
    let operations: [Headway.Operation]?
    let clock: any Clock<Duration>

    /// Starts watching.
    ///
    /// - Returns: An iterator that watches the table. It opens the database when its first element is requested.
    public func makeAsyncIterator() -> Iterator { Iterator(table: table, operations: operations, clock: clock) }
  }
}

extension LiveTable.Snapshots {
  /// Watches one table.
  public struct Iterator: AsyncIteratorProtocol {
    private let table: LiveTable
    private let operations: [Headway.Operation]?
    private let clock: any Clock<Duration>
    private var connection: Connection?
    private var lastVersion: Int?
    private var pause = Duration.zero

    init(table: LiveTable, operations: [Headway.Operation]?, clock: any Clock<Duration>) {
      self.table = table
      self.operations = operations
      self.clock = clock
    }

    /// Waits for the next change.
    ///
    /// - Returns: The table after the change; nil if the task was cancelled, or the operations have finished.
    /// - Throws: GRDB's `DatabaseError` if the database can't be read.
    public mutating func next() async throws -> LiveTable.Snapshot? {
      do { return try await nextChange() } catch  where Task.isCancelled { return nil }
    }

    private mutating func nextChange() async throws -> LiveTable.Snapshot? {
      while !Task.isCancelled {
        if pause > .zero {
          try await clock.sleep(for: pause)
        }
        pause = LiveTable.shortestInterval
        // Read first, so that the last changes of the operations are not missed.
        let isOver = operations?.allSatisfy(\.isFinished) == true
        if connection == nil { connection = try Connection(table) }
        let version = try await connection?.version()
        guard let connection, version != lastVersion else {
          if isOver {
            // The next connection that closes the database then moves the log into it, unless another connection is
            // open.
            self.connection = nil
            return nil
          }
          continue
        }
        lastVersion = version
        let start = ContinuousClock.now
        let snapshot = try await connection.snapshot(of: table)
        pause = Swift.max(LiveTable.shortestInterval, (ContinuousClock.now - start) * LiveTable.pauseFactor)
        return snapshot
      }
      return nil
    }
  }
}

/// A read-only connection.
private struct Connection: Sendable {
  private let database: DatabaseQueue

  /// Opens the database; nil if it does not exist.
  init?(_ table: LiveTable) throws {
    var configuration = GRDB.Configuration()
    configuration.readonly = true
    configuration.label = "headway live table"
    do {
      database = try DatabaseQueue(path: table.path.databaseName, configuration: configuration)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN {
      return nil
    }
  }

  /// A number that changes after each commit by another connection.
  func version() async throws -> Int {
    try await database.read { try Int.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
  }

  func snapshot(of table: LiveTable) async throws -> LiveTable.Snapshot {
    try await database.read { connection in
      // Queried directly, because GRDB caches that the table does not exist.
      let exists = try Int.fetchOne(
        connection, sql: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
        arguments: [table.table])
      guard exists != nil else { return LiveTable.Snapshot(count: 0, columns: [], rows: []) }
      let name = SQL.name(table.table)
      let count = try Int.fetchOne(connection, sql: "SELECT COUNT(*) FROM \(name)") ?? 0
      let columns = table.columns.isEmpty ? "*" : SQL.names(table.columns)
      let allColumns = try String.fetchAll(
        connection, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table.table])
      let rowIdentifier = SQL.rowIdentifier(besideColumns: allColumns)
      let statement = try connection.makeStatement(
        sql: "SELECT \(columns) FROM \(name) ORDER BY \(rowIdentifier) DESC LIMIT ? OFFSET ?")
      let rows = try Row.fetchAll(statement, arguments: [table.rowRange.count, table.rowRange.lowerBound])
      return LiveTable.Snapshot(
        count: count, columns: statement.columnNames,
        rows: rows.map { row in row.databaseValues.map { String.fromDatabaseValue($0) ?? $0.numberText } })
    }
  }
}

extension DatabaseValue {
  /// A number as text.
  var numberText: String? {
    switch storage {
    case .int64(let number): String(number)
    case .double(let number): String(number)
    case .null, .string, .blob: nil
    }
  }
}
#endif
