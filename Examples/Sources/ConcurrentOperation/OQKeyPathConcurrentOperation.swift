import Headway
import Synchronization

import class Foundation.Thread

/// `OQConcurrentOperation` with key paths instead of strings, so that the compiler detects a wrong name.
final class OQKeyPathConcurrentOperation: Operation, @unchecked Sendable {  // A lock protects all mutable state.
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
      willChangeValue(for: \.isFinished)
      states.withLock { $0.isFinished = true }
      didChangeValue(for: \.isFinished)
      return
    }

    willChangeValue(for: \.isExecuting)
    states.withLock { $0.isExecuting = true }
    didChangeValue(for: \.isExecuting)

    // Last, because the thread announces the end, which must follow the beginning.
    Thread.detachNewThread { self.main() }
  }

  override func main() {
    print("Start executing main")
    task()
    print("Finish executing main")

    willChangeValue(for: \.isExecuting)
    states.withLock { $0.isExecuting = false }
    didChangeValue(for: \.isExecuting)

    willChangeValue(for: \.isFinished)
    states.withLock { $0.isFinished = true }
    didChangeValue(for: \.isFinished)
  }
}
