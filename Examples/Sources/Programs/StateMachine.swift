// An asynchronous operation with its own state behind a lock, which it announces by key.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// The base class of such operations.
class StatefulOperation: Operation, @unchecked Sendable {
  enum State: String {
    case ready, executing, finished

    var key: String { "is" + rawValue.capitalized }
  }

  private let lock = NSLock()
  private var stored = State.ready

  private(set) final var state: State {
    get { lock.withLock { stored } }
    set {
      let old = state
      guard old != newValue else { return }
      willChangeValue(forKey: newValue.key)
      willChangeValue(forKey: old.key)
      lock.withLock { stored = newValue }
      didChangeValue(forKey: old.key)
      didChangeValue(forKey: newValue.key)
    }
  }

  override var isReady: Bool { super.isReady && state == .ready }
  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }
  override var isAsynchronous: Bool { true }

  override func start() {
    guard !isCancelled else {
      state = .finished
      return
    }
    state = .executing
    main()
  }

  final func finish() { if state != .finished { state = .finished } }
}

/// Sends a request to the server, and finishes with the response.
final class RequestOperation: StatefulOperation, @unchecked Sendable {
  private let path: String
  private let server: Server
  private let log: Log
  private let finishesWhenCancelled: Bool

  init(_ path: String, from server: Server, log: Log, finishesWhenCancelled: Bool = false) {
    self.path = path
    self.server = server
    self.log = log
    self.finishesWhenCancelled = finishesWhenCancelled
    super.init()
    name = path
  }

  override func main() {
    log.note("\(path): requested")
    server.request(path) { [self] text in
      log.note("\(path): \(isCancelled ? "answer not wanted" : text)")
      finish()
    }
  }

  override func cancel() {
    super.cancel()
    guard finishesWhenCancelled, isExecuting else { return }
    log.note("\(path): connection closed")
    finish()
  }
}

let stateMachine: Program = [
  ("run", stateMachineRun), ("added together, in order", stateMachineOrder), ("many", stateMachineMany),
  ("cancelled before the start", stateMachineCancelledBefore),
  ("cancelled while executing", stateMachineCancelledExecuting),
  ("cancelled while executing, finishes immediately", stateMachineCancelledClosing),
  ("cancelled, then added", stateMachineCancelledThenAdded),
  ("cancelled with dependencies", stateMachineCancelledWaiting), ("in no queue", stateMachineByHand),
]

@Sendable private func stateMachineRun(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let first = RequestOperation("first", from: server, log: log)
  let second = RequestOperation("second", from: server, log: log)
  let dependent = BlockOperation { log.note("after both") }
  dependent.addDependency(first)
  dependent.addDependency(second)
  dependent.completionBlock = { completed.open() }
  let queue = makeQueue(limit: 1)
  log.note("first, before it is added: \(first.flags)")
  queue.addOperations([first, second, dependent], waitUntilFinished: false)
  let answer = server.awaitRequest("first")
  log.note("first: \(first.flags); second: \(second.flags); dependent: \(dependent.flags)")
  log.note("in the queue: \(queue.operationCount)")
  answer("here it is")
  let secondAnswer = server.awaitRequest("second")
  log.note("first: \(first.flags)")
  secondAnswer("this, too")
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("in the queue: \(queue.operationCount)")
}

/// Finishes in `main()`, on the thread that started it.
private final class Quick: StatefulOperation, @unchecked Sendable {
  private let work: @Sendable () -> Void

  init(work: @escaping @Sendable () -> Void) { self.work = work }

  override func main() {
    work()
    finish()
  }
}

@Sendable private func stateMachineOrder(_ log: Log) {
  let order = Log()
  for isSuspended in [true, false] {
    for _ in 0..<200 {
      let queue = makeQueue(limit: 1, isSuspended: isSuspended)
      let first = Quick { order.note("first") }
      queue.addOperations([first, BlockOperation { order.note("second") }], waitUntilFinished: false)
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    }
    let isInOrder = order.take() == Array(repeating: ["first", "second"], count: 200).flatMap { $0 }
    log.note("\(isSuspended ? "while suspended" : "while it continues"), in order: \(isInOrder)")
  }
}

