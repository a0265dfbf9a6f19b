// An operation that is a group. It has an inner queue, suspended until the group starts. One operation begins the
// group, and one ends it.

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

/// Runs the operations that it was given, and others that they add, and finishes when all have finished.
private final class Group: StatefulOperation, @unchecked Sendable {
  private let inner = InnerQueue()
  private let starting = BlockOperation {}
  private let finishing = BlockOperation {}
  private let log: Log

  init(_ name: String, _ operations: [Operation], log: Log) {
    self.log = log
    super.init()
    self.name = name
    inner.isSuspended = true
    inner.willAdd = { [unowned self] operation in
      // Operations that are added while the group runs also run before its end.
      if operation !== finishing { finishing.addDependency(operation) }
      if operation !== starting { operation.addDependency(starting) }
    }
    inner.addOperation(starting)
    for operation in operations { inner.addOperation(operation) }
    finishing.completionBlock = { [self] in
      inner.isSuspended = true
      log.note("\(self.name!): ends, \(isCancelled ? "cancelled" : "not cancelled")")
      finish()
    }
  }

  func add(_ operation: Operation) { inner.addOperation(operation) }

  override func main() {
    inner.isSuspended = false
    inner.addOperation(finishing)
  }

  override func cancel() {
    super.cancel()
    // Cancels the last operation first, so that none of them starts because an earlier operation has ended. The
    // operation that ends the group is not cancelled: it waits for the group's other operations, whether they are
    // cancelled or not.
    for operation in inner.operations.reversed() where operation !== finishing { operation.cancel() }
  }
}

private final class InnerQueue: OperationQueue, @unchecked Sendable {
  var willAdd: ((Operation) -> Void)?

  override func addOperation(_ operation: Operation) {
    willAdd?(operation)
    super.addOperation(operation)
  }
}

let groups: Program = [
  ("run", groupRun), ("grows", groupGrows), ("nested", groupNested),
  ("cancelled before the start", groupCancelledBefore),
  ("cancelled while it runs", groupCancelledRunning), ("dependencies between groups", groupDependencies),
]

@Sendable private func groupRun(_ log: Log) {
  let completed = Gate()
  let first = BlockOperation { log.note("first") }
  let second = BlockOperation { log.note("second") }
  second.addDependency(first)
  let group = Group("group", [second, first], log: log)
  group.completionBlock = { completed.open() }
  letOthersRun()
  log.note("before the start: first \(first.outcomeFlags), group \(group.outcomeFlags)")
  let queue = makeQueue()
  queue.addOperation(group)
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("group: \(group.outcomeFlags), in the queue: \(queue.operationCount)")
}

@Sendable private func groupGrows(_ log: Log) {
  let server = Server()
  let first = RequestOperation("first", from: server, log: log)
  let group = Group("group", [first], log: log)
  let queue = makeQueue(limit: 1)
  queue.addOperation(group)
  let answer = server.awaitRequest("first")
  group.add(RequestOperation("found in first", from: server, log: log))
  let second = server.awaitRequest("found in first")
  answer("one more page")
  letOthersRun()
  log.note("group: \(group.outcomeFlags)")
  second("ok")
  group.waitUntilFinished()
  queue.waitUntilAllOperationsAreFinished()
  log.note("group: \(group.outcomeFlags)")
}

@Sendable private func groupNested(_ log: Log) {
  let inner = Group("inner", [BlockOperation { log.note("innermost") }], log: log)
  let after = BlockOperation { log.note("after the inner group") }
  after.addDependency(inner)
  let outer = Group("outer", [after, inner], log: log)
  let queue = makeQueue()
  queue.addOperations([outer], waitUntilFinished: true)
  queue.waitUntilAllOperationsAreFinished()
  log.note("inner: \(inner.outcomeFlags); outer: \(outer.outcomeFlags)")
}

@Sendable private func groupCancelledBefore(_ log: Log) {
  let completed = Gate()
  let member = BlockOperation { log.note("a member of a cancelled group ran") }
  let group = Group("group", [member], log: log)
  group.completionBlock = { completed.open() }
  let queue = makeQueue(isSuspended: true)
  queue.addOperation(group)
  group.cancel()
  queue.isSuspended = false
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  log.note("group: \(group.outcomeFlags), member cancelled: \(member.isCancelled)")
}

@Sendable private func groupCancelledRunning(_ log: Log) {
  let (server, completed) = (Server(), Gate())
  let first = RequestOperation("first", from: server, log: log, finishesWhenCancelled: true)
  let second = RequestOperation("second", from: server, log: log)
  second.addDependency(first)
  let group = Group("group", [first, second], log: log)
  group.completionBlock = { completed.open() }
  let queue = makeQueue()
  queue.addOperation(group)
  _ = server.awaitRequest("first")
  group.cancel()
  completed.wait()
  queue.waitUntilAllOperationsAreFinished()
  for operation in [group, first, second] { log.note("\(operation.name!): \(operation.outcomeFlags)") }
}

@Sendable private func groupDependencies(_ log: Log) {
  let queue = makeQueue()
  let fetch = Group("fetch", (1...3).map { _ in BlockOperation {} }, log: log)
  let store = Group("store", [BlockOperation { log.note("stored") }], log: log)
  store.addDependency(fetch)
  queue.addOperations([store, fetch], waitUntilFinished: true)
  queue.waitUntilAllOperationsAreFinished()
}
