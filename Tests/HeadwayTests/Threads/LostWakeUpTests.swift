import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// The work of a batch's thread while another thread visits the queue.
@Suite("Lost wake-ups", .hangLimit) struct LostWakeUpTests {
  // The thread of a batch, X, finishes A, publishes its dependent D and continues with B; another thread, Y, visits:
  //
  //     X: runs A                          Y: collects: there is nothing
  //     X: A ends, D becomes ready
  //     X: runs B, which takes long
  //                                        Y: reclaims: there is nothing
  //                                        Y: finds nothing to do, unless it collects again
  @Test(
    "T2, D1: work that a thread publishes during a visit is found, or a worker is sent for it",
    arguments: [true, false])
  func betweenCollectingAndReclaiming(collectsAgain: Bool) {
    let home = OperationQueue()
    var admission = Admission()
    let (first, second, dependent) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
    dependent.addDependency(first)
    for operation in [first, second, dependent] { add(operation, to: &admission, of: home) }
    #expect(admission.issueTickets()[.normal] == 2)

    let batch = Batch()
    admission.redeemTicket(.normal)
    batch.reset(for: home, nil, admission.placement, .normal)
    let isFilled = admission.fill(batch, atMost: 8, indivisible: 8, at: 0) { _ in true }
    #expect(isFilled && batch.count == 2)
    #expect(admission.issueTickets()[.normal] == 0, "a worker is on its way for the second")
    begin(first, in: batch)

    admission.redeemTicket(.normal)
    collect(&admission)
    let next = first.end(in: batch, isContinued: false, continues: true)
    #expect(next == nil, "the thread continues with the operation that it has taken")
    begin(second, in: batch)
    admission.reclaimBatches()
    #expect(admission.next(for: .normal) == nil)
    if collectsAgain {
      collect(&admission)
      #expect(admission.next(for: .normal) === dependent)
    } else {
      #expect(admission.issueTickets()[.normal] == 1)
      collect(&admission)
      admission.redeemTicket(.normal)
      #expect(admission.next(for: .normal) === dependent)
    }
    // Only the state machine is left to be notified of the ends.
    for operation in [second, dependent] { operation.queueLinks.home = nil }
    dependent.end()
    admission.finished(dependent)?.release()
    _ = second.end(in: batch, isContinued: false, continues: false)
    collect(&admission)
    admission.close(batch)
    #expect(admission.count == 0)
  }

  @Test("T2, D1: a dependent starts while the operation after its dependency waits for it, at any time")
  func stress() {
    let rounds = 40 * (environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50)
    let seed = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    print("Lost wake-ups: \(rounds) rounds with HEADWAY_STRESS_SEED=\(seed)")
    var generator = SeededGenerator(seed: UInt64(seed))
    let queue = OperationQueue()
    for round in 0..<rounds {
      if round % 500 == 0 { noteProgress(of: "Lost wake-ups", "round \(round)") }
      // This makes a worker take several at a time.
      for _ in 0..<8 { queue.addOperations([BlockOperation {}], waitUntilFinished: true) }
      let hasStarted = DispatchSemaphore(value: 0)
      let turns = Int.random(in: 0..<20_000, using: &generator)
      let dependent = BlockOperation { hasStarted.signal() }
      let first = BlockOperation {
        let count = Atomic<Int>(0)
        while count.load(ordering: .relaxed) < turns { count.add(1, ordering: .relaxed) }
      }
      dependent.addDependency(first)
      queue.addOperation(dependent)
      // This hangs if no thread runs the dependent.
      queue.addOperations([first, BlockOperation { hasStarted.wait() }], waitUntilFinished: true)
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.operationCount == 0)
  }

  // While a visit looks for work, it collects the end of an operation that has just added another.
  @Test("Q6: a queue is empty only when the operations added by its operations have run, at any time") func adding() {
    let rounds = 10 * (environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50)
    let queue = OperationQueue()
    for round in 0..<rounds {
      if round % 500 == 0 { noteProgress(of: "Adding from inside", "round \(round)") }
      let ended = Atomic<Int>(0)
      let chain = Chain(of: queue) { ended.add(1, ordering: .relaxed) }
      chain.add(50)
      queue.waitUntilAllOperationsAreFinished()
      guard ended.load(ordering: .relaxed) == 51 else {
        Issue.record("the wait was over after \(ended.load(ordering: .relaxed)) of 51, in round \(round)")
        return queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  /// Each operation adds the next one while it runs.
  private struct Chain: Sendable {
    let queue: OperationQueue
    let end: @Sendable () -> Void

    init(of queue: OperationQueue, end: @escaping @Sendable () -> Void) { (self.queue, self.end) = (queue, end) }

    func add(_ remaining: Int) {
      queue.addOperation {
        if remaining > 0 { add(remaining - 1) }
        end()
      }
    }
  }

  @Test("P2, T2: work behind a long operation of a batch goes to other threads after a millisecond, and not before")
  func late() {
    let home = OperationQueue()
    var admission = Admission()
    let operations = (0..<3).map { _ in BlockOperation {} }
    for operation in operations { add(operation, to: &admission, of: home) }
    let batch = Batch()
    batch.reset(for: home, nil, admission.placement, .normal)
    let isFilled = admission.fill(batch, atMost: 8, indivisible: 8, at: 5_000) { _ in true }
    #expect(isFilled && batch.count == 3)
    begin(operations[0], in: batch)
    admission.reclaimBatches(begunBefore: 5_000)
    #expect(admission.next(for: .normal) == nil)
    admission.reclaimBatches(begunBefore: 5_001)
    #expect(operations.map { $0.admission.place } == [.taken, .ready, .ready])
    #expect(batch.next() == nil, "the thread has no more than what it runs")
    #expect(Pace.lateBatch == 1_000_000)
    for operation in operations.dropFirst() {
      #expect(admission.next(for: .normal) === operation)
      operation.queueLinks.home = nil
      operation.end()
      admission.finished(operation)?.release()
    }
    _ = operations[0].end(in: batch, isContinued: false, continues: false)
    collect(&admission)
    admission.close(batch)
    #expect(admission.count == 0)
  }

  @Test("T2, W5: work behind an operation that waits goes to other threads immediately") func waiting() {
    let (queue, executor) = (OperationQueue(), VisitExecutor())
    queue.executor = executor
    let places = EventRecorder<AdmissionRecord.Place>()
    let next = BlockOperation {}
    queue.addOperation {
      places.record(next.admission.place)
      ThreadContext.threadBlocks()
      places.record(next.admission.place)
    }
    queue.addOperation(next)
    executor.runBatch(of: queue)
    executor.runSteps()
    #expect(places.events == [.taken, .ready] && queue.operationCount == 0)
  }

  // MARK: Steps

  private func add(_ operation: BlockOperation, to admission: inout Admission, of home: OperationQueue) {
    _ = operation.state.reserve()
    operation.queueLinks.home = .passUnretained(home)
    let isIn = admission.add(.passRetained(operation))
    #expect(isIn)
  }

  /// The batch's thread takes its next operation, and begins it.
  private func begin(_ operation: BlockOperation, in batch: Batch) {
    let reference = batch.next()
    #expect(reference?.operation === operation)
    let hasBegun = operation.state.beginPlainly()
    #expect(hasBegun)
    batch.noteCurrent(OperationReference(operation))
  }

  private func collect(_ admission: inout Admission) {
    admission.noteNewlyReady()
    admission.collectFinished(isObserved: false) { $2 ? $1?.release() : () }
    admission.collectNewlyReady { operation, _ in operation.release() }
  }
}
