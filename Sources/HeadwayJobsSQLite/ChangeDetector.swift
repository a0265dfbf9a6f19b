#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs
import Synchronization

/// Detects whether a database has changed since something was read, without reading it again.
///
/// An idle worker requests the same data from the store once per second. Each answer is kept with the version that the
/// database had before the answer was read. It is valid as long as the database has that version.
final class ChangeDetector: Sendable {
  /// A number that changes with each commit of any process (`PRAGMA data_version`).
  typealias Version = Int

  /// The answers that were read from one version of the database.
  ///
  /// An answer is nil if it must be read.
  struct Answers {
    fileprivate var version: Version?
    var workers: [WorkerID]?
    /// When the next tick or job is due, with nil as the inner value if nothing will be due.
    var next: StoreTime??
    /// Whether the database is known to contain no job that waits for a worker.
    var nothingWaits = false
  }

  private enum Connection {
    case unopened
    /// Nil if the configuration of the application does not permit another connection.
    case open(DatabaseQueue?)
    case closed
  }

  private let path: String
  private let configuration: Configuration
  // A separate connection, because the number does not count the commits of the connection that reads it. It is opened
  // by the first worker.
  private let connection = Mutex(Connection.unopened)
  private let answers = Mutex(Answers())

  init(_ pool: DatabasePool) {
    var configuration = pool.configuration
    configuration.readonly = true
    configuration.label = "headway jobs changes"
    configuration.busyMode = .immediateError
    path = pool.path
    self.configuration = configuration
  }

  /// Returns the version of the database; nil if it can't be read now, or if its file was deleted or moved.
  func version() -> Version? {
    try? opened()?.unsafeRead { database in
      try database.checkFile()
      return try Int.fetchOne(database.cachedStatement(sql: FindingsSQL.dataVersion))
    }
  }

  private func opened() -> DatabaseQueue? {
    switch connection.withLock({ $0 }) {
    case .open(let queue): return queue
    case .closed: return nil
    case .unopened:
      // Not under the lock, because this calls functions of the application.
      let queue = try? DatabaseQueue(path: path, configuration: configuration)
      return connection.withLock { connection in
        // Another thread can have opened or closed it in the meantime.
        if case .unopened = connection { connection = .open(queue) }
        if case .open(let queue) = connection { return queue }
        return nil
      }
    }
  }

  func close() {
    let last = connection.withLock { connection in
      defer { connection = .closed }
      return connection
    }
    if case .open(let queue) = last { try? queue?.close() }
  }

  // MARK: Answers

  /// Returns what was read from a version of the database.
  func answers(at version: Version?) -> Answers {
    answers.withLock { $0.version == version && version != nil ? $0 : Answers() }
  }

  /// Notes what was read from a version of the database.
  func note(at version: Version?, _ body: (inout Answers) -> Void) {
    guard let version else { return }
    answers.withLock { answers in
      if answers.version != version { answers = Answers(version: version) }
      body(&answers)
    }
  }
}
#endif
