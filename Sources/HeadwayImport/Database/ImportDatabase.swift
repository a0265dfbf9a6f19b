#if SQLite
import Dispatch
import Foundation
public import GRDB
import GRDBSQLite
import Headway
import Synchronization

/// An SQLite database into which files are imported: one connection that writes, and others that read meanwhile.
///
/// ```swift
/// let database = try ImportDatabase(path: "vbb.sqlite")
/// let stops = ImportOperation(file: "stops.txt", into: database)
/// OperationQueue().addOperations([stops], waitUntilFinished: true)
/// let count = try database.pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM stops") }
/// ```
///
/// The database is in WAL mode, so readers, in this process and in others, are never blocked by the import and never
/// block it. Foreign keys are not enforced while it is written: rows whose reference does not exist are imported and
/// reported.
public final class ImportDatabase: Sendable {
  /// Where the file is.
  public let path: String
  /// What a committed batch survives, as read back from SQLite.
  public let durability: Durability
  /// GRDB's pool of connections, for reading.
  ///
  /// Writing through it waits for the import's batches, and they for it.
  public let pool: DatabasePool
  /// 32 MB of log at the usual page size, in place of SQLite's 4: each checkpoint waits for the disk twice, and on a
  /// busy disk an import with SQLite's default took up to three times as long.
  private static let pagesBetweenCheckpoints = 8_000
  /// Of ten milliseconds each, for a database that is locked: ten seconds.
  private static let waits = 1_000
  private static let waitMicroseconds: UInt32 = 10_000

  /// The imports into each table that have not ended, in the order of their turns, by the table's name in lower case.
  ///
  /// Protected by its lock.
  private let imports = Mutex<[String: [ImportOperation]]>([:])
  /// Where imports wait for their turns, on a thread of Dispatch's as in ``writing``.
  private let turns = Headway.OperationQueue()

  /// One operation for some batches, one at a time: the order in which tables take turns at writing.
  ///
  /// On a thread of Dispatch's: imports wait for it on threads of Headway's pool, and may have them all.
  private let writing = Headway.OperationQueue()

  /// Opens a database, or creates one.
  ///
  /// - Parameters:
  ///   - path: Where the file is.
  ///   - durability: What a committed batch survives.
  ///   - onBusy: Called each time the database has been locked by somebody else for a second, on the thread that
  ///     waits for it; after ten seconds it waits no longer.
  /// - Throws: ``ImportError`` with the code `database`.
  public init(
    path: String, durability: Durability = .normal, onBusy: (@Sendable () -> Void)? = nil
  ) throws {
    var configuration = GRDB.Configuration()
    configuration.foreignKeysEnabled = false
    configuration.busyMode = .callback { count in
      if count == Self.waits / 10 { onBusy?() }
      usleep(Self.waitMicroseconds)
      return count < Self.waits
    }
    configuration.label = "headway import"
    do {
      pool = try DatabasePool(path: path.databaseName, configuration: configuration)
      // GRDB sets `synchronous` itself when it opens a database in WAL mode, so ours is set after that, and read
      // back.
      let actual = try pool.writeWithoutTransaction { database in
        try database.execute(sql: "PRAGMA synchronous = \(durability.pragma)")
        try database.execute(sql: "PRAGMA wal_autocheckpoint = \(Self.pagesBetweenCheckpoints)")
        try ImportHistory.migrate(database)
        return try Int.fetchOne(database, sql: "PRAGMA synchronous")
      }
      guard actual == durability.pragma else {
        throw ImportError(
          .database, path: path, message: "SQLite did not take PRAGMA synchronous = \(durability.pragma).")
      }
    } catch let error as ImportError {
      throw error
    } catch {
      throw ImportError(.database, path: path, message: Self.openingFailure(path), underlying: error)
    }
    self.path = path
    self.durability = durability
    turns.name = "turns at \(path)"
    turns.underlyingQueue = DispatchQueue(label: "headway.import.turns")
    writing.name = "writing to \(path)"
    writing.underlyingQueue = DispatchQueue(label: "headway.import.writing")
    writing.maxConcurrentOperationCount = 1
  }

