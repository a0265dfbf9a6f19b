// Operations with conditions, which are evaluated before the operation is ready, and can require other operations
// first.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// A condition that must hold before an operation can run.
private protocol Condition: Sendable {
  /// Returns an operation that might make the condition hold, or nil.
  func dependency(for operation: ConditionalOperation) -> Operation?

  /// Reports whether the condition holds, immediately or later.
  func evaluate(for operation: ConditionalOperation, completion: @escaping @Sendable (Bool) -> Void)
}

/// An operation that is not ready before its conditions have been evaluated.
private class ConditionalOperation: Operation, @unchecked Sendable {
  enum State { case created, pending, evaluating, ready, executing, finished }

  private let lock = NSLock()
  private var stored = State.created
  private var areMet = true
  private(set) var conditions: [any Condition] = []
  let log: Log

  init(_ name: String, log: Log) {
    self.log = log
    super.init()
    self.name = name
  }

  final var state: State { lock.withLock { stored } }

  /// Changes the state if it is still one of `old`.
  private func move(from old: State..., to new: State) {
    willChangeValue(forKey: "state")
    let hasMoved = lock.withLock {
      guard old.contains(stored) else { return false }
      stored = new
      return true
    }
    didChangeValue(forKey: "state")
    for key in ["isReady", "isExecuting", "isFinished"] where hasMoved {
      willChangeValue(forKey: key)
      didChangeValue(forKey: key)
    }
  }

  final func addCondition(_ condition: any Condition) { conditions.append(condition) }

  /// Called before the queue adds the operation.
  final func willEnqueue() { move(from: .created, to: .pending) }

  override var isReady: Bool {
    switch state {
    case .created, .evaluating: return isCancelled
    case .pending:
      guard !isCancelled else { return true }
      if super.isReady { evaluate() }
      return false
    case .ready: return super.isReady || isCancelled
    case .executing, .finished: return false
    }
  }

  override var isExecuting: Bool { state == .executing }
  override var isFinished: Bool { state == .finished }

  /// Evaluates all conditions.
  ///
  /// The operation is ready when the last condition has been evaluated. It is cancelled if a condition does not hold.
  private func evaluate() {
    // Two threads might call this at the same time.
    let isFirst = lock.withLock {
      guard stored == .pending else { return false }
      stored = .evaluating
      return true
    }
    guard isFirst else { return }
    let group = DispatchGroup()
    for condition in conditions {
      group.enter()
      condition.evaluate(for: self) { [self] holds in
        if !holds { lock.withLock { areMet = false } }
        group.leave()
      }
    }
    group.notify(queue: .global()) { [self] in
      if !lock.withLock({ areMet }) { cancel() }
      move(from: .evaluating, to: .ready)
    }
  }

  override func start() {
    guard !isCancelled else {
      log.note("\(name!): finished without running")
      // From any state, because results can arrive at the same time.
      move(from: .created, .pending, .evaluating, .ready, to: .finished)
      return
    }
    move(from: .ready, to: .executing)
    execute()
    move(from: .executing, to: .finished)
  }

  func execute() { log.note("\(name!): runs") }
}

/// Prepares operations with conditions as they are added.
private final class ConditionalQueue: OperationQueue, @unchecked Sendable {
  override func addOperation(_ operation: Operation) {
    if let operation = operation as? ConditionalOperation {
      for dependency in operation.conditions.compactMap({ $0.dependency(for: operation) }) {
        operation.addDependency(dependency)
        addOperation(dependency)
      }
      operation.willEnqueue()
    }
    super.addOperation(operation)
  }

  override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    for operation in operations { addOperation(operation) }
    if wait { for operation in operations { operation.waitUntilFinished() } }
  }
}

/// A condition whose result, and the time of the result, the program determines.
private struct Asked: Condition {
  let question: String
  let server: Server

  func dependency(for operation: ConditionalOperation) -> Operation? { nil }

  func evaluate(for operation: ConditionalOperation, completion: @escaping @Sendable (Bool) -> Void) {
    server.request(question) { completion($0 == "yes") }
  }
}

/// Requires a permission from the user first: an operation that the condition creates.
private struct Permitted: Condition {
  let isGranted: Bool

  func dependency(for operation: ConditionalOperation) -> Operation? {
    let log = operation.log
    return BlockOperation { log.note("user asked") }
  }

  func evaluate(for operation: ConditionalOperation, completion: @escaping @Sendable (Bool) -> Void) {
    operation.log.note("permission \(isGranted ? "granted" : "denied")")
    completion(isGranted)
  }
}

/// Holds if no dependency was cancelled.
private struct NoCancelledDependencies: Condition {
  func dependency(for operation: ConditionalOperation) -> Operation? { nil }

  func evaluate(for operation: ConditionalOperation, completion: @escaping @Sendable (Bool) -> Void) {
    completion(!operation.dependencies.contains(where: \.isCancelled))
  }
}

