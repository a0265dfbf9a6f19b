import Headway
import Synchronization

import class Foundation.Thread

/// An operation that goes on after `start()` has returned, on a thread of its own, and keeps its states itself.
///
/// `AsynchronousOperation` does all of this for its subclasses. This is how it is done without it: override the four
/// members, and announce each change. Here the properties are named by strings, in `OQKeyPathConcurrentOperation` by
/// key paths.
final class OQConcurrentOperation: Operation, @unchecked Sendable {  // What changes has a lock.
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
    // A cancelled operation has to finish too, or what depends on it would wait for ever.
    if isCancelled {
      willChangeValue(forKey: "isFinished")
      states.withLock { $0.isFinished = true }
      didChangeValue(forKey: "isFinished")
      return
    }

    willChangeValue(forKey: "isExecuting")
    states.withLock { $0.isExecuting = true }
    didChangeValue(forKey: "isExecuting")

    // Last: the thread announces the end, which has to come after the beginning.
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
