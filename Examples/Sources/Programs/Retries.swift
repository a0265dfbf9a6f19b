// Operations that retry when they fail, up to a maximum number of times.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// Retries in a loop until it announces that it has finished.
///
/// Overrides `main()`.
private final class Retrying: Operation, @unchecked Sendable {
  private let lock = NSLock()
  private var isDone = false
  private(set) var attempt = 0
  private(set) var hasSucceeded = false
  private let maximum: Int
  private let work: @Sendable (Retrying) -> Bool

  init(maximum: Int, work: @escaping @Sendable (Retrying) -> Bool) {
    self.maximum = maximum
    self.work = work
  }

  override var isFinished: Bool { lock.withLock { isDone } }

  override func main() {
    while !isFinished && !isCancelled {
      attempt += 1
      hasSucceeded = work(self)
      if hasSucceeded || attempt == maximum { end() }
    }
    end()
  }

  private func end() {
    guard !isFinished else { return }
    willChangeValue(forKey: "isFinished")
    lock.withLock { isDone = true }
    didChangeValue(forKey: "isFinished")
  }

  override func start() {
    // An operation that was cancelled before does not reach main().
    guard !isCancelled else { return end() }
    super.start()
  }
}

/// Calls `main()` again if a response is bad.
///
/// Overrides `start()`.
private class RetryingRequest: StatefulOperation, @unchecked Sendable {
  private(set) var attempt = 0
  private let maximum: Int
  private let server: Server
  private let log: Log

  init(maximum: Int, server: Server, log: Log) {
    self.maximum = maximum
    self.server = server
    self.log = log
  }

  override func start() {
    attempt = 1
    super.start()
  }

  override func main() {
    guard !isFinished else { return log.note("begun again after the end") }
    let number = attempt
    server.request("attempt \(number)") { [self] text in
      log.note("attempt \(number): \(text)")
      guard text != "ok", attempt < maximum, !isCancelled else { return finish() }
      attempt += 1
      main()
    }
  }
}

let retries: Program = [
  ("succeeds at the third attempt", retryLoop), ("gives up", retryGivesUp),
  ("cancelled between attempts", retryCancelled),
  ("cancelled before the start", retryCancelledBefore), ("asynchronous", retryAsynchronous),
  ("asynchronous, gives up", retryAsynchronousGivesUp), ("asynchronous, cancelled", retryAsynchronousCancelled),
]

@Sendable private func run(_ operation: Retrying, _ log: Log) {
  let (completed, dependent) = (Gate(), BlockOperation { log.note("dependent") })
  operation.completionBlock = { completed.open() }
  dependent.addDependency(operation)
  let queue = makeQueue(limit: 1)
  queue.addOperations([operation, dependent], waitUntilFinished: true)
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("attempts \(operation.attempt), succeeded \(operation.hasSucceeded), \(operation.outcomeFlags)")
}

@Sendable private func retryLoop(_ log: Log) {
  let operation = Retrying(maximum: 5) { operation in
    log.note("attempt \(operation.attempt), finished \(operation.isFinished), executing \(operation.isExecuting)")
    return operation.attempt == 3
  }
  run(operation, log)
}

@Sendable private func retryGivesUp(_ log: Log) { run(Retrying(maximum: 4) { _ in false }, log) }

@Sendable private func retryCancelled(_ log: Log) {
  let operation = Retrying(maximum: 5) { operation in
    if operation.attempt == 2 { operation.cancel() }
    return false
  }
  run(operation, log)
}

@Sendable private func retryCancelledBefore(_ log: Log) {
  let operation = Retrying(maximum: 5) { _ in
    log.note("a cancelled operation ran")
    return true
  }
  operation.cancel()
  log.note("cancelled in no queue: \(operation.outcomeFlags)")
  run(operation, log)
}

@Sendable private func retryAsynchronous(_ log: Log) {
  let server = Server()
  let operation = RetryingRequest(maximum: 5, server: server, log: log)
  let queue = makeQueue(limit: 1)
  queue.addOperation(operation)
  queue.addOperation { log.note("the next one") }
  server.answer("attempt 1", with: "timed out")
  server.answer("attempt 2", with: "unavailable")
  let answer = server.awaitRequest("attempt 3")
  letOthersRun()
  log.note("before the third answer: \(operation.outcomeFlags), in the queue: \(queue.operationCount)")
  answer("ok")
  queue.waitUntilAllOperationsAreFinished()
  log.note("attempts \(operation.attempt), \(operation.outcomeFlags)")
}

@Sendable private func retryAsynchronousGivesUp(_ log: Log) {
  let server = Server()
  let operation = RetryingRequest(maximum: 2, server: server, log: log)
  let queue = makeQueue()
  queue.addOperation(operation)
  server.answer("attempt 1", with: "timed out")
  server.answer("attempt 2", with: "timed out")
  queue.waitUntilAllOperationsAreFinished()
  operation.main()
  log.note("attempts \(operation.attempt), \(operation.outcomeFlags)")
}

@Sendable private func retryAsynchronousCancelled(_ log: Log) {
  let server = Server()
  let operation = RetryingRequest(maximum: 5, server: server, log: log)
  let queue = makeQueue()
  queue.addOperation(operation)
  let answer = server.awaitRequest("attempt 1")
  queue.cancelAllOperations()
  answer("timed out")
  queue.waitUntilAllOperationsAreFinished()
  log.note("attempts \(operation.attempt), \(operation.outcomeFlags)")
}
