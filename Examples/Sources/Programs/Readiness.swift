// When an override of `isReady` is called.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// Records its calls and is ready when the program makes it ready.
private final class Held: Operation, @unchecked Sendable {
  private let lock = NSLock()
  private var isOpen: Bool
  private let log: Log
  private let asked: @Sendable () -> Void

  init(isOpen: Bool = true, log: Log, asked: @escaping @Sendable () -> Void = {}) {
    self.isOpen = isOpen
    self.log = log
    self.asked = asked
  }

  override var isReady: Bool {
    guard super.isReady else { return false }
    asked()
    return lock.withLock { isOpen }
  }

  func open(posts: Bool) {
    if posts { willChangeValue(for: \.isReady) }
    lock.withLock { isOpen = true }
    if posts { didChangeValue(for: \.isReady) }
  }

  override func main() { log.note("runs") }
}

let readiness: Program = [
  ("asked when the last dependency ends", readinessLast),
  ("asked when the only dependency was cancelled", readinessCancelled),
  ("held back, asked again when the queue takes in another", readinessAgain),
  ("held back, given by a post", readinessPosted), ("given before it is added", readinessBefore),
  ("after dependencies in another queue", readinessOtherQueue),
]

@Sendable private func readinessLast(_ log: Log) {
  let asked = Gate()
  let queue = makeQueue(limit: 1)
  let (first, second) = (BlockOperation { log.note("first") }, BlockOperation { log.note("second") })
  let operation = Held(log: log) { asked.open() }
  operation.addDependency(first)
  operation.addDependency(second)
  queue.addOperations([first, second], waitUntilFinished: true)
  asked.wait()
  log.note("asked in no queue: \(operation.flags)")
  operation.start()
  log.note("started manually: \(operation.outcomeFlags)")
}

@Sendable private func readinessCancelled(_ log: Log) {
  let asked = Gate()
  let queue = makeQueue(isSuspended: true)
  let first = BlockOperation { log.note("a cancelled operation ran") }
  let operation = Held(log: log) { asked.open() }
  operation.addDependency(first)
  queue.addOperation(first)
  first.cancel()
  queue.isSuspended = false
  asked.wait()
  log.note("asked in no queue: \(operation.flags)")
}

@Sendable private func readinessAgain(_ log: Log) {
  let queue = makeQueue()
  let operation = Held(isOpen: false, log: log)
  queue.addOperation(operation)
  letOthersRun()
  operation.open(posts: false)
  let end = Gate()
  queue.addOperation { end.wait() }
  end.open()
  queue.waitUntilAllOperationsAreFinished()
  log.note("at the end: \(operation.outcomeFlags)")
}

@Sendable private func readinessPosted(_ log: Log) {
  let queue = makeQueue(limit: 1)
  let operation = Held(isOpen: false, log: log)
  queue.addOperation(operation)
  queue.addOperations([BlockOperation { log.note("another one overtakes it") }], waitUntilFinished: true)
  log.note("held back: \(operation.flags)")
  operation.open(posts: true)
  queue.waitUntilAllOperationsAreFinished()
  log.note("at the end: \(operation.outcomeFlags)")
}

@Sendable private func readinessBefore(_ log: Log) {
  let queue = makeQueue()
  let operation = Held(isOpen: false, log: log)
  operation.open(posts: false)
  queue.addOperation(operation)
  queue.waitUntilAllOperationsAreFinished()
}

@Sendable private func readinessOtherQueue(_ log: Log) {
  let (queue, other, end) = (makeQueue(), makeQueue(), Gate())
  let first = BlockOperation {
    end.wait()
    log.note("first")
  }
  let operation = Held(log: log)
  operation.addDependency(first)
  queue.addOperation(operation)
  other.addOperation(first)
  letOthersRun()
  log.note("waits: \(operation.flags)")
  end.open()
  queue.waitUntilAllOperationsAreFinished()
}
