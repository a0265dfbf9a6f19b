/// Changes that have happened and of which observers are still to be notified, by a thread that has something more
/// urgent to do first.
struct PendingNotifications {
  private final class Storage {
    var queues: [(queue: OperationQueue, observers: ObserverList)] = []
    var operations: [(operation: Operation, change: ObservedChange?)] = []
  }

  /// Made when there is something: mostly there is nothing.
  private var storage: Storage?

  var isEmpty: Bool { storage == nil }

  private mutating func madeStorage() -> Storage {
    let made = storage ?? Storage()
    storage = made
    return made
  }

  mutating func append(_ observers: ObserverList, of queue: OperationQueue) {
    madeStorage().queues.append((queue, observers))
  }

  mutating func append(_ change: ObservedChange, of operation: Operation) {
    madeStorage().operations.append((operation, change))
  }

  /// Keeps an operation until then: releasing it may run code of the user's.
  mutating func keep(_ operation: Operation) { madeStorage().operations.append((operation, nil)) }

  /// Has another thread notify the observers: the calling one has claimed an operation, for which they may wait.
  ///
  /// - Parameter executor: What runs the operations in place of threads of the pool, or of a dispatch queue: one that
  ///   does so step by step notifies at once.
  func send(besides executor: (any WorkExecutor)?) {
    guard !isEmpty else { return }
    guard executor?.isStepwise != true else { return send() }
    nonisolated(unsafe) let notifications = self  // Handed over as a whole.
    WorkerPool.shared.submit(PoolBlock { notifications.send() }, count: 1)
  }

  /// Notifies the observers of the end of an operation of `queue`: on another thread, if this one may be the only one
  /// of a dispatch queue, for whose other operations they may wait.
  func send(after queue: OperationQueue?) {
    if queue?.state.withLock({ $0.underlyingQueue }) != nil { send(besides: nil) } else { send() }
  }

  /// Notifies the observers.
  ///
  /// Called with no lock held.
  @inline(__always)
  func send() {
    if let storage { Self.send(storage) }
  }

  // By itself: it is long, and `send()`, which mostly has nothing to do, is in the path of every operation.
  @inline(never)
  private static func send(_ storage: Storage) {
    for (queue, observers) in storage.queues {
      queue.notify(observers)
      queue.lookForStallIfIdle()
    }
    for (operation, change) in storage.operations {
      if let change { operation.notify([change]) }
    }
  }
}
