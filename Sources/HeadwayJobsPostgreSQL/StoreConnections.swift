#if PostgreSQL
import HeadwayJobs
import Synchronization

/// The connections of a store.
///
/// Each is opened when it is used for the first time.
final class StoreConnections: Sendable {
  /// Stores new jobs.
  let adding: PostgresConnection
  /// Records endings, and claims jobs.
  let exchanging: PostgresConnection
  /// Renews leases, listens, advances the store, and rescues jobs: only short tasks.
  let control: PostgresConnection
  /// Reads, and executes commands.
  let reading: PostgresConnection
  /// Runs transactions of the application.
  private let application: [PostgresConnection]

  /// The maximum number of transactions of the application at a time.
  private static let applicationCount = 4

  init(_ settings: ConnectionSettings, _ schema: SchemaName, _ leases: LeaseKeeper, _ hints: StoreHints) throws {
    var tasks = PostgresConnection.Tasks()
    tasks.work = { try hints.sendGathered($0, schema) }
    adding = try PostgresConnection(name: "headway-enqueue", settings, tasks: tasks)
    exchanging = try PostgresConnection(name: "headway-claim", settings, tasks: tasks)
    reading = try PostgresConnection(name: "headway-read", settings, tasks: tasks)
    application = try (0..<Self.applicationCount).map { _ in
      try PostgresConnection(name: "headway-user", settings, tasks: tasks)
    }
    tasks.isWanted = { hints.listens || !leases.isEmpty }
    let control = ControlTasks(schema, leases, hints)
    tasks.opened = { control.opened($0) }
    tasks.work = { try control.work($0) }
    tasks.received = { hints.receive($0) }
    self.control = try PostgresConnection(name: "headway-control", settings, tasks: tasks)
  }

  private var all: [PostgresConnection] { [adding, exchanging, control, reading] + application }

  /// The connection for a transaction of the application: the one with the fewest transactions.
  var forApplication: PostgresConnection {
    var (found, load) = (application[0], application[0].load)
    for connection in application.dropFirst() where load > 0 {
      let other = connection.load
      if other < load { (found, load) = (connection, other) }
    }
    return found
  }

  func close() async { for connection in all { await connection.close() } }

  func abandon() { for connection in all { connection.abandon() } }
}

/// The tasks of the control connection's thread in addition to requests.
private final class ControlTasks: Sendable {
  private let schema: SchemaName
  private let leases: LeaseKeeper
  private let hints: StoreHints
  private let isListening = Atomic(false)

  init(_ schema: SchemaName, _ leases: LeaseKeeper, _ hints: StoreHints) {
    (self.schema, self.leases, self.hints) = (schema, leases, hints)
  }

  func opened(_ session: PostgresSession) { isListening.store(false, ordering: .relaxed) }

  func work(_ session: PostgresSession) throws -> ContinuousClock.Instant? {
    if hints.listens, !isListening.load(ordering: .relaxed) {
      try hints.listen(session, schema)
      isListening.store(true, ordering: .relaxed)
    }
    for worker in leases.due() { try renew(worker, session) }
    let next = try hints.sendGathered(session, schema)
    return [next, leases.next].compactMap(\.self).min()
  }

  /// Renews a lease that has not expired.
  ///
  /// A lease that has expired is lost: ``LeaseKeeper`` reports it.
  private func renew(_ worker: WorkerID, _ session: PostgresSession) throws {
    let sent = ContinuousClock.now
    let renewed = try session.run(
      session.requestSettings + [
        Statement(
          schema.sql(
            """
            UPDATE headway.worker SET lease = clock_timestamp() + $2 * interval '1 microsecond'
            WHERE id = $1 AND lease > clock_timestamp() RETURNING id
            """), worker.rawValue, Int64(leases.length / .microseconds(1)))
      ])
    leases.renewed(worker, sent: sent, isRenewed: renewed.last?.isEmpty == false)
  }
}
#endif
