// A serial queue that is a subclass of `OperationQueue`, records the operations that are added, and notifies a
// delegate.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// Is notified of operations before they are added, and after they have finished.
private protocol RecordingQueueDelegate: AnyObject {
  func queue(_ queue: RecordingQueue, willAdd operation: Operation)
  func queue(_ queue: RecordingQueue, didFinish operation: Operation)
}

private final class RecordingQueue: OperationQueue, @unchecked Sendable {
  private let lock = NSLock()
  private var names: [String] = []
  private var completions = DispatchGroup()
  weak var delegate: (any RecordingQueueDelegate)?

  override init() {
    super.init()
    maxConcurrentOperationCount = 1
    name = "recording"
  }

  var added: [String] { lock.withLock { names } }

  override func addOperation(_ operation: Operation) {
    lock.withLock { names.append(operation.name ?? "a block") }
    delegate?.queue(self, willAdd: operation)
    // Adds a completion block after the operation's own.
    let (first, completions) = (operation.completionBlock, completions)
    completions.enter()
    operation.completionBlock = { [weak self, weak operation] in
      first?()
      if let self, let operation { delegate?.queue(self, didFinish: operation) }
      completions.leave()
    }
    super.addOperation(operation)
  }

  override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    lock.withLock { names.append("\(operations.count) at once") }
    super.addOperations(operations, waitUntilFinished: wait)
  }

  override func cancelAllOperations() {
    lock.withLock { names.append("cancelled all") }
    super.cancelAllOperations()
  }

  override var isSuspended: Bool {
    get { super.isSuspended }
    set {
      lock.withLock { names.append(newValue ? "suspended" : "resumed") }
      super.isSuspended = newValue
    }
  }

  func waitForCompletions() { completions.wait() }
}

private final class Listener: RecordingQueueDelegate {
  let log: Log

  init(_ log: Log) { self.log = log }

  func queue(_ queue: RecordingQueue, willAdd operation: Operation) {
    log.note("will add \(operation.name ?? "a block"), \(operation.outcomeFlags)")
  }

  func queue(_ queue: RecordingQueue, didFinish operation: Operation) {
    log.note("did finish \(operation.name ?? "a block"), \(operation.outcomeFlags)")
  }
}

let recordingQueue: Program = [
  ("records", recordingRun), ("delegate", recordingDelegate), ("order", recordingOrder),
  ("suspended and cancelled", recordingCancelled), ("added from inside", recordingNested),
]

@Sendable private func named(_ name: String, _ block: @escaping @Sendable () -> Void = {}) -> BlockOperation {
  let operation = BlockOperation(block: block)
  operation.name = name
  return operation
}

@Sendable private func recordingRun(_ log: Log) {
  let queue = RecordingQueue()
  queue.isSuspended = true
  queue.addOperation(named("first"))
  queue.addOperation { log.note("block in \(OperationQueue.current?.name ?? "none")") }
  queue.addOperations([named("second"), named("third")], waitUntilFinished: false)
  queue.addBarrierBlock { log.note("barrier in \(OperationQueue.current?.name ?? "none")") }
  log.note("operations before the barrier: \(queue.operations.prefix(4).map { $0.name ?? "a block" })")
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
  queue.waitForCompletions()
  log.note("added: \(queue.added.joined(separator: ", "))")
  log.note("current here: \(OperationQueue.current?.name ?? "none")")
}

@Sendable private func recordingDelegate(_ log: Log) {
  let (queue, listener) = (RecordingQueue(), Listener(log))
  queue.delegate = listener
  for name in ["first", "second"] {
    let operation = named(name) { log.note("\(name) runs") }
    operation.completionBlock = { log.note("\(name): its own completion block") }
    queue.addOperation(operation)
    queue.waitForCompletions()
  }
  let cancelled = named("third") { log.note("third ran") }
  cancelled.cancel()
  let later = RecordingQueue()
  later.addOperations([cancelled], waitUntilFinished: true)
  log.note("third: \(cancelled.outcomeFlags)")
}

@Sendable private func recordingOrder(_ log: Log) {
  let queue = RecordingQueue()
  queue.isSuspended = true
  let numbers = 0..<50
  for number in numbers { queue.addOperation { log.note("\(number)") } }
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
  let order = log.take()
  log.note("in the order added: \(order == numbers.map(String.init))")
}

@Sendable private func recordingCancelled(_ log: Log) {
  let queue = RecordingQueue()
  let (begun, end) = (Gate(), Gate())
  queue.addOperation(
    named("first") {
      begun.open()
      end.wait()
      log.note("first runs to its end")
    })
  begun.wait()
  queue.isSuspended = true
  let second = named("second") { log.note("second ran") }
  queue.addOperation(second)
  queue.cancelAllOperations()
  end.open()
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
  queue.waitForCompletions()
  log.note("second: \(second.outcomeFlags)")
  log.note(queue.added.joined(separator: ", "))
}

@Sendable private func recordingNested(_ log: Log) {
  let queue = RecordingQueue()
  let done = Gate()
  queue.addOperation { [unowned queue] in
    queue.addOperation(
      named("inner") {
        log.note("inner runs")
        done.open()
      })
    log.note("outer ends first")
  }
  done.wait()
  queue.waitUntilAllOperationsAreFinished()
  queue.waitForCompletions()
  log.note(queue.added.joined(separator: ", "))
}
