#if SQLite
import Dispatch
import Foundation
public import GRDB
import GRDBSQLite
import Headway
import HeadwayFiles
import Synchronization

/// An SQLite database for imported files, with one connection for writing and several for reading at the same time.
///
/// ```swift
/// let database = try ImportDatabase(path: "vbb.sqlite")
/// let stops = ImportOperation(file: "stops.txt", into: database)
/// OperationQueue().addOperations([stops], waitUntilFinished: true)
/// let count = try database.pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM stops") }
/// ```
///
/// The database is in WAL mode, so readers, in this process and in others, are never blocked by the import and never
/// block it. In a table that no import has created, a row that violates a foreign key is rejected. In a table that an
/// import has created, a row that refers to a missing row is imported and reported.
public final class ImportDatabase: Sendable {
  /// The path of the database file.
  public let path: String
  /// The events that a committed batch survives, as read back from SQLite.
  public let durability: Durability
  /// GRDB's pool of connections, for reading.
  ///
  /// If you write through the pool, you wait for the import's batches, and they wait for you.
  public let pool: DatabasePool
  /// 32 MB of log at the usual page size, instead of SQLite's 4.
  ///
  /// Each checkpoint waits for the disk twice, and on a busy disk, an import with SQLite's default took up to three
  /// times as long as with this value.
  private static let pagesBetweenCheckpoints = 8_000
  /// The time between two attempts to lock a database that another connection has locked.
  private static let busyPause = Duration.milliseconds(10)
  private static let busyPauseMicroseconds: UInt32 = 10_000
  private static let busyPausesBeforeNotice = 100

  /// The imports into each table that have not finished, in turn order, by the table's name in lower case.
  ///
  /// Protected by its lock.
  private let imports = Mutex<[String: [ImportOperation]]>([:])
  /// The queue where imports wait for their turns, on a Dispatch thread as in ``writing``.
  private let turns = Headway.OperationQueue()

  /// Runs one operation at a time, each for some batches.
  ///
  /// The operations' order determines when each table is written.
  ///
  /// The queue uses a Dispatch thread, because imports wait for it on threads of Headway's pool, and might occupy all
  /// of them.
  private let writing = Headway.OperationQueue()

  /// Opens a database, or creates one if it does not exist.
  ///
  /// - Parameters:
  ///   - path: The path of the database file.
  ///   - durability: The events that a committed batch survives.
  ///   - busyTimeout: How long to wait while another connection has locked the database.
  ///   - onBusy: Called each time another connection has locked the database for one second, on the waiting thread.
  /// - Throws: ``ImportError`` with the code `database`.
  public init(
    path: String, durability: Durability = .normal, busyTimeout: Duration = .seconds(10),
    onBusy: (@Sendable () -> Void)? = nil
  ) throws {
    var configuration = GRDB.Configuration()
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .callback { count in
      if count == Self.busyPausesBeforeNotice { onBusy?() }
      guard Self.busyPause * count < busyTimeout else { return false }
      usleep(Self.busyPauseMicroseconds)
      return true
    }
    configuration.label = "headway import"
    do {
      pool = try DatabasePool(path: path.databaseName, configuration: configuration)
      // GRDB sets `synchronous` when it opens a database in WAL mode, so the chosen value is set afterward and read
      // back.
      let actual = try pool.writeWithoutTransaction { database in
        try database.execute(sql: "PRAGMA synchronous = \(durability.pragma)")
        try database.execute(sql: "PRAGMA wal_autocheckpoint = \(Self.pagesBetweenCheckpoints)")
        try ImportHistory.migrate(database)
        return try Int.fetchOne(database, sql: "PRAGMA synchronous")
      }
      guard actual == durability.pragma else {
        throw ImportError(
          .database, path: path, context: "SQLite did not take PRAGMA synchronous = \(durability.pragma).")
      }
    } catch let error as ImportError {
      throw error
    } catch {
      throw ImportError(.database, path: path, context: Self.openingFailure(path), underlyingError: error)
    }
    self.path = path
    self.durability = durability
    turns.name = "turns at \(path)"
    turns.underlyingQueue = DispatchQueue(label: "headway.import.turns")
    writing.name = "writing to \(path)"
    writing.underlyingQueue = DispatchQueue(label: "headway.import.writing")
    writing.maxConcurrentOperationCount = 1
  }

