import Dispatch
import Synchronization

/// A gate that holds threads and tasks until it is opened.
///
/// It then stays open.
///
/// With gates, a test forces the interleaving that it tests, instead of relying on sleeps:
///
/// ```swift
/// let (started, end) = (Gate(), Gate())
/// queue.addOperation {
///   started.open()
///   end.wait()
/// }
/// started.wait()
/// // Here the operation is running, and goes on running until:
/// end.open()
/// ```
public final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var tasks: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let semaphore = DispatchSemaphore(value: 0)

  /// Creates a closed gate.
  public init() {}

  /// Whether the gate has been opened.
  public var isOpen: Bool { state.withLock { $0.isOpen } }

  /// Opens the gate permanently.
  ///
  /// Calling this method again has no effect.
  public func open() {
    let tasks = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      defer { state.tasks = [] }
      if !state.isOpen { semaphore.signal() }
      state.isOpen = true
      return state.tasks
    }
    for task in tasks { task.resume() }
  }

  /// Blocks the calling thread until the gate is open.
  ///
  /// To the thread pool, this looks like any blocking system call.
  ///
  /// Tasks call ``untilOpen()`` instead. Swift has about as many threads for tasks as there are processors, so a few
  /// blocked tasks could keep the gate from being opened.
  @available(*, noasync, message: "This blocks the thread: await untilOpen() instead.")
  public func wait() {
    semaphore.wait()
    semaphore.signal()  // For the next waiting thread.
  }

  /// Suspends the task until the gate is open.
  ///
  /// Cancelling the task does not stop the wait.
  public func untilOpen() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.tasks.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}
