import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

/// Waits for a place, for the next state, for the next result, and for the first of several operations.
@Suite("Other waits in a cycle", .hangLimit) struct OtherWaitTests: RaisingSuite {
  /// Returns once the operation waits for something.
  private func untilWaiting(_ operation: Headway.Operation) async { await until { !operation.waits.isEmpty } }

  private func dependent(on operation: Headway.Operation, _ name: String = "dependent") -> BlockOperation {
    let dependent = BlockOperation(name: name)
    dependent.addDependency(operation)
    return dependent
  }

  @Test("W4, W8, Q13: an operation that waits for a place in its own full queue is reported") func ownPlace()
    async throws
  {
    let queue = OperationQueue()
    queue.maxOperationCount = 1
    let (reported, gate) = (EventRecorder<String>(), Gate())
    let token = queue.listen { event in
      guard case .deadlocked = event else { return }
      reported.record("\(event)")
      gate.open()
    }
    let caller = TaskOperation { try await queue.addOperationWhenBelowLimit {} }
    caller.name = "caller"
    queue.addOperation(caller)
    await gate.untilOpen()
    #expect(reported.events.first == "waits in a cycle: “caller” waits for “caller”")
    #expect(caller.diagnosis.contains("room in"))
    queue.maxOperationCount = 2
    try await caller.untilSucceeded()
    #expect(caller.firstDependencyCycle() == nil)
    token.invalidate()
  }

  @Test("W8, Q13: a wait for a place in the queue is not a cycle if another operation can also free a place")
  func otherPlace() async throws {
    let (queue, full) = (OperationQueue(), OperationQueue())
    full.maxOperationCount = 2
    let caller = TaskOperation { try await full.addOperationWhenBelowLimit {} }
    let (stuck, free) = (dependent(on: caller), AsynchronousOperation())
    full.addOperations([stuck, free], waitUntilFinished: false)
    queue.addOperation(caller)
    await untilWaiting(caller)
    #expect(caller.firstDependencyCycle() == nil)
    await until { free.isExecuting }
    free.finish()
    try await caller.untilSucceeded()
    try await full.untilAllOperationsAreFinished()
  }

  @Test("W8, Q13: an operation that waits for a place, and the operations in the queue that wait for it, form a cycle")
  func placeBehindDependents() async throws {
    let (queue, full) = (OperationQueue(), OperationQueue())
    full.maxOperationCount = 2
    let caller = TaskOperation { try await full.addOperationWhenBelowLimit {} }
    let stuck = (0..<2).map { dependent(on: caller, "\($0)") }
    full.addOperations(stuck, waitUntilFinished: false)
    queue.addOperation(caller)
    await until { caller.firstDependencyCycle() != nil }
    #expect(stuck.allSatisfy { $0.firstDependencyCycle()?.contains(caller) == true })
    stuck[0].cancel()
    try await caller.untilSucceeded()
    try await full.untilAllOperationsAreFinished()
  }

  enum First: CaseIterable, Sendable { case finished, succeeded }

  @Test(
    "W6, W8: a wait for the first of several operations is part of a cycle only if all of them are part of it",
    arguments: First.allCases)
  func first(_ way: First) async throws {
    let queue = OperationQueue()
    for canEnd in [true, false] {
      let candidates = EventRecorder<Headway.Operation>()
      let caller = TaskOperation {
        switch way {
        case .finished: _ = try await Headway.Operation.untilFirstFinished(candidates.events)
        case .succeeded: _ = try await Headway.Operation.untilFirstSucceeded(candidates.events)
        }
      }
      let free = AsynchronousOperation()
      let stuck = (0..<2).map { dependent(on: caller, "\($0)") }
      for operation in stuck + (canEnd ? [free] : []) { candidates.record(operation) }
      queue.addOperations(stuck + [free, caller], waitUntilFinished: false)
      await untilWaiting(caller)
      #expect(caller.waits.count == 1 && (caller.firstDependencyCycle() == nil) == canEnd)
      await until { free.isExecuting }
      free.finish()
      if !canEnd { stuck[0].cancel() }
      if !canEnd, way == .succeeded { stuck[1].cancel() }
      try await queue.untilAllOperationsAreFinished()
      #expect(caller.outcome.isSuccess != (!canEnd && way == .succeeded))
    }
  }

  @Test("K3, W8: a wait for the next state of an operation that depends on the caller is a cycle") func states()
    async throws
  {
    let queue = OperationQueue()
    let states = EventRecorder<OperationState>()
    let awaited = EventRecorder<Headway.Operation>()
    let caller = TaskOperation {
      for await state in awaited.events[0].states { states.record(state) }
    }
    let stuck = dependent(on: caller)
    awaited.record(stuck)
    queue.addOperations([stuck, caller], waitUntilFinished: false)
    await until { caller.firstDependencyCycle() != nil }
    #expect(states.events == [.pending] && caller.diagnosis.contains("the next state of “dependent”"))
    stuck.cancel()
    try await queue.untilAllOperationsAreFinished()
    #expect(states.events.last == .finished)
  }

  @Test("K3, W8: an operation can become ready while an operation that waits for its next state keeps it from starting")
  func nextState() async throws {
    let queue = OperationQueue(limit: 1)
    let dependency = AsynchronousOperation()
    let awaited = EventRecorder<Headway.Operation>()
    let caller = TaskOperation {
      for await state in awaited.events[0].states where state == .ready { return }
    }
    let later = dependent(on: dependency)
    awaited.record(later)
    queue.addOperations([caller, later], waitUntilFinished: false)
    await untilWaiting(caller)
    #expect(caller.firstDependencyCycle() == nil)
    dependency.start()
    dependency.finish()
    try await queue.untilAllOperationsAreFinished()
    #expect(caller.outcome.isSuccess)
  }

  @Test("W8: an operation that waits for results of its own full queue is in a cycle") func results() async throws {
    let queue = OperationQueue(limit: 1)
    let caller = TaskOperation {
      for try await _ in queue.results(of: [1, 2], maxInFlightCount: 1, { $0 }) {}
    }
    queue.addOperation(caller)
    await until { caller.firstDependencyCycle() != nil }
    #expect(caller.diagnosis.contains("the next result"))
    queue.maxConcurrentOperationCount = 2
    try await caller.untilSucceeded()
  }

  enum Wait: CaseIterable, Sendable { case place, first, state }

  @Test("P5, W8: operations that an urgent operation waits for are raised, however it waits", arguments: Wait.allCases)
  func raising(_ wait: Wait) async throws {
    let (low, high) = (OperationQueue(qualityOfService: .background), OperationQueue(qualityOfService: .background))
    low.maxOperationCount = 1
    let holder = AsynchronousOperation()
    low.addOperation(holder)
    let caller = TaskOperation {
      switch wait {
      case .place: try await low.addOperationWhenBelowLimit {}
      case .first: _ = try await Headway.Operation.untilFirstFinished([holder])
      case .state: for await _ in holder.states {}
      }
    }
    high.addOperation(caller)
    await untilWaiting(caller)
    await until { holder.isExecuting }
    #expect(!isRaised(holder, in: .background))
    let urgent = operation(.userInitiated)
    urgent.addDependency(caller)
    high.addOperation(urgent)
    await until { isRaised(holder, in: .background) }
    holder.finish()
    for queue in [low, high] { try await queue.untilAllOperationsAreFinished() }
  }
}
