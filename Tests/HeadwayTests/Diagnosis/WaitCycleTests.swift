import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@testable import Headway

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Waits in a cycle", .hangLimit) struct WaitCycleTests {
  /// Adds operations whose waits form a cycle; returns the queue's event for it, and resolves the cycle by cancelling
  /// the operation that is waited for.
  private func cycle(
    in queue: OperationQueue, cancelling operation: Headway.Operation, adding add: () -> Void
  ) -> String {
    let (reported, gate) = (EventRecorder<String>(), Gate())
    let token = queue.listen { event in
      guard case .deadlocked = event else { return }
      reported.record("\(event)")
      gate.open()
    }
    add()
    gate.wait()
    #expect(operation.diagnosis.contains("cycle"))
    operation.cancel()
    queue.waitUntilAllOperationsAreFinished()
    token.invalidate()
    return reported.events.first ?? ""
  }

  @Test("W4: waiting for an operation that depends on the caller is reported, and the wait continues")
  func waitOnDependent() {
    let queue = OperationQueue()
    let dependents = ["b", "c"].map { BlockOperation(name: $0) }
    let caller = BlockOperation(name: "a") { dependents[1].waitUntilFinished() }
    dependents[0].addDependency(caller)
    dependents[1].addDependency(dependents[0])
    let event = cycle(in: queue, cancelling: dependents[1]) {
      queue.addOperations(dependents + [caller], waitUntilFinished: false)
    }
    #expect(event == "waits in a cycle: “a” waits for “c” waits for “b” waits for “a”")
    #expect(caller.outcome.isSuccess)
  }

  @Test("W4: two operations wait for each other") func waitOnEachOther() {
    let queue = OperationQueue()
    let (first, second) = (BlockOperation(name: "first"), BlockOperation(name: "second"))
    let meeting = Meeting(of: 2)
    let one = BlockOperation(name: "one") {
      meeting.attend()
      second.waitUntilFinished()
    }
    let other = BlockOperation(name: "other") {
      meeting.attend()
      first.waitUntilFinished()
    }
    first.addDependency(one)
    second.addDependency(other)
    let event = cycle(in: queue, cancelling: first) {
      queue.addOperations([one, other, first, second], waitUntilFinished: false)
    }
    #expect(["“one”", "“other”", "“first”", "“second”"].allSatisfy { event.contains($0) })
  }

  @Test("W4: operations that occupy all slots of a queue wait for later operations of that queue", arguments: [1, 2])
  func waitInFullQueue(limit: Int) {
    let queue = OperationQueue(limit: limit)
    let behind = BlockOperation(name: "behind")
    let callers = (0..<limit).map { BlockOperation(name: "caller \($0)") { behind.waitUntilFinished() } }
    let event = cycle(in: queue, cancelling: behind) {
      queue.addOperations(callers + [behind], waitUntilFinished: false)
    }
    #expect(event.contains("“behind” waits for “caller"))
  }

  @Test("W4: an operation waits for all operations of a queue that contains a dependent of the operation")
  func waitOnQueue() {
    let (queue, other) = (OperationQueue(), OperationQueue())
    let dependent = BlockOperation(name: "dependent")
    let caller = BlockOperation(name: "caller") { other.waitUntilAllOperationsAreFinished() }
    dependent.addDependency(caller)
    let event = cycle(in: other, cancelling: dependent) {
      other.addOperation(dependent)
      queue.addOperation(caller)
    }
    #expect(event.contains("“dependent” waits for “caller”"))
    queue.waitUntilAllOperationsAreFinished()
  }

  /// Does the same as `cycle(in:cancelling:adding:)`, and blocks no thread.
  private func asyncCycle(
    in queue: OperationQueue, cancelling operation: Headway.Operation, adding added: Headway.Operation
  ) async throws -> String {
    let (reported, gate) = (EventRecorder<String>(), Gate())
    let token = queue.listen { event in
      guard case .deadlocked = event else { return }
      reported.record("\(event)")
      gate.open()
    }
    queue.addOperation(added)
    await gate.untilOpen()
    #expect(operation.diagnosis.contains("cycle"))
    operation.cancel()
    try await queue.untilAllOperationsAreFinished()
    token.invalidate()
    return reported.events.first ?? ""
  }

  enum AsyncWait: CaseIterable, Sendable { case finished, value, queue, group, outerGroup, outerQueue }

  @Test("W4: a task that awaits its own operation, its queue or its group is reported", arguments: AsyncWait.allCases)
  func asyncWait(for wait: AsyncWait) async throws {
    let (queue, group, outer) = (OperationQueue(), GroupOperation(name: "group"), GroupOperation(name: "outer"))
    let itself = Mutex<TaskOperation<Void>?>(nil)
    let operation = TaskOperation<Void> {
      switch wait {
      case .finished: try await itself.withLock { $0 }?.untilFinished()
      case .value: try await itself.withLock { $0 }?.value
      case .queue, .outerQueue: try await queue.untilAllOperationsAreFinished()
      case .group: try await group.untilFinished()
      case .outerGroup: try await outer.untilFinished()
      }
    }
    operation.name = "self"
    itself.withLock { $0 = operation }
    var added: Headway.Operation = operation
    if [.group, .outerGroup, .outerQueue].contains(wait) {
      group.addOperation(operation)
      added = group
    }
    if [.outerGroup, .outerQueue].contains(wait) {
      outer.addOperation(group)
      added = outer
    }
    let event = try await asyncCycle(in: queue, cancelling: operation, adding: added)
    let between =
      switch wait {
      case .finished, .value, .queue: ""
      case .group: "“group” waits for "
      case .outerGroup, .outerQueue: "“outer” waits for “group” waits for "
      }
    #expect(event.contains("waits in a cycle: “self” waits for \(between)“self”"))
    #expect(operation.isCancelled)
    itself.withLock { $0 = nil }
  }

  @Test("W4: other waits of a task are not reported") func asyncWaitForOthers() async throws {
    let (queue, other) = (OperationQueue(), OperationQueue())
    let events = EventRecorder<OperationQueueEvent>()
    let tokens = [queue, other].map { $0.listen { if case .deadlocked = $0 { events.record($0) } } }
    let group = GroupOperation(operations: [BlockOperation {}])
    let waiting = queue.addTask {
      let part = queue.addTask { 1 }
      other.addOperation(group)
      try await group.untilFinished()
      try await other.untilAllOperationsAreFinished()
      return try await part.value
    }
    #expect(try await waiting.value == 1)
    #expect(events.events.isEmpty)
    withExtendedLifetime(tokens) {}
  }

  @Test("W4, B1: a cycle through one block of an operation is found while another block waits for something else")
  func waitsOfBlocks() {
    let (queue, held) = (OperationQueue(), OperationQueue())
    held.isSuspended = true
    let (dependent, other) = (BlockOperation(name: "dependent"), BlockOperation(name: "other"))
    held.addOperation(other)
    let caller = BlockOperation(name: "caller") { dependent.waitUntilFinished() }
    caller.addExecutionBlock { other.waitUntilFinished() }
    dependent.addDependency(caller)
    queue.addOperations([dependent, caller], waitUntilFinished: false)
    #expect(eventually { caller.waits.count == 2 })
    #expect(Set(caller.firstDependencyCycle() ?? []) == [caller, dependent])
    #expect(["“dependent”", "“other”", "in a cycle"].allSatisfy { caller.diagnosis.contains($0) })
    dependent.cancel()
    #expect(eventually { caller.waits.count == 1 })
    #expect(caller.firstDependencyCycle() == nil)
    #expect(caller.diagnosis.hasSuffix("it waits for “other”"))
    held.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(caller.waits.isEmpty)
  }

  @Test("W4: an asynchronous operation that has finished can wait for its own queue") func waitAfterFinish() {
    final class Early: AsynchronousOperation, @unchecked Sendable {
      override func main() {
        finish()
        OperationQueue.current?.waitUntilAllOperationsAreFinished()
        waitUntilFinished()
      }
    }
    let queue = OperationQueue(limit: 1)
    queue.addOperations([Early(), Early()], waitUntilFinished: true)
    queue.waitUntilAllOperationsAreFinished()
  }

  #if os(Linux)
  @Test("W4: waiting for the main queue on the main thread is reported") func waitForMainQueue() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await Task { @MainActor in
        let token = OperationQueue.main.listen { if case .deadlocked = $0 { exit(1) } }
        OperationQueue.main.addOperations([BlockOperation(name: "blocked")], waitUntilFinished: true)
        token.invalidate()
      }.value
    }
    #expect(result.message.contains("The main thread waits for “blocked”"))
  }
  #endif

  @Test("W4: a long wait without a cycle continues") func longWait() {
    // The graph is read when the wait has become long. This reads the dependencies, which is the signal to continue.
    final class Asked: Headway.Operation, @unchecked Sendable {
      let gate = Gate()
      override var dependencies: [Headway.Operation] {
        gate.open()
        return super.dependencies
      }
    }
    let queue = OperationQueue()
    let (asked, slow) = (Asked(), AsynchronousOperation())
    asked.addDependency(slow)
    let caller = BlockOperation { asked.waitUntilFinished() }
    queue.addOperations([slow, asked, caller], waitUntilFinished: false)
    asked.gate.wait()
    slow.finish()
    queue.waitUntilAllOperationsAreFinished()
    #expect(caller.outcome.isSuccess)
  }
}
