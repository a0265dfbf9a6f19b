#if PostgreSQL
@_spi(JobStore) import HeadwayJobs
import Synchronization

/// The hints of a store: to observers in this process, and by notifications to and from other processes.
final class StoreHints: Sendable {
  let observers = HintObservers()
  let gate = HintGate()
  private let isListening = Atomic(false)
  /// 0 if it is not known whether there are notifications, 1 if there are, 2 if a pooler or a standby prevents them.
  private let notificationState = Atomic(0)

  /// Notifies observers in this process, and notes the hints for other processes.
  func send(_ hints: JobHints) {
    guard !hints.isEmpty else { return }
    observers.send(hints)
    gate.add(hints)
  }

  /// Makes the control connection listen.
  func beginListening() { isListening.store(true, ordering: .sequentiallyConsistent) }

  var listens: Bool { isListening.load(ordering: .sequentiallyConsistent) }

  var lacksNotifications: Bool? {
    switch notificationState.load(ordering: .relaxed) {
    case 1: false
    case 2: true
    default: nil
    }
  }

  /// Begins to listen on a connection that was opened.
  func listen(_ session: PostgresSession, _ schema: SchemaName) throws {
    let lacksNotifications = session.isPooled || session.isStandby
    notificationState.store(lacksNotifications ? 2 : 1, ordering: .relaxed)
    guard !lacksNotifications else { return }
    _ = try session.run(Statement(SessionSQL.listen(schema.channel)))
  }

  /// Passes on a notification of another process.
  func receive(_ text: String) { if let hints = gate.decode(text) { observers.send(hints) } }

  /// Sends the gathered hints if it is time.
  ///
  /// - Returns: When to call the function again; nil if there are no hints.
  func sendGathered(_ session: PostgresSession, _ schema: SchemaName) throws -> ContinuousClock.Instant? {
    if let text = gate.take() { _ = try session.run(Statement(SessionSQL.notify, schema.channel, text)) }
    return gate.next
  }
}
#endif
