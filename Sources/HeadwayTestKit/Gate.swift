import Dispatch
import Synchronization

/// A door that threads and tasks wait at until it is opened; it stays open.
///
/// With gates a test forces the interleaving that it is about, in place of hoping for it with sleeps:
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

  /// Creates a gate that is closed.
  public init() {}

  /// Whether the gate has been opened.
  public var isOpen: Bool { state.withLock { $0.isOpen } }

  /// Opens the gate, for good.
  ///
  /// Doing it again changes nothing.
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
  /// To the pool it looks like any system call that blocks.
  public func wait() {
    semaphore.wait()
    semaphore.signal()  // For the next.
  }

  /// Suspends the task until the gate is open.
  ///
  /// Cancelling the task does not end the wait.
  public func opened() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.tasks.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}
