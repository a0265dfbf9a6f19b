// Operations with their own readiness.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// An operation with its own condition.
final class Gated: Operation, @unchecked Sendable {
  private let open = Shared(false)

  override var isReady: Bool { open.value && super.isReady }

  func set(_ isOpen: Bool, post: Bool) {
    if post { willChangeValue(for: \.isReady) }
    open.change { $0 = isOpen }
    if post { didChangeValue(for: \.isReady) }
  }
}

func readinessPosted() -> String {
  let operation = Gated()
  let queue = OperationQueue()
  queue.addOperation(operation)
  operation.set(true, post: true)
  return becomesTrue { operation.isFinished } ? "seen" : "not seen"
}

func readinessPostedByName() -> String {
  let operation = Gated()
  let queue = OperationQueue()
  queue.addOperation(operation)
  operation.set(true, post: false)
  operation.willChangeValue(forKey: "isReady")
  operation.didChangeValue(forKey: "isReady")
  return becomesTrue { operation.isFinished } ? "seen" : "not seen"
}

func readinessTakenBackInFullQueue() -> String {
  let queue = serialQueue()
  let end = DispatchSemaphore(value: 0)
  queue.addOperation { end.wait() }
  let operation = Gated()
  operation.set(true, post: false)
  queue.addOperation(operation)
  operation.set(false, post: true)
  operation.set(true, post: true)
  operation.set(false, post: true)
  end.signal()
  let startedEarly = becomesTrue(within: 0.5) { operation.isFinished }
  operation.set(true, post: true)
  let ran = becomesTrue { operation.isFinished }
  return "started all the same \(startedEarly); given again: ran \(ran)"
}

func readinessNotPosted() -> String {
  let operation = Gated()
  let queue = OperationQueue()
  queue.addOperation(operation)
  operation.set(true, post: false)
  return becomesTrue { operation.isFinished } ? "seen" : "not seen"
}

func readinessAskedAgain() -> String {
  let operation = Gated()
  let queue = OperationQueue()
  queue.addOperation(operation)
  operation.set(true, post: false)
  let end = DispatchSemaphore(value: 0)
  queue.addOperation { end.wait() }
  end.signal()
  return becomesTrue { operation.isFinished } ? "seen" : "not seen"
}

func readinessInNoQueue() -> String {
  final class Asked: Operation, @unchecked Sendable {
    let isAsked = Shared(false)
    override var isReady: Bool {
      guard super.isReady else { return false }
      isAsked.change { $0 = true }
      return true
    }
  }
  let (dependency, operation) = (BlockOperation {}, Asked())
  operation.addDependency(dependency)
  dependency.start()
  return "asked when the last dependency had finished: \(becomesTrue { operation.isAsked.value })"
}

func readinessTakenBack() -> String {
  let operation = Gated()
  let queue = OperationQueue()
  queue.isSuspended = true
  operation.set(true, post: true)
  queue.addOperation(operation)
  operation.set(false, post: true)
  queue.isSuspended = false
  let startedEarly = becomesTrue(within: 0.5) { operation.isFinished }
  operation.set(true, post: true)
  let ran = becomesTrue { operation.isFinished }
  return "started all the same \(startedEarly); given again: ran \(ran)"
}

func readinessAfterDependency() -> String {
  let dependency = BlockOperation {}
  let operation = Gated()
  operation.addDependency(dependency)
  let queue = OperationQueue()
  queue.addOperation(operation)
  queue.addOperation(dependency)
  dependency.waitUntilFinished()
  operation.set(true, post: true)
  return becomesTrue { operation.isFinished } ? "seen" : "not seen"
}

func readinessSerialQueue() -> String {
  let operation = Gated()
  let queue = serialQueue()
  queue.addOperation(operation)
  for _ in 0..<3 { queue.addOperation {} }
  usleep(200_000)
  operation.set(true, post: true)
  let ran = becomesTrue { operation.isFinished }
  return "limit 1, three others behind it: ran \(ran), operationCount \(queue.operationCount)"
}

func cancelledBeforeReady() -> String {
  let operation = Gated()
  let queue = OperationQueue()
  queue.addOperation(operation)
  operation.cancel()
  return becomesTrue { operation.isFinished } ? "finished" : "a cancelled operation waits for its own isReady"
}
