import Headway
import Synchronization

import class Foundation.Thread

/// An operation that continues after `start()` has returned, on its own thread, and manages its states itself.
///
/// `AsynchronousOperation` does all of this for its subclasses. This example shows how to do it without that class:
/// override the four members, and announce each change. Here the properties are named by strings; in
/// `OQKeyPathConcurrentOperation` by key paths.
final class OQConcurrentOperation: Operation, @unchecked Sendable {  // A lock protects all mutable state.
  private struct States {
    var isExecuting = false
    var isFinished = false
  }

  private let states = Mutex(States())
  private let task: @Sendable () -> Void

  init(task: @escaping @Sendable () -> Void) {
    self.task = task
    super.init()
  }

  override var isAsynchronous: Bool { true }

  override var isExecuting: Bool { states.withLock { $0.isExecuting } }

  override var isFinished: Bool { states.withLock { $0.isFinished } }

  override func start() {
    // A cancelled operation must also finish; otherwise its dependents would wait forever.
    if isCancelled {
      willChangeValue(forKey: "isFinished")
      states.withLock { $0.isFinished = true }
      didChangeValue(forKey: "isFinished")
      return
    }

    willChangeValue(forKey: "isExecuting")
    states.withLock { $0.isExecuting = true }
    didChangeValue(forKey: "isExecuting")

    // Last, because the thread announces the end, which must follow the beginning.
    Thread.detachNewThread { self.main() }
  }

  override func main() {
    print("Start executing main")
    task()
    print("Finish executing main")

    willChangeValue(forKey: "isExecuting")
    states.withLock { $0.isExecuting = false }
    didChangeValue(forKey: "isExecuting")

    willChangeValue(forKey: "isFinished")
    states.withLock { $0.isFinished = true }
    didChangeValue(forKey: "isFinished")
  }
}
