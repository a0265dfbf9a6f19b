import Dispatch

extension OperationQueueProtocol {
  /// Records when operations are added and started, for the snapshots and dumps of the queue.
  ///
  /// Snapshots set ``OperationSnapshot/timeSinceAdded`` and ``OperationSnapshot/timeSinceStarted`` for the operations
  /// that are added after this call.
  ///
  /// - Returns: The registration, which can end the recording. If the queue already records times, the registration has
  ///   no effect.
  /// - Complexity: O(1). The queue has an instrument afterward: see ``OperationQueueProtocol/addInstrument(_:)``.
  @_disfavoredOverload
  @discardableResult
  public func recordTimes() -> InstrumentRegistration {
    instruments?.times == nil ? addInstrument(OperationTimes()) : InstrumentRegistration {}
  }
}

/// Remembers when the operations of a queue were added and started.
final class OperationTimes: OperationQueueInstrument {
  /// In nanoseconds of uptime.
  private struct Times {
    let added: UInt64
    var started: UInt64?
  }

  // Protected by its lock. Nothing is called under it.
  private let times = Guarded<[ObjectIdentifier: Times]>([:])

  private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  func willAdd(_ operation: Operation, to queue: OperationQueue) {
    let now = Self.now
    times.withLock { $0[ObjectIdentifier(operation)] = Times(added: now) }
  }

  func start(_ operation: Operation, in queue: OperationQueue, by body: () -> Void) {
    let now = Self.now
    times.withLock { $0[ObjectIdentifier(operation)]?.started = now }
    body()
  }

  func didFinish(_ operation: Operation, in queue: OperationQueue) {
    times.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(operation)) }
  }

  /// How long ago the operation was added and started.
  func ages(of operation: Operation) -> (added: Duration?, started: Duration?) {
    let (times, now) = (times.withLock { $0[ObjectIdentifier(operation)] }, Self.now)
    return (times.map { .nanoseconds(now - $0.added) }, times?.started.map { .nanoseconds(now - $0) })
  }
}
