#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// The connections of a store.
///
/// Each is opened when it is used for the first time.
final class StoreConnections: Sendable {
  /// Stores new jobs.
  let adding: PostgresConnection
  /// Records endings and claims jobs.
  let exchanging: PostgresConnection
  /// Listens, advances the store, and rescues jobs: only short tasks.
  let control: PostgresConnection
  /// Renews leases, and nothing else, so that no other work delays a renewal.
  let leasing: PostgresConnection
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
    var renewals = PostgresConnection.Tasks()
    renewals.isWanted = { !leases.isEmpty }
    renewals.work = { try leases.renewDue($0, schema) }
    leasing = try PostgresConnection(name: "headway-renew", settings, tasks: renewals)
    tasks.isWanted = { hints.listens }
    tasks.opened = { _ in hints.endListening() }
    tasks.work = {
      try hints.listen($0, schema)
      return try hints.sendGathered($0, schema)
    }
    tasks.received = { hints.receive($0) }
    self.control = try PostgresConnection(name: "headway-control", settings, tasks: tasks)
  }

  private var all: [PostgresConnection] { [adding, exchanging, control, leasing, reading] + application }

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
#endif
