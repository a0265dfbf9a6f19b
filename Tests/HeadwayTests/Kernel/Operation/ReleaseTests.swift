import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Objects of the user are released without holding a lock.
///
/// Objects that are released here call code that takes these locks. If one of them is held, the process stops or hangs.
@Suite("Releasing", .hangLimit) struct ReleaseTests {
  /// Calls a block when it is freed.
  private final class LastWords: Sendable {
    private let block: @Sendable () -> Void

    init(_ block: @escaping @Sendable () -> Void) { self.block = block }

    deinit { block() }
  }

  private final class Controller: Sendable {
    func page(_ number: Int) -> Int { number }
  }

  @Test("B2: the replaced method of an invocation is released with no lock held") func method() {
    let said = EventRecorder<Bool>()
    let operation = Mutex<InvocationOperation<Controller, Int, Int>?>(nil)
    let first: InvocationOperation<Controller, Int, Int> = {
      let words = LastWords { said.record(operation.withLock { $0 }?.method != nil) }
      return InvocationOperation(
        target: Controller(), method: { target in { number in withExtendedLifetime(words) { target.page(number) } } },
        argument: 3)
    }()
    operation.withLock { $0 = first }
    first.method = Controller.page
    #expect(said.events == [true])
    operation.withLock { $0 = nil }
  }

  @Test("W1: a replaced completion block is released with no lock held") func completionBlock() {
    let said = EventRecorder<Bool>()
    let operation = BlockOperation {}
    do {
      let words = LastWords { [unowned operation] in said.record(operation.completionBlock != nil) }
      operation.completionBlock = { _ = words }
    }
    operation.completionBlock = {}
    #expect(said.events == [true])
  }

  @Test("B5: a replaced failure handler is released with no lock held") func failureHandler() {
    let said = EventRecorder<Int>()
    let queue = OperationQueue()
    do {
      let words = LastWords { [unowned queue] in said.record(queue.failureHandler == nil ? queue.operationCount : -1) }
      queue.failureHandler = { _, _ in _ = words }
    }
    queue.failureHandler = nil
    #expect(said.events == [0])
  }

  @Test(
    "Q1: the objects that an operation of a batch captured are released with no lock held",
    arguments: ["operation", "block", "dependency", "completion block", "handler"])
  func batch(kind: String) {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let counts = EventRecorder<Int>()
    for _ in 0..<8 {
      let words = LastWords { [unowned queue] in counts.record(queue.operationCount) }
      final class Holder: Headway.Operation, @unchecked Sendable {
        let words: LastWords

        init(_ words: LastWords) { self.words = words }
      }
      guard kind != "operation" else {
        queue.addOperation(Holder(words))
        continue
      }
      let operation = BlockOperation { if kind == "block" { _ = words } }
      switch kind {
      case "dependency":
        let dependency = Holder(words)
        operation.addDependency(dependency)
        dependency.start()
      case "completion block": operation.completionBlock = { _ = words }
      case "handler": operation.onCancel { _ = words }
      default: break
      }
      queue.addOperation(operation)
    }
    executor.runBatch(of: queue)
    executor.runSteps()
    #expect(counts.count == 8 && queue.operationCount == 0)
  }

  @Test("D3, D8: removing a dependency does not scan other operations with the same requirement") func identity() {
    let (one, other, another) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
    let dependents = SuccessDependents()
    dependents.insert(one)
    do {
      let freed = BlockOperation {}
      dependents.insert(freed)
    }
    for operation in [other, another, one] { dependents.insert(operation) }
    // Only the identity of the freed object remains for a comparison.
    #expect(dependents.elements.map { $0.operation == nil } == [false, true, false, false])
    dependents.remove(OperationReference(other))
    #expect(dependents.elements.map { $0.operation == nil } == [false, true, false])
    #expect(dependents.elements.first?.operation === one && dependents.elements.last?.operation === another)
  }

  @Test("D3, O8: an operation keeps no memory for dependents that no longer wait for it")
  func requirementsLeave() {
    let required = BlockOperation {}
    let listed = { required.links.withLock { $0.details?.pointee.successDependents?.elements.count } }
    // More edges than an operation has slots for.
    let others = (0..<5).map { _ in BlockOperation {} }
    for round in 0..<4 {
      let dependent = BlockOperation {}
      for other in others where round % 2 == 0 { dependent.addDependency(other) }
      for _ in 0..<2 { dependent.addDependency(required, requiring: .success) }
      #expect(listed() == 1)
      if round < 2 { dependent.cancel() }
      if round == 3 { dependent.removeDependency(required) }
    }
    #expect(listed() == 0)
    let ended = BlockOperation {}
    ended.start()
    ended.addDependency(required, requiring: .success)
    #expect(listed() == 0)
  }

  /// This test hangs, for practical purposes, if a removal visits all other dependents.
  @Test("D3, D7: removing a dependency that requires success takes constant time, even with 50,000 dependents")
  func requirementsRemoved() {
    let required = BlockOperation {}
    let dependents = (0..<50_000).map { _ in BlockOperation {} }
    for dependent in dependents { dependent.addDependency(required, requiring: .success) }
    for dependent in dependents.dropLast() { dependent.removeDependency(required) }
    required.cancel()
    #expect(dependents.filter(\.isCancelled).count == 1 && dependents.last?.isCancelled == true)
  }

  @Test("D3, D8: if two operations require a third, one can be freed at any time during the removal of the other")
  func stress() {
    let rounds = 40 * (environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50)
    let seed = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    print("Removal of requirements: \(rounds) rounds with HEADWAY_STRESS_SEED=\(seed)")
    let turns = Turns()
    let freed = Mutex<BlockOperation?>(nil)
    let required = (0..<rounds).map { _ in BlockOperation {} }
    onThreads(2) { number in
      var generator = SeededGenerator(seed: UInt64(seed) &* 2 &+ UInt64(number))
      for (round, required) in required.enumerated() {
        let dependent = BlockOperation {}
        if number == 0 {
          let other = BlockOperation {}
          other.addDependency(required, requiring: .success)
          freed.withLock { $0 = other }
          dependent.addDependency(required, requiring: .success)
        }
        turns.meet(2 * round, number)
        var last = number == 1 ? freed.withLock { $0.take() } : nil
        turns.meet(2 * round + 1, number)
        turns.idle(Int.random(in: 0..<24, using: &generator))
        if number == 0 { dependent.removeDependency(required) } else { last = nil }
        withExtendedLifetime(last) {}
      }
    }
    #expect(required.allSatisfy { $0.isReady })
  }
}
