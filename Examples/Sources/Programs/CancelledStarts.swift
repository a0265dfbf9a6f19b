// Operations that have work to do if they are cancelled before they start: their `start()` runs in the queue, within
// its limit, and not while the queue is suspended.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// Cleans up in `start()` if it was cancelled.
private final class Cleaning: StatefulOperation, @unchecked Sendable {
  private let label: String
  private let log: Log
  private let inside: Gauge
  private let work: @Sendable () -> Void

  init(_ label: String, log: Log, inside: Gauge = Gauge(), work: @escaping @Sendable () -> Void = {}) {
    self.label = label
    self.log = log
    self.inside = inside
    self.work = work
  }

  override func start() {
    inside.enter()
    work()
    log.note("\(label): \(isCancelled ? "cleaned up" : "done") in \(OperationQueue.current?.name ?? "no queue")")
    inside.leave()
    // Either way, the base class finishes the operation.
    super.start()
  }

  override func main() { finish() }
}

/// Overrides only `start()`.
private final class Reporting: Operation, @unchecked Sendable {
  private let work: @Sendable (Reporting) -> Void

  init(work: @escaping @Sendable (Reporting) -> Void) { self.work = work }

  override func start() {
    work(self)
    super.start()
  }
}

let cancelledStarts: Program = [
  ("not while suspended", startsSuspended), ("within the limit", startsLimit), ("many, within the limit", startsMany),
  ("not in a full queue", startsFull), ("not in a queue with the limit 0", startsZero),
  ("overrides start alone", startsAlone), ("whose dependencies have not finished", startsWaiting),
]

@Sendable private func startsSuspended(_ log: Log) {
  let queue = makeQueue(isSuspended: true)
  queue.name = "cleaning"
  let operation = Cleaning("file", log: log)
  queue.addOperation(operation)
  operation.cancel()
  letOthersRun()
  log.note("suspended: \(operation.outcomeFlags), in the queue: \(queue.operationCount)")
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
  log.note("resumed: \(operation.outcomeFlags), in the queue: \(queue.operationCount)")
}

@Sendable private func startsLimit(_ log: Log) {
  let queue = makeQueue(limit: 1, isSuspended: true)
  queue.name = "cleaning"
  let (begun, end) = (Gate(), Gate())
  let cleaning = Cleaning("file", log: log) {
    begun.open()
    end.wait()
  }
  queue.addOperation(cleaning)
  queue.addOperation { log.note("the next one") }
  cleaning.cancel()
  queue.isSuspended = false
  begun.wait()
  letOthersRun()
  log.note("while it cleans up: in the queue \(queue.operationCount)")
  end.open()
  queue.waitUntilAllOperationsAreFinished()
}

@Sendable private func startsMany(_ log: Log) {
  let (quiet, inside) = (Log(), Gauge())
  let queue = makeQueue(limit: 2, isSuspended: true)
  queue.name = "cleaning"
  let operations = (0..<100).map { Cleaning("\($0)", log: quiet, inside: inside) }
  queue.addOperations(operations, waitUntilFinished: false)
  for operation in operations where operation !== operations[50] { operation.cancel() }
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
  let cleaned = quiet.lines.filter { $0.hasSuffix("cleaned up in cleaning") }.count
  log.note("cleaned up: \(cleaned), done: \(quiet.lines.count - cleaned), at most two at once: \(inside.highest <= 2)")
}

@Sendable private func startsFull(_ log: Log) {
  let queue = makeQueue(limit: 1)
  queue.name = "cleaning"
  let (begun, end) = (Gate(), Gate())
  queue.addOperation {
    begun.open()
    end.wait()
    log.note("the first one ends")
  }
  begun.wait()
  let operation = Cleaning("file", log: log)
  queue.addOperation(operation)
  operation.cancel()
  letOthersRun()
  log.note("the queue is full: \(operation.outcomeFlags), in the queue: \(queue.operationCount)")
  end.open()
  queue.waitUntilAllOperationsAreFinished()
}

@Sendable private func startsZero(_ log: Log) {
  let queue = makeQueue(limit: 0)
  queue.name = "cleaning"
  let operation = Cleaning("file", log: log)
  queue.addOperation(operation)
  operation.cancel()
  letOthersRun()
  log.note("limit 0: \(operation.outcomeFlags)")
  queue.maxConcurrentOperationCount = 1
  queue.waitUntilAllOperationsAreFinished()
}

@Sendable private func startsAlone(_ log: Log) {
  let queue = makeQueue(limit: 1, isSuspended: true)
  let operation = Reporting { log.note("started, cancelled \($0.isCancelled)") }
  queue.addOperation(operation)
  operation.cancel()
  letOthersRun()
  log.note("suspended: \(operation.outcomeFlags), in the queue: \(queue.operationCount)")
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
  log.note("resumed: \(operation.outcomeFlags)")
}

@Sendable private func startsWaiting(_ log: Log) {
  let queue = makeQueue(limit: 1)
  queue.name = "cleaning"
  let operation = Cleaning("file", log: log)
  operation.addDependency(Operation())
  queue.addOperation(operation)
  queue.addOperations([BlockOperation { log.note("another one") }], waitUntilFinished: true)
  operation.cancel()
  queue.waitUntilAllOperationsAreFinished()
  log.note("file: \(operation.outcomeFlags)")
}
