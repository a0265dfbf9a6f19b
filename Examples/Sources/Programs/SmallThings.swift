// Small things that programs do.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

let smallThings: Program = [
  ("the main dispatch queue as underlying", underlyingMain), ("properties of the main queue", mainProperties),
  ("a block added after a cancellation", blockAfterCancel),
  ("a dependency added while executing", dependencyWhileExecuting),
  ("dependencies in the completion block", dependenciesInCompletion),
  ("a result read through dependencies in the completion block", resultInCompletion),
  ("the completion block adds the next operation", completionAdds),
  ("waiting for a queue from an operation of another", waitingAcross),
  ("waiting for its own queue after its end", waitingAfterEnd),
  ("a wait that a raised limit ends", waitRaisedLimit), ("a wait that a cancellation ends", waitCancelled),
  ("a wait for itself that an asynchronous end ends", waitForItself),
  ("a wait for its own queue that an asynchronous end ends", waitForOwnQueue),
]

/// Waits as long as it takes to detect operations that wait for each other.
@Sendable private func letWaitsBeFound() { usleep(300_000) }

@Sendable private func underlyingMain(_ log: Log) {
  let queue = makeQueue()
  queue.name = "for the screen"
  queue.underlyingQueue = .main
  log.note("underlying: \(queue.underlyingQueue?.label ?? "none")")
  let first = BlockOperation { log.note("on the main thread: \(Thread.isMainThread)") }
  let second = BlockOperation { log.note("second on the main thread: \(Thread.isMainThread)") }
  second.addDependency(first)
  queue.addOperations([second, first], waitUntilFinished: true)
  queue.waitUntilAllOperationsAreFinished()
  let other = BlockOperation { log.note("in the main queue: \(OperationQueue.current === OperationQueue.main)") }
  OperationQueue.main.addOperations([other], waitUntilFinished: true)
}

@Sendable private func mainProperties(_ log: Log) {
  let main = OperationQueue.main
  let before = (main.name, main.maxConcurrentOperationCount)
  main.maxConcurrentOperationCount = 5
  main.isSuspended = true
  main.name = "mine"
  main.qualityOfService = .background
  main.underlyingQueue = .global()
  log.note("limit \(main.maxConcurrentOperationCount), suspended \(main.isSuspended)")
  log.note("as before: name \(main.name == before.0), limit \(main.maxConcurrentOperationCount == before.1)")
  log.note("quality of service changed: \(main.qualityOfService == .background)")
  log.note("underlying: \(main.underlyingQueue?.label ?? "none")")
  let operation = BlockOperation { log.note("runs on the main thread: \(Thread.isMainThread)") }
  main.addOperations([operation], waitUntilFinished: true)
}

@Sendable private func blockAfterCancel(_ log: Log) {
  let operation = BlockOperation { log.note("a block of a cancelled operation ran") }
  operation.cancel()
  operation.addExecutionBlock { log.note("an added block ran") }
  makeQueue().addOperations([operation], waitUntilFinished: true)
  log.note("cancelled in no queue: \(operation.outcomeFlags)")
  let queue = makeQueue(isSuspended: true)
  let queued = BlockOperation { log.note("a block of a cancelled operation ran") }
  queue.addOperation(queued)
  queued.cancel()
  queued.addExecutionBlock { log.note("an added block ran") }
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
  log.note("cancelled in a queue: \(queued.outcomeFlags)")
}

@Sendable private func dependencyWhileExecuting(_ log: Log) {
  let (begun, end, never) = (Gate(), Gate(), Operation())
  let operation = BlockOperation {
    begun.open()
    end.wait()
    log.note("runs to its end")
  }
  let dependent = BlockOperation { log.note("dependent") }
  dependent.addDependency(operation)
  let queue = makeQueue()
  queue.addOperations([operation, dependent], waitUntilFinished: false)
  begun.wait()
  operation.addDependency(never)
  operation.addDependency(never)
  log.note("executing \(operation.isExecuting)")
  end.open()
  queue.waitUntilAllOperationsAreFinished()
  log.note("at the end: \(operation.outcomeFlags)")
}

@Sendable private func dependenciesInCompletion(_ log: Log) {
  let (first, second, last) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
  let completed = Gate()
  last.addDependency(first)
  last.addDependency(second)
  last.completionBlock = { [unowned last] in
    log.note("dependencies: \(last.dependencies.count), the first one: \(last.dependencies.first === first)")
    completed.open()
  }
  makeQueue().addOperations([last, second, first], waitUntilFinished: true)
  completed.wait()
}

/// Provides the value that it has created.
private final class Making: Operation, @unchecked Sendable {
  private(set) var result: Int?

  override func main() { result = dependencies.compactMap { ($0 as? Making)?.result }.reduce(1, +) }
}

