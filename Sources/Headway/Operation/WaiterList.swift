import Dispatch
import Synchronization

/// A blocked thread, a suspended task or a function to call that waits for one thing to happen.
enum Waiter: Sendable {
  case thread(DispatchSemaphore)
  case task(identifier: UInt64, UnsafeContinuation<Void, any Error>)
  /// One that waits on when it is cancelled.
  case patientTask(UnsafeContinuation<Void, Never>)
  /// It leads to no users' code.
  case handler(@Sendable () -> Void)

  /// That of a task, which may be taken out of its list again.
  var identifier: UInt64? {
    if case .task(let identifier, _) = self { identifier } else { nil }
  }

  /// Lets the waiter go on.
  ///
  /// Once, with no lock held.
  func wake() {
    switch self {
    case .thread(let semaphore): semaphore.signal()
    case .task(_, let continuation): continuation.resume()
    case .patientTask(let continuation): continuation.resume()
    case .handler(let handler): handler()
    }
  }
}

/// The threads and tasks that wait for one thing, in the order in which they came.
///
/// Its owner's lock protects it. To add a waiter, or to take a task out, takes constant time.
struct WaiterList {
  // An object, so that a list without waiters takes no more than a reference; the list is never copied.
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

  /// Takes out the waiter that has waited longest.
  mutating func removeFirst() -> Waiter? { waiters?.list.removeFirst() }

  /// Takes a task out again, if it has not been woken.
  mutating func remove(_ identifier: UInt64) -> Waiter? { waiters?.list.remove(identifier) }

  // MARK: Waiting

  /// Blocks the calling thread until woken; the pool is told, so that another thread takes its place.
  ///
  /// - Parameters:
  ///   - check: Called when the wait has become long, and again, ever more seldom.
  ///   - add: Puts the waiter into its list; false if there is nothing to wait for.
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

  /// Suspends the task until woken or cancelled.
  ///
  /// - Parameters:
  ///   - add: Puts the waiter into its list; false if there is nothing to wait for.
  ///   - remove: Takes it out again; nil if it has been woken, or was never put in.
  /// - Throws: `CancellationError`, when the task is cancelled first.
  static func suspend(
    adding add: @Sendable (Waiter) -> Bool, removing remove: @escaping @Sendable (UInt64) -> Waiter?
  ) async throws {
    let identifier = lastIdentifier.add(1, ordering: .relaxed).newValue
    let cancel: @Sendable () -> Void = {
      if case .task(_, let continuation)? = remove(identifier) { continuation.resume(throwing: CancellationError()) }
    }
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
        guard add(.task(identifier: identifier, continuation)) else { return continuation.resume() }
        // A cancellation before the waiter was in its list found nothing to take out.
        if Task.isCancelled { cancel() }
      }
    } onCancel: {
      cancel()
    }
  }

  /// Suspends the task until woken.
  ///
  /// - Parameter add: Puts the waiter into its list; false if there is nothing to wait for.
  static func suspend(adding add: (Waiter) -> Bool) async {
    await withUnsafeContinuation { continuation in
      if !add(.patientTask(continuation)) { continuation.resume() }
    }
  }
}