  /// Whether a file exists and begins as an SQLite database.
  package static func isDatabase(_ path: String) -> Bool {
    let descriptor = path.withPathBytes { open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
    guard descriptor >= 0 else { return false }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    let mark = Data("SQLite format 3\0".utf8)
    return (try? handle.read(upToCount: mark.count)) == mark
  }

  /// Describes why a database can't be opened, in more detail than SQLite.
  private static func openingFailure(_ path: String) -> String {
    let folder = FileSystem.folder(of: path)
    func mayBe(_ path: String, _ access: Int32) -> Bool { path.withPathBytes { Foundation.access($0, access) } == 0 }
    switch FileSystem.kind(of: path) {
    case .folder?: return "The database can't be opened: this is a folder."
    case .file?, .other?:
      if !mayBe(path, R_OK) { return "The database can't be opened: there is no permission to read it." }
      if !mayBe(path, W_OK) { return "The database can't be opened: there is no permission to write to it." }
    case nil where !FileSystem.isFolder(folder): return "The database can't be opened: there is no folder \(folder)."
    case nil where !mayBe(folder, W_OK):
      return "The database can't be opened: nothing may be written to the folder \(folder)."
    case nil: break
    }
    return "The database can't be opened."
  }

  /// Closes all connections.
  ///
  /// SQLite then moves the content of its write-ahead log into the database file.
  ///
  /// - Throws: GRDB's `DatabaseError`, if the database is still in use.
  public func close() throws {
    writing.waitUntilAllOperationsAreFinished()
    // The readers are closed first, because only the last connection that closes removes the write-ahead log, and a
    // reader can't.
    pool.releaseMemory()
    try pool.close()
  }

  // MARK: Writing

  /// Adds a write to the end of the queue.
  ///
  /// - Parameters:
  ///   - name: The name of the write in traces and snapshots.
  ///   - body: The write, which receives the writing connection outside of a transaction.
  /// - Returns: The operation, which fails with the error of `body`.
  func write(_ name: String, _ body: @escaping @Sendable (Database) throws -> Void) -> Headway.Operation {
    write(name) {
      ()
    } with: { _, database in
      try body(database)
    } then: { _, _ in
    }
  }

  /// Adds a write to the end of the queue.
  ///
  /// - Parameters:
  ///   - name: The name of the write in traces and snapshots.
  ///   - take: Called when the write begins. Returns the work to write, or nil if there is none.
  ///   - body: Writes that work with the writing connection, outside of a transaction.
  ///   - end: Called after `body`, with the error that it threw.
  /// - Returns: The operation, which fails with the error of `body`.
  @discardableResult
  func write<Work>(
    _ name: String, _ take: @escaping @Sendable () -> Work?,
    with body: @escaping @Sendable (Work, Database) throws -> Void,
    then end: @escaping @Sendable (Work, (any Error)?) -> Void
  ) -> Headway.Operation {
    let operation = BlockOperation { [self] in
      guard let work = take() else { return }
      do {
        try pool.writeWithoutTransaction { try body(work, $0) }
        end(work, nil)
      } catch {
        let error =
          (error as? DatabaseError).map {
            ImportError(.database, path: path, context: "The database refused.", underlyingError: $0)
          } ?? error
        end(work, error)
        throw error
      }
    }
    operation.name = name
    writing.addOperation(operation)
    return operation
  }

  /// Writes and waits until the write has finished.
  func writeAndWait<Answer: Sendable>(
    _ name: String, _ body: @escaping @Sendable (Database) throws -> Answer
  ) throws -> Answer {
    let answer = Box<Answer>()
    let operation = write(name) { database in answer.value = try body(database) }
    operation.waitUntilFinished()
    if let error = operation.error { throw error }
    guard let value = answer.value else { throw CancellationError() }
    return value
  }

  /// Waits until all earlier imports into the operation's table have finished, because each import places its rows
  /// after the rows of the previous import.
  ///
  /// Returns immediately if the operation is cancelled. Later imports keep waiting for the earlier ones.
  func waitForTurn(of operation: ImportOperation) {
    let table = operation.table.name.lowercasedAsName
    let before = imports.withLock { imports in
      defer { imports[table, default: []].append(operation) }
      return imports[table] ?? []
    }
    guard !before.isEmpty else { return }
    // This block does nothing. It is ready when the earlier imports have finished, or when it is cancelled.
    let turn = Headway.BlockOperation {}
    turn.name = "turn of \(operation.file)"
    for other in before { turn.addDependency(other) }
    operation.onCancel { turn.cancel() }
    turns.addOperation(turn)
    Trace.span("wait for earlier imports into \(operation.table.name)") { turn.waitUntilFinished() }
  }

  /// Allows the next import into the operation's table to begin, after all imports before it have ended.
  func endTurn(of operation: ImportOperation) {
    let table = operation.table.name.lowercasedAsName
    // Released after the lock.
    let ended = imports.withLock { imports in
      imports[table]?.firstIndex { $0 === operation }.map { imports[table]?.remove(at: $0) }
    }
    withExtendedLifetime(ended) {}
  }

  /// Ensures that existing tables without a key contain only rows from these files.
  ///
  /// - Throws: ``ImportError`` with the code `foreignRows` or `database`.
  func requireOwnRows(of files: [(table: String, file: String)], hasHeader: Bool) throws {
    try read { connection in
      for (table, file) in files {
        guard let existing = try ExistingTable(named: table, connection), try connection.hasRows(in: table) else {
          continue
        }
        try ImportHistory(target: table, file: file, isRegular: true).requireOwnRows(
          rowIdentifier: SQL.rowIdentifier(besideColumns: existing.columnNames), hasHeader: hasHeader, connection)
      }
    }
  }

  /// The state of an import's table before the import begins.
  struct Existing {
    /// The description, completed with properties of the existing table.
    var schema: TableSchema
    /// The column names.
    var columns: [String] = []
    /// The types that an earlier import has found, by the column's name in lower case.
    var inferredTypes: [String: ColumnType] = [:]
    /// The affinities of columns that convert text to numbers, by the column's name in lower case.
    var affinities: [String: NumberAffinity] = [:]
  }

  /// The column names of a described table; empty if the table does not exist.
  func columns(of schema: TableSchema) throws -> [String] {
    try read { try ExistingTable(named: schema.name, $0)?.columnNames ?? [] }
  }

  /// Reads the table of a description.
  func existing(_ schema: TableSchema, header: [String]) throws -> Existing {
    try read { connection in
      guard let table = try ExistingTable(named: schema.name, connection) else { return Existing(schema: schema) }
      let found = try ImportHistory.inferredColumns(of: table.name, connection)
      return Existing(
        schema: table.completing(schema, header: header), columns: table.columnNames,
        inferredTypes: table.numericTypes(of: found), affinities: table.numberAffinities)
    }
  }

  /// Reads concurrently with writes.
  func read<Answer>(_ body: (Database) throws -> Answer) throws -> Answer {
    do {
      return try pool.read(body)
    } catch let error as DatabaseError {
      throw ImportError(.database, path: path, context: "The database can't be read.", underlyingError: error)
    }
  }
}

/// Passes a result from one thread to another, which waits for it.
private final class Box<Value>: @unchecked Sendable {  // Written before the operation finishes, read after.
  var value: Value?
}

extension Database {
  /// Runs long-running statements and interrupts them soon after `mayGoOn` returns false.
  ///
  /// It is called every 1,000 steps of SQLite's virtual machine, which take a few microseconds.
  func whileAsking(_ mayGoOn: () -> Bool, _ body: () throws -> Void) throws {
    try withoutActuallyEscaping(mayGoOn) { mayGoOn in
      var question = Question(mayGoOn: mayGoOn)
      try withUnsafeMutablePointer(to: &question) { pointer in
        sqlite3_progress_handler(
          sqliteConnection, 1_000, { $0!.assumingMemoryBound(to: Question.self).pointee.mayGoOn() ? 0 : 1 }, pointer)
        defer { sqlite3_progress_handler(sqliteConnection, 0, nil, nil) }
        try body()
      }
    }
  }
}

private struct Question {
  let mayGoOn: () -> Bool
}
#endif
