#if PostgreSQL
@_spi(JobStore) import HeadwayJobs
import Synchronization

/// The hints of a store: to observers in this process, and by notifications to and from other processes.
final class StoreHints: Sendable {
  let observers = HintObservers()
  let gate = HintGate()
  // Whether the control connection must listen, and whether it does.
  private let mustListen = Atomic(false)
  private let isListening = Atomic(false)
  /// 0 if it is not known whether there are notifications, 1 if there are, 2 if a pooler or a standby prevents them.
  private let notificationState = Atomic(0)

  /// Notifies observers in this process and notes the hints for other processes.
  func send(_ hints: JobHints) {
    guard !hints.isEmpty else { return }
    observers.send(hints)
    gate.add(hints)
  }

  /// Makes the control connection listen.
  func beginListening() { mustListen.store(true, ordering: .sequentiallyConsistent) }

  var listens: Bool { mustListen.load(ordering: .sequentiallyConsistent) }

  /// Notes that the control connection was opened again.
  func endListening() { isListening.store(false, ordering: .relaxed) }

  var lacksNotifications: Bool? {
    switch notificationState.load(ordering: .relaxed) {
    case 1: false
    case 2: true
    default: nil
    }
  }

  /// Begins to listen on the control connection, if that is necessary.
  func listen(_ session: PostgresSession, _ schema: SchemaName) throws {
    guard listens, !isListening.load(ordering: .relaxed) else { return }
    let lacksNotifications = session.isPooled || session.isStandby
    notificationState.store(lacksNotifications ? 2 : 1, ordering: .relaxed)
    if !lacksNotifications { _ = try session.run(Statement(SessionSQL.listen(schema.channel))) }
    isListening.store(true, ordering: .relaxed)
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