@Sendable private func stateMachineMany(_ log: Log) {
  let (server, quiet, completions) = (Server(), Log(), DispatchGroup())
  let queue = makeQueue(limit: 4)
  let operations = (0..<100).map { number in
    let operation = RequestOperation("\(number)", from: server, log: quiet)
    completions.enter()
    operation.completionBlock = { completions.leave() }
    return operation
  }
  for operation in operations { queue.addOperation(operation) }
  // The responses arrive on threads of Dispatch.
  for number in 0..<100 {
    let answer = server.awaitRequest("\(number)")
    DispatchQueue.global().async { answer("ok") }
  }
  queue.waitUntilAllOperationsAreFinished()
  completions.wait()
  log.note(
    "finished: \(operations.filter(\.isFinished).count), answers: \(quiet.lines.filter { $0.hasSuffix("ok") }.count)")
}

@Sendable private func stateMachineCancelledBefore(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let operation = RequestOperation("page", from: server, log: log)
  operation.completionBlock = {
    log.note("completed: \(operation.outcomeFlags)")
    completed.open()
  }
  let dependent = BlockOperation { log.note("dependent") }
  dependent.addDependency(operation)
  let queue = makeQueue(isSuspended: true)
  queue.addOperation(operation)
  operation.cancel()
  letOthersRun()
  log.note("while suspended: \(operation.outcomeFlags), in the queue: \(queue.operationCount)")
  queue.isSuspended = false
  completed.wait()
  queue.addOperations([dependent], waitUntilFinished: true)
  log.note("never requested: \(server.hasNoRequest)")
}

@Sendable private func stateMachineCancelledExecuting(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let operation = RequestOperation("page", from: server, log: log)
  operation.completionBlock = { completed.open() }
  let queue = makeQueue(limit: 1)
  let next = BlockOperation { log.note("next") }
  queue.addOperations([operation, next], waitUntilFinished: false)
  let answer = server.awaitRequest("page")
  queue.cancelAllOperations()
  log.note("cancelled: \(operation.outcomeFlags)")
  answer("late")
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("at the end: \(operation.outcomeFlags); next: \(next.outcomeFlags)")
}

@Sendable private func stateMachineCancelledClosing(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let operation = RequestOperation("page", from: server, log: log, finishesWhenCancelled: true)
  operation.completionBlock = { completed.open() }
  let queue = makeQueue(limit: 1)
  queue.addOperation(operation)
  let answer = server.awaitRequest("page")
  operation.cancel()
  log.note("cancelled: \(operation.outcomeFlags)")
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  answer("late")
  log.note("at the end: \(operation.outcomeFlags)")
}

@Sendable private func stateMachineCancelledThenAdded(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let operation = RequestOperation("page", from: server, log: log)
  operation.cancel()
  log.note("cancelled in no queue: \(operation.outcomeFlags)")
  operation.completionBlock = {
    log.note("completed: \(operation.outcomeFlags)")
    completed.open()
  }
  let queue = makeQueue()
  queue.addOperation(operation)
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("never requested: \(server.hasNoRequest), in the queue: \(queue.operationCount)")
}

@Sendable private func stateMachineCancelledWaiting(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let first = RequestOperation("first", from: server, log: log)
  let second = RequestOperation("second", from: server, log: log)
  second.addDependency(first)
  second.completionBlock = { completed.open() }
  let queue = makeQueue()
  queue.addOperations([first, second], waitUntilFinished: false)
  let answer = server.awaitRequest("first")
  second.cancel()
  completed.wait()
  log.note("first: \(first.outcomeFlags); second: \(second.outcomeFlags)")
  answer("here it is")
  queue.waitUntilAllOperationsAreFinished()
}

@Sendable private func stateMachineByHand(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let operation = RequestOperation("page", from: server, log: log)
  operation.completionBlock = { completed.open() }
  operation.start()
  log.note("started: \(operation.outcomeFlags)")
  server.answer("page")
  operation.waitUntilFinished()
  completed.wait()
  let cancelled = RequestOperation("other", from: server, log: log)
  cancelled.cancel()
  cancelled.start()
  log.note("cancelled, then started: \(cancelled.outcomeFlags)")
}