  /// Whether a file that exists begins as an SQLite database.
  package static func isDatabase(_ path: String) -> Bool {
    let descriptor = path.withPathBytes { open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
    guard descriptor >= 0 else { return false }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    let mark = Data("SQLite format 3\0".utf8)
    return (try? handle.read(upToCount: mark.count)) == mark
  }

  /// Describes why a database can't be opened, in more words than SQLite has.
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
  /// SQLite then moves what is in its write-ahead log into the database file.
  ///
  /// - Throws: GRDB's `DatabaseError`, when something still uses the database.
  public func close() throws {
    writing.waitUntilAllOperationsAreFinished()
    // The readers go first: only the connection that closes last tidies the write-ahead log away, and a reader can't.
    pool.releaseMemory()
    try pool.close()
  }

  // MARK: Writing

  /// Adds a piece of writing to the end of the line.
  ///
  /// - Parameter body: What to do with the writing connection, outside of a transaction.
  /// - Returns: The operation; its error is what `body` threw.
  func write(_ body: @escaping @Sendable (Database) throws -> Void) -> Headway.Operation {
    write {
      ()
    } with: { _, database in
      try body(database)
    } then: { _, _ in
    }
  }

  /// Adds a piece of writing to the end of the line.
  ///
  /// - Parameters:
  ///   - take: Called when it is its turn: what to write, or nil if there is nothing.
  ///   - body: Writes that with the writing connection, outside of a transaction.
  ///   - end: Called after `body`, with what that threw.
  /// - Returns: The operation; its error is what `body` threw.
  @discardableResult
  func write<Work>(
    _ take: @escaping @Sendable () -> Work?, with body: @escaping @Sendable (Work, Database) throws -> Void,
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
            ImportError(.database, path: path, message: "The database refused.", underlying: $0)
          } ?? error
        end(work, error)
        throw error
      }
    }
    writing.addOperation(operation)
    return operation
  }

  /// Writes, and waits until it is done.
  func writeAndWait<Answer: Sendable>(_ body: @escaping @Sendable (Database) throws -> Answer) throws -> Answer {
    let answer = Box<Answer>()
    let operation = write { database in answer.value = try body(database) }
    operation.waitUntilFinished()
    if let error = operation.error { throw error }
    guard let value = answer.value else { throw CancellationError() }
    return value
  }

  /// Waits until no import into the operation's table runs that came before: each places its rows behind those of
  /// the one before.
  ///
  /// Returns at once when the operation is cancelled; those behind it go on waiting for those before it.
  func waitForTurn(of operation: ImportOperation) {
    let table = operation.table.name.lowercasedAsName
    let before = imports.withLock { imports in
      defer { imports[table, default: []].append(operation) }
      return imports[table] ?? []
    }
    guard !before.isEmpty else { return }
    // Runs nothing: it is ready when they have finished, or it is cancelled.
    let turn = Headway.BlockOperation {}
    for other in before { turn.addDependency(other) }
    operation.onCancel { turn.cancel() }
    turns.addOperation(turn)
    turn.waitUntilFinished()
  }

  /// Lets the next import into the operation's table begin, once those before it have ended too.
  func endTurn(of operation: ImportOperation) {
    let table = operation.table.name.lowercasedAsName
    // Released after the lock.
    let ended = imports.withLock { imports in
      imports[table]?.firstIndex { $0 === operation }.map { imports[table]?.remove(at: $0) }
    }
    withExtendedLifetime(ended) {}
  }

  /// Makes sure that tables without a key, where they are there, have no rows but those of these files.
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

  /// What there is of an import's table before it begins.
  struct Existing {
    /// The description, completed by what there is.
    var schema: TableSchema
    /// The names of the columns.
    var columns: [String] = []
    /// By the names, in lower case, of columns whose types an earlier import has found, these.
    var foundTypes: [String: ColumnType] = [:]
    /// By the names, in lower case, of columns that make numbers of text, what they make of it.
    var affinities: [String: NumberAffinity] = [:]
  }

  /// The names of the columns of a description's table; none if it is not there.
  func columns(of schema: TableSchema) throws -> [String] {
    try read { try ExistingTable(named: schema.name, $0)?.columnNames ?? [] }
  }

  /// Looks at the table of a description.
  func existing(_ schema: TableSchema, header: [String]) throws -> Existing {
    try read { connection in
      guard let table = try ExistingTable(named: schema.name, connection) else { return Existing(schema: schema) }
      let found = try ImportHistory.foundColumns(of: table.name, connection)
      return Existing(
        schema: table.completing(schema, header: header), columns: table.columnNames,
        foundTypes: table.numericTypes(of: found), affinities: table.numberAffinities)
    }
  }

  /// Reads at the side of the writing.
  func read<Answer>(_ body: (Database) throws -> Answer) throws -> Answer {
    do {
      return try pool.read(body)
    } catch let error as DatabaseError {
      throw ImportError(.database, path: path, message: "The database can't be read.", underlying: error)
    }
  }
}

/// Carries an answer from one thread to another that waits for the first.
private final class Box<Value>: @unchecked Sendable {  // Written before the operation finishes, read after.
  var value: Value?
}

extension Database {
  /// Runs statements that take long, and gives up soon after `mayGoOn` says no.
  ///
  /// Asked every 1,000 steps of SQLite's virtual machine: some microseconds.
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
