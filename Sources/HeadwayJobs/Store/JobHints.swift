import Synchronization

/// The changes of a transaction, for observers.
@_spi(JobStore) public struct JobHints: Sendable {
  /// The queues with jobs that might be claimable.
  public var claimableQueues: Set<String> = []
  /// Whether the store might have to be advanced earlier than before.
  public var hasScheduled = false
  /// The jobs that have ended.
  public var finished: [JobID] = []
  /// The queues with a pending limit that might have room.
  public var queuesWithRoom: Set<String> = []
  /// Whether a running job was cancelled.
  public var hasCancellation = false
  /// The workers of this process whose leases could not be renewed in time.
  public var lostWorkers: Set<WorkerID> = []

  /// Creates empty hints.
  public init() {}

  /// Whether there is nothing to send to observers.
  public var isEmpty: Bool {
    claimableQueues.isEmpty && finished.isEmpty && queuesWithRoom.isEmpty && lostWorkers.isEmpty && !hasCancellation
      && !hasScheduled
  }

  /// Adds the hints of another transaction.
  public mutating func formUnion(_ other: JobHints) {
    claimableQueues.formUnion(other.claimableQueues)
    queuesWithRoom.formUnion(other.queuesWithRoom)
    lostWorkers.formUnion(other.lostWorkers)
    finished += other.finished
    hasScheduled = hasScheduled || other.hasScheduled
    hasCancellation = hasCancellation || other.hasCancellation
  }
}

/// The functions that a store calls with hints.
@_spi(JobStore) public final class HintObservers: Sendable {
  private struct State {
    var handlers: [Int: @Sendable (JobHint) -> Void] = [:]
    var lastNumber = 0
  }

  private let state = Mutex(State())

  /// Creates an empty list.
  public init() {}

  /// Adds a function.
  ///
  /// - Parameter handler: The function.
  /// - Returns: A token. Release it to end the calls.
  public func add(_ handler: @escaping @Sendable (JobHint) -> Void) -> any AnyObject & Sendable {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.handlers[state.lastNumber] = handler
      return state.lastNumber
    }
    return Token(self, number)
  }

  /// Calls the functions on this thread.
  ///
  /// - Parameter hints: The changes of a transaction.
  public func send(_ hints: JobHints) {
    guard !hints.isEmpty else { return }
    let handlers = state.withLock { Array($0.handlers.values) }
    for handler in handlers {
      for queue in hints.claimableQueues { handler(.claimable(queue: queue)) }
      if !hints.finished.isEmpty { handler(.finished(hints.finished)) }
      if hints.hasScheduled { handler(.scheduled) }
      if hints.hasCancellation { handler(.cancellationRequested) }
      for queue in hints.queuesWithRoom { handler(.room(queue: queue)) }
      for worker in hints.lostWorkers { handler(.leaseLost(worker)) }
    }
  }

  private func remove(_ number: Int) {
    // The function is released after the lock is released.
    _ = state.withLock { $0.handlers.removeValue(forKey: number) }
  }

  private final class Token: Sendable {
    private let observers: HintObservers
    private let number: Int

    init(_ observers: HintObservers, _ number: Int) { (self.observers, self.number) = (observers, number) }

    deinit { observers.remove(number) }
  }
}