let conditions: Program = [
  ("held back until the answer", conditionHeld), ("not met", conditionNotMet),
  ("produced dependency", conditionProduced),
  ("denied", conditionDenied), ("after dependencies", conditionAfterDependencies),
  ("cancelled while evaluating", conditionCancelled), ("no cancelled dependencies", conditionNoCancelled),
  ("several, in a limited queue", conditionSeveral),
]

@Sendable private func conditionHeld(_ log: Log) {
  let server = Server()
  let operation = ConditionalOperation("map", log: log)
  operation.addCondition(Asked(question: "reachable?", server: server))
  let queue = ConditionalQueue()
  log.note("before it is added: ready \(operation.isReady)")
  queue.addOperation(operation)
  let answer = server.awaitRequest("reachable?")
  letOthersRun()
  log.note("evaluating: \(operation.outcomeFlags), ready \(operation.isReady), in the queue: \(queue.operationCount)")
  queue.addOperations([BlockOperation { log.note("another one runs") }], waitUntilFinished: true)
  answer("yes")
  operation.waitUntilFinished()
  queue.waitUntilAllOperationsAreFinished()
  log.note("at the end: \(operation.outcomeFlags), in the queue: \(queue.operationCount)")
}

@Sendable private func conditionNotMet(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let operation = ConditionalOperation("map", log: log)
  operation.addCondition(Asked(question: "reachable?", server: server))
  operation.completionBlock = { completed.open() }
  let queue = ConditionalQueue()
  queue.addOperation(operation)
  server.answer("reachable?", with: "no")
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("at the end: \(operation.outcomeFlags), in the queue: \(queue.operationCount)")
}

@Sendable private func conditionProduced(_ log: Log) {
  let operation = ConditionalOperation("photo", log: log)
  operation.addCondition(Permitted(isGranted: true))
  let queue = ConditionalQueue()
  queue.addOperations([operation], waitUntilFinished: true)
  queue.waitUntilAllOperationsAreFinished()
  log.note("at the end: \(operation.outcomeFlags)")
}

@Sendable private func conditionDenied(_ log: Log) {
  let operation = ConditionalOperation("photo", log: log)
  operation.addCondition(Permitted(isGranted: false))
  let dependent = ConditionalOperation("share", log: log)
  dependent.addCondition(NoCancelledDependencies())
  dependent.addDependency(operation)
  let queue = ConditionalQueue()
  queue.addOperations([operation, dependent], waitUntilFinished: true)
  queue.waitUntilAllOperationsAreFinished()
  log.note("at the end: \(operation.outcomeFlags); dependent: \(dependent.outcomeFlags)")
}

@Sendable private func conditionAfterDependencies(_ log: Log) {
  let (server, end) = (Server(), Gate())
  let first = BlockOperation {
    end.wait()
    log.note("first runs")
  }
  let operation = ConditionalOperation("map", log: log)
  operation.addCondition(Asked(question: "reachable?", server: server))
  operation.addDependency(first)
  let queue = ConditionalQueue()
  queue.addOperation(operation)
  queue.addOperation(first)
  letOthersRun()
  log.note("not evaluated before: \(server.hasNoRequest)")
  end.open()
  server.answer("reachable?", with: "yes")
  operation.waitUntilFinished()
  queue.waitUntilAllOperationsAreFinished()
}

@Sendable private func conditionCancelled(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let operation = ConditionalOperation("map", log: log)
  operation.addCondition(Asked(question: "reachable?", server: server))
  operation.completionBlock = { completed.open() }
  let queue = ConditionalQueue()
  queue.addOperation(operation)
  let answer = server.awaitRequest("reachable?")
  operation.cancel()
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  answer("yes")
  letOthersRun()
  log.note("at the end: \(operation.outcomeFlags), in the queue: \(queue.operationCount)")
}

@Sendable private func conditionNoCancelled(_ log: Log) {
  let first = BlockOperation {}
  let operation = ConditionalOperation("second", log: log)
  operation.addCondition(NoCancelledDependencies())
  operation.addDependency(first)
  let queue = ConditionalQueue()
  queue.isSuspended = true
  queue.addOperations([first, operation], waitUntilFinished: false)
  first.cancel()
  queue.isSuspended = false
  queue.waitUntilAllOperationsAreFinished()
  log.note("at the end: \(operation.outcomeFlags)")
}

@Sendable private func conditionSeveral(_ log: Log) {
  let server = Server()
  let queue = ConditionalQueue()
  queue.maxConcurrentOperationCount = 1
  let operations = ["first", "second", "third"].map { name in
    let operation = ConditionalOperation(name, log: log)
    operation.addCondition(Asked(question: name, server: server))
    operation.addCondition(NoCancelledDependencies())
    return operation
  }
  queue.addOperations(operations, waitUntilFinished: false)
  for (name, answer) in [("third", "yes"), ("first", "no"), ("second", "yes")] {
    server.answer(name, with: answer)
    operations.first { $0.name == name }?.waitUntilFinished()
  }
  queue.waitUntilAllOperationsAreFinished()
  log.note("finished: \(operations.filter(\.isFinished).count), in the queue: \(queue.operationCount)")
}
