// Operations with their own `isFinished`.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// Overrides `isFinished`, and by default announces its end in `main()`.
final class OwnState: Operation, @unchecked Sendable {
  private let isDone = Shared(false)
  private let endsInMain: Bool

  init(endsInMain: Bool = true) { self.endsInMain = endsInMain }

  override var isFinished: Bool { isDone.value }

  override func start() {
    if isCancelled { end() } else { super.start() }
  }

  override func main() { if endsInMain { end() } }

  func end() {
    willChangeValue(for: \.isFinished)
    isDone.change { $0 = true }
    didChangeValue(for: \.isFinished)
  }
}

/// Simulates overrides of `cancel()` that finish the operation immediately.
func finishedBeforeStart() -> String {
  let queue = OperationQueue()
  for _ in 0..<200 {
    queue.isSuspended = true
    for _ in 0..<10 {
      let operation = OwnState()
      queue.addOperation(operation)
      operation.end()
    }
    queue.isSuspended = false
    for _ in 0..<10 { queue.addOperation {} }
  }
  queue.waitUntilAllOperationsAreFinished()
  return "2,000 have left the queue, others run"
}

func stateAfterMain() -> String {
  let operation = OwnState(endsInMain: false)
  let queue = OperationQueue()
  queue.addOperation(operation)
  usleep(100_000)
  let (isExecuting, count) = (operation.isExecuting, queue.operationCount)
  operation.end()
  queue.waitUntilAllOperationsAreFinished()
  return "main() has returned: isExecuting \(isExecuting), operationCount \(count)"
}
