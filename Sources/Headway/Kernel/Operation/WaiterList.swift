import Dispatch
import Synchronization

/// A blocked thread, a suspended task or a function, which waits for one event.
enum Waiter: Sendable {
  case thread(DispatchSemaphore)
  case task(identifier: UInt64, UnsafeContinuation<Void, any Error>)
  /// A task that continues to wait when it is cancelled.
  case patientTask(UnsafeContinuation<Void, Never>)
  /// A function that runs no user code.
  case handler(@Sendable () -> Void)

  /// The identifier of a task, which can be removed from its list again; nil for other waiters.
  var identifier: UInt64? {
    if case .task(let identifier, _) = self { identifier } else { nil }
  }

  /// Wakes the waiter.
  ///
  /// Called once, with no lock held.
  func wake() {
    switch self {
    case .thread(let semaphore): semaphore.signal()
    case .task(_, let continuation): continuation.resume()
    case .patientTask(let continuation): continuation.resume()
    case .handler(let handler): handler()
    }
  }
}

/// The threads and tasks that wait for one event, in the order of arrival.
///
/// The owner's lock protects the list. Adding a waiter, and removing a task, take constant time.
struct WaiterList {
  // An object, so that a list without waiters stores only a reference. The list is never copied.
  private final class Waiters {
    @exclusivity(unchecked) var list = KeyedList<UInt64, Waiter>()
  }

  private var waiters: Waiters?

  var isEmpty: Bool { count == 0 }

  var count: Int { waiters?.list.count ?? 0 }

  mutating func append(_ waiter: Waiter) {
    let waiters = self.waiters ?? Waiters()
    self.waiters = waiters
    waiters.list.append(waiter, waiter.identifier)
  }

  mutating func removeAll() -> [Waiter] {
    defer { waiters = nil }
    return waiters?.list.values ?? []
  }

  /// Removes the waiter that has waited longest.
  mutating func removeFirst() -> Waiter? { waiters?.list.removeFirst() }

  /// Removes a task that has not been woken.
  mutating func remove(_ identifier: UInt64) -> Waiter? { waiters?.list.remove(identifier) }

  // MARK: Waiting

  /// Blocks the calling thread until it is woken.
  ///
  /// The pool is notified, and another thread replaces it.
  ///
  /// - Parameters:
  ///   - check: A function that is called when the wait has become long, and again at increasing intervals.
  ///   - add: Adds the waiter to its list; returns false if there is nothing to wait for.
  static func block(checking check: () -> Void = {}, adding add: (Waiter) -> Bool) {
    let semaphore = DispatchSemaphore(value: 0)
    guard add(.thread(semaphore)) else { return }
    ReleasedChain.threadBlocks()
    ThreadContext.threadBlocks()
    WorkerPool.blocking {
      var milliseconds = 50
      while semaphore.wait(timeout: .now() + .milliseconds(milliseconds)) == .timedOut {
        WorkerPool.retryMissingThreads()
        check()
        milliseconds = min(milliseconds * 2, 10_000)
      }
    }
  }

  private static let lastIdentifier = Atomic<UInt64>(0)

  /// A number that no other waiter has.
  static func nextIdentifier() -> UInt64 { lastIdentifier.add(1, ordering: .relaxed).newValue }

  /// Suspends the task until it is woken or cancelled.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the waiter.
  ///   - add: Adds the waiter to its list; returns false if there is nothing to wait for.
  ///   - remove: Removes the waiter from its list; returns nil if it has been woken or was never added.
  /// - Throws: `CancellationError` if the task is cancelled first.
  static func suspend(
    as identifier: UInt64 = nextIdentifier(), adding add: @Sendable (Waiter) -> Bool,
    removing remove: @escaping @Sendable (UInt64) -> Waiter?
  ) async throws {
    let cancel: @Sendable () -> Void = {
      if case .task(_, let continuation)? = remove(identifier) { continuation.resume(throwing: CancellationError()) }
    }
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
        guard add(.task(identifier: identifier, continuation)) else { return continuation.resume() }
        // A cancellation before the waiter was in its list found nothing to remove.
        if Task.isCancelled { cancel() }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Suspends the task until it is woken, even if it is cancelled.
  ///
  /// - Parameter add: Adds the waiter to its list; returns false if there is nothing to wait for.
  static func suspend(adding add: (Waiter) -> Bool) async {
    await withUnsafeContinuation { continuation in
      if !add(.patientTask(continuation)) { continuation.resume() }
    }
  }
}