@Sendable private func resultInCompletion(_ log: Log) {
  let queue = makeQueue()
  let operations = (0..<5).map { _ in Making() }
  let completed = DispatchGroup()
  for (number, operation) in operations.enumerated() {
    for earlier in operations[..<number] { operation.addDependency(earlier) }
    completed.enter()
    operation.completionBlock = { [unowned operation] in
      let sum = operation.dependencies.compactMap { ($0 as? Making)?.result }.reduce(1, +)
      log.note("\(number): \(operation.result ?? 0), again \(sum)")
      completed.leave()
    }
  }
  queue.addOperations(operations, waitUntilFinished: true)
  completed.wait()
  for line in log.take().sorted() { log.note(line) }
}

@Sendable private func completionAdds(_ log: Log) {
  let queue = makeQueue(limit: 1)
  let done = Gate()
  let (first, second) = (BlockOperation { log.note("first") }, BlockOperation { log.note("second") })
  first.completionBlock = { queue.addOperation(second) }
  second.completionBlock = { done.open() }
  queue.addOperation(first)
  done.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("in the queue: \(queue.operationCount)")
}

@Sendable private func waitingAcross(_ log: Log) {
  let (queue, other) = (makeQueue(limit: 1), makeQueue(limit: 1))
  queue.addOperation {
    other.addOperation { log.note("inner") }
    other.waitUntilAllOperationsAreFinished()
    log.note("outer")
  }
  queue.waitUntilAllOperationsAreFinished()
}

/// Announces its end in `start()`, and then waits for its queue.
private final class Patient: StatefulOperation, @unchecked Sendable {
  private let log: Log
  private let queue: OperationQueue
  let waited = Gate()

  init(waitingFor queue: OperationQueue, log: Log) {
    self.queue = queue
    self.log = log
  }

  override func main() {
    finish()
    queue.waitUntilAllOperationsAreFinished()
    log.note("waited for the queue")
    waited.open()
  }
}

@Sendable private func waitingAfterEnd(_ log: Log) {
  let queue = makeQueue(limit: 1)
  let operation = Patient(waitingFor: queue, log: log)
  queue.addOperation(operation)
  queue.addOperations([BlockOperation {}], waitUntilFinished: true)
  operation.waited.wait()
  log.note("at the end: \(operation.outcomeFlags)")
}

@Sendable private func waitRaisedLimit(_ log: Log) {
  let queue = makeQueue(limit: 1)
  let begun = Gate()
  let second = BlockOperation { log.note("second") }
  queue.addOperation {
    begun.open()
    second.waitUntilFinished()
    log.note("first")
  }
  begun.wait()
  queue.addOperation(second)
  letWaitsBeFound()
  queue.maxConcurrentOperationCount = 2
  queue.waitUntilAllOperationsAreFinished()
}

@Sendable private func waitCancelled(_ log: Log) {
  let queue = makeQueue()
  let begun = Gate()
  let second = BlockOperation { log.note("a cancelled operation ran") }
  let first = BlockOperation {
    begun.open()
    second.waitUntilFinished()
    log.note("first, when second is: \(second.outcomeFlags)")
  }
  second.addDependency(first)
  queue.addOperations([first, second], waitUntilFinished: false)
  begun.wait()
  letWaitsBeFound()
  second.cancel()
  queue.waitUntilAllOperationsAreFinished()
}

/// Waits in `main()`, which its `start()` calls.
///
/// Another thread ends it.
private final class WaitingRequest: StatefulOperation, @unchecked Sendable {
  private let server: Server
  private let work: @Sendable (WaitingRequest) -> Void

  init(server: Server, work: @escaping @Sendable (WaitingRequest) -> Void) {
    self.server = server
    self.work = work
  }

  override func main() {
    server.request("page") { [self] _ in finish() }
    work(self)
  }
}

@Sendable private func waitForItself(_ log: Log) {
  let (server, waited) = (Server(), Gate())
  let operation = WaitingRequest(server: server) { operation in
    operation.waitUntilFinished()
    log.note("waited for itself")
    waited.open()
  }
  let queue = makeQueue()
  queue.addOperation(operation)
  let answer = server.awaitRequest("page")
  letWaitsBeFound()
  answer("ok")
  queue.waitUntilAllOperationsAreFinished()
  waited.wait()
}

@Sendable private func waitForOwnQueue(_ log: Log) {
  let (server, waited, queue) = (Server(), Gate(), makeQueue(limit: 2))
  let operation = WaitingRequest(server: server) { _ in
    queue.waitUntilAllOperationsAreFinished()
    log.note("waited for its own queue")
    waited.open()
  }
  queue.addOperation(operation)
  queue.addOperation { log.note("another one") }
  let answer = server.awaitRequest("page")
  letWaitsBeFound()
  answer("ok")
  queue.waitUntilAllOperationsAreFinished()
  waited.wait()
}
