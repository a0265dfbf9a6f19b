import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// The end of an operation against adding it, and against another end.
@Suite("Concurrent ends of an operation", .hangLimit) struct EndRaceTests {
  /// Behaves like much code written for Foundation: the thread that cancels it ends it immediately.
  private final class EndedByCancelling: AsynchronousOperation, @unchecked Sendable {
    override func main() { finish() }

    override func cancel() {
      super.cancel()
      finish()
    }
  }

  /// Is cancelled, and therefore ends, when the queue evaluates `isReady`: after the queue has reserved it, and before
  /// the queue has listed it.
  private final class CancelledWhenAsked: AsynchronousOperation, @unchecked Sendable {
    private let isAsked = Atomic<Bool>(false)

    override var isReady: Bool {
      if !isAsked.exchange(true, ordering: .relaxed) {
        cancel()
        finish()
      }
      return super.isReady
    }
  }

  @Test("Q5: an operation that ends while it is being accepted is not in the queue") func betweenReservingAndBooking() {
    var admission = Admission()
    let census = Crowd()
    do {
      let operation = CountedOperation(census)
      _ = operation.state.reserve()
      operation.cancel()
      operation.end()
      let reference = OperationReference.passRetained(operation)
      let isIn = admission.add(reference)
      #expect(!isIn && admission.count == 0 && admission.operations.isEmpty)
      #expect(admission.issueTickets()[.normal] == 0)
      reference.release()
      #expect(operation.admission.place == .none)
    }
    #expect(census.now == 0)
  }

  /// When the thread that adds an operation through the inbox reaches a step, another thread finishes the operation.
  enum Instant: CaseIterable {
    case beforeAnnouncing, beforePushing, beforeTakingIn
  }

  @Test(
    "Q5, Q6: an operation that ends on its way through the inbox leaves the queue once", arguments: Instant.allCases)
  func onTheWayByInbox(instant: Instant) {
    let census = Crowd()
    let queue = OperationQueue()
    let executor = StepExecutor()
    executor.control(queue)
    let observed = EventRecorder<Bool>()
    do {
      let operation = CountedOperation(census)
      let token = operation.observe(\.isFinished) { _, _ in observed.record(true) }
      // The work of `addOperation(_:)`.
      #expect(operation.state.reserve() == nil)
      operation.queueLinks.home = .passUnretained(queue)
      let reference = OperationReference.passRetained(operation)
      if instant == .beforeAnnouncing { operation.end() }
      if operation.state.enqueue() {
        if instant == .beforePushing {
          operation.end()
          #expect(queue.operationCount == 0)
        }
        _ = queue.inbox.push(.operation(reference))
        if instant == .beforeTakingIn { operation.end() }
      } else {
        #expect(instant == .beforeAnnouncing)
        reference.release()
      }
      #expect(queue.operationCount == 0 && queue.operations.isEmpty)
      executor.runSteps()
      withExtendedLifetime(token) {}
    }
    #expect(observed.count == 1)
    #expect(census.eventuallyEmpty())
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test(
    "Q5, Q6: an operation that ends while it is added leaves the queue, no matter how it is added",
    arguments: ["one", "several", "dependent"])
  func whileAdding(kind: String) {
    let queue = OperationQueue(limit: 1)
    let operation = CancelledWhenAsked()
    let others = [BlockOperation {}, BlockOperation {}]
    switch kind {
    case "one": queue.addOperation(operation)
    case "several": queue.addOperations([others[0], operation, others[1]], waitUntilFinished: true)
    default:
      others[0].addDependency(operation)
      queue.addOperations([others[0], operation], waitUntilFinished: false)
    }
    // This hangs if the queue keeps operations that have ended.
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.operationCount == 0 && queue.operations.isEmpty)
    #expect(operation.isFinished && operation.outcome.isCancelled)
  }

  @Test(
    "Q5, Q6: an operation that another thread cancels and ends at any time during adding leaves the queue",
    arguments: [false, true])
  func stress(isFull: Bool) {
    let rounds = 40 * (environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50)
    let seed = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    print("Ends while adding: \(rounds) rounds with HEADWAY_STRESS_SEED=\(seed)")
    let operations = (0..<rounds).map { _ in EndedByCancelling() }
    let queue = OperationQueue()
    // If all concurrency slots are in use, they are added through the inbox.
    var gate: Gate?
    if isFull {
      queue.maxConcurrentOperationCount = 1
      gate = queue.occupy()
    }
    let turns = Turns()
    onThreads(2) { number in
      var generator = SeededGenerator(seed: UInt64(seed) &* 2 &+ UInt64(number))
      for (round, operation) in operations.enumerated() {
        turns.meet(round, number)
        turns.idle(Int.random(in: 0..<60, using: &generator))
        if number == 0 { queue.addOperation(operation) } else { operation.cancel() }
      }
    }
    if let gate {
      #expect(queue.operationCount == 1)
      gate.open()
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.operationCount == 0 && operations.allSatisfy { $0.isFinished })
  }

  // MARK: The outcome

  @Test("B5: an error that is recorded after the operation has finished changes nothing") func recordedLate() {
    let operation = AsynchronousOperation()
    operation.start()
    operation.finish()
    operation.finish(throwing: Mishap())
    operation.recordError(Mishap())
    #expect(operation.outcome.isSuccess && operation.error == nil)
  }

  @Test("B5, D3: if an end and a failure occur at the same time, one counts, for the outcome and for the dependents")
  func failureStress() {
    let rounds = 40 * (environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50)
    let seed = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    print("Ends and failures: \(rounds) rounds with HEADWAY_STRESS_SEED=\(seed)")
    let operations = (0..<rounds).map { _ in AsynchronousOperation() }
    let outcomes = EventRecorder<Bool>()
    let turns = Turns()
    onThreads(2) { number in
      var generator = SeededGenerator(seed: UInt64(seed) &* 2 &+ UInt64(number))
      for (round, operation) in operations.enumerated() {
        if number == 0 { operation.start() }
        turns.meet(round, number)
        turns.idle(Int.random(in: 0..<40, using: &generator))
        guard number == 0 else {
          operation.finish(throwing: Mishap())
          continue
        }
        operation.finish()
        operation.waitUntilFinished()
        outcomes.record(operation.outcome.isSuccess)
      }
    }
    for (operation, wasSuccess) in zip(operations, outcomes.events) {
      #expect(operation.outcome.isSuccess == wasSuccess && (operation.error == nil) == wasSuccess)
      let dependent = BlockOperation {}
      dependent.addDependency(operation, requiring: .success)
      #expect(dependent.isCancelled == !wasSuccess)
    }
    #expect(outcomes.count == rounds)
  }
}

/// Makes two threads continue in step.
final class Turns: Sendable {
  private let first = Atomic<Int>(-1)
  private let second = Atomic<Int>(-1)
  private let idling = Atomic<Int>(0)

  /// Returns when both have reached a round.
  func meet(_ round: Int, _ number: Int) {
    if number == 0 {
      first.store(round, ordering: .releasing)
      while second.load(ordering: .acquiring) < round { yieldThread() }
    } else {
      second.store(round, ordering: .releasing)
      while first.load(ordering: .acquiring) < round { yieldThread() }
    }
  }

  /// Works for a few instants.
  func idle(_ count: Int) {
    for _ in 0..<count { _ = idling.load(ordering: .relaxed) }
  }
}
