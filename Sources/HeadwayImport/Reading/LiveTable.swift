#if SQLite
import GRDB
import GRDBSQLite
public import Headway

/// Watches a table while it is being written, by this process or by another: how many rows it has, and the rows of a
/// window.
///
/// ```swift
/// let stops = LiveTable(path: "vbb.sqlite", table: "stops", window: 0..<20)
/// for try await picture in stops.pictures {
///   print(picture.count, picture.rows.first ?? [])
/// }
/// ```
///
/// The table has a connection of its own, which only reads: it is never blocked by a writer, and never blocks one. It
/// looks at most 30 times a second whether something was committed, which costs microseconds, and only then asks for
/// the rows. Where that takes long (counting many millions of rows does), it waits longer, so that it uses at most a
/// tenth of one processor.
public struct LiveTable: Sendable {
  /// What was in the table at one moment.
  public struct Picture: Sendable, Hashable {
    /// How many rows the table had.
    public let count: Int
    /// The names of the columns.
    public let columns: [String]
    /// The rows of the window, the newest first; each value as text, nil for `NULL`.
    public let rows: [[String?]]
  }

  /// Where the database is.
  public let path: String
  /// The table.
  public let table: String
  /// Which columns are delivered; empty for all.
  public let columns: [String]
  /// Which rows are delivered, counted from the newest.
  public let window: Range<Int>

  /// The shortest time between two looks: 30 a second.
  static let shortestInterval = Duration.seconds(1) / 30
  /// How many times longer than a query the pause after it is.
  static let pauseFactor = 9

  /// Describes what to watch.
  ///
  /// Nothing is opened before ``pictures`` is iterated.
  ///
  /// - Parameters:
  ///   - path: Where the database is. It need not exist yet, nor the table.
  ///   - table: The table.
  ///   - columns: Which columns are delivered; empty for all.
  ///   - window: Which rows are delivered, counted from the newest.
  public init(path: String, table: String, columns: [String] = [], window: Range<Int> = 0..<20) {
    self.path = path
    self.table = table
    self.columns = columns
    self.window = window
  }

  /// The table as it is now, and again after each change, at most 30 times a second.
  ///
  /// Changes that come faster are put together. Ends when the iterating task is cancelled.
  ///
  /// Iterating throws GRDB's `DatabaseError` when the database can't be read.
  public var pictures: Pictures { Pictures(table: self, operations: nil, clock: ContinuousClock()) }

  /// The table as it is now, and again after each change, at most 30 times a second, until operations have finished:
  /// the last picture is of the table as they have left it.
  ///
  /// Whether they have failed is for them to say. Iterating throws GRDB's `DatabaseError` when the database can't be
  /// read.
  ///
  /// - Parameter operations: What writes the table.
  /// - Returns: The pictures, of which there are none if there is no database in the end.
  public func pictures(until operations: [Headway.Operation]) -> Pictures {
    Pictures(table: self, operations: operations, clock: ContinuousClock())
  }

  /// The table at this moment.
  ///
  /// - Returns: The picture; empty when there is no such database or table.
  /// - Throws: GRDB's `DatabaseError` when the database can't be read.
  public func picture() async throws -> Picture {
    guard let connection = try Connection(self) else { return Picture(count: 0, columns: [], rows: []) }
    return try await connection.picture(of: self)
  }

  /// The pictures of a table: a sequence without an end, or until operations have finished.
  public struct Pictures: AsyncSequence, Sendable {
    /// A picture.
    public typealias Element = Picture

    let table: LiveTable
    let operations: [Headway.Operation]?
    let clock: any Clock<Duration>

    /// Begins to watch.
    ///
    /// - Returns: The iterator, which opens the database when it is first asked.
    public func makeAsyncIterator() -> Iterator { Iterator(table: table, operations: operations, clock: clock) }
  }

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
    /// - Returns: The table after it; nil when the task was cancelled, or the operations have finished.
    /// - Throws: GRDB's `DatabaseError` when the database can't be read.
    public mutating func next() async throws -> Picture? {
      do { return try await nextChange() } catch  where Task.isCancelled { return nil }
    }

    private mutating func nextChange() async throws -> Picture? {
      while !Task.isCancelled {
        if pause > .zero {
          try await clock.sleep(for: pause)
        }
        pause = LiveTable.shortestInterval
        // Asked first, so that what they have written last is seen.
        let isOver = operations?.allSatisfy(\.isFinished) == true
        if connection == nil { connection = try Connection(table) }
        let version = try await connection?.version()
        guard let connection, version != lastVersion else {
          if isOver {
            // Who closes the database next moves its log into it, if nobody else has it open.
            self.connection = nil
            return nil
          }
          continue
        }
        lastVersion = version
        let start = ContinuousClock.now
        let picture = try await connection.picture(of: table)
        pause = max(LiveTable.shortestInterval, (ContinuousClock.now - start) * LiveTable.pauseFactor)
        return picture
      }
      return nil
    }
  }
}

/// A connection that only reads.
private struct Connection: Sendable {
  private let database: DatabaseQueue

  /// Nil while there is no such database.
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

  /// A number that is another one after each commit by another connection.
  func version() async throws -> Int {
    try await database.read { try Int.fetchOne($0, sql: "PRAGMA data_version") ?? 0 }
  }

  func picture(of table: LiveTable) async throws -> LiveTable.Picture {
    try await database.read { connection in
      // Asked of SQLite itself: GRDB remembers that there was no such table.
      let exists = try Int.fetchOne(
        connection, sql: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
        arguments: [table.table])
      guard exists != nil else { return LiveTable.Picture(count: 0, columns: [], rows: []) }
      let name = SQL.name(table.table)
      let count = try Int.fetchOne(connection, sql: "SELECT COUNT(*) FROM \(name)") ?? 0
      let columns = table.columns.isEmpty ? "*" : SQL.names(table.columns)
      let allColumns = try String.fetchAll(
        connection, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table.table])
      let rowIdentifier = SQL.rowIdentifier(besideColumns: allColumns)
      let statement = try connection.makeStatement(
        sql: "SELECT \(columns) FROM \(name) ORDER BY \(rowIdentifier) DESC LIMIT ? OFFSET ?")
      let rows = try Row.fetchAll(statement, arguments: [table.window.count, table.window.lowerBound])
      return LiveTable.Picture(
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
