import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Operations that can end after their `main()` run in batches if they end inside it.
@Suite("Asynchronous operations in batches", .hangLimit) struct AsynchronousBatchTests {
  /// Runs the given function in `main()`.
  private final class Work: AsynchronousOperation, @unchecked Sendable {
    let work: @Sendable (Work) throws -> Void
    let census: Crowd

    init(_ census: Crowd = Crowd(), work: @escaping @Sendable (Work) throws -> Void) {
      (self.work, self.census) = (work, census)
      census.enter()
    }

    override func main() throws { try work(self) }

    deinit { census.leave() }
  }

  private final class OwnFinish: AsynchronousOperation, @unchecked Sendable {
    override var isFinished: Bool { super.isFinished }
  }

  private let queue = OperationQueue()
  private let executor = VisitExecutor()
  private let order = EventRecorder<String>()

  init() { queue.executor = executor }

  private func place(of operation: Headway.Operation) -> AdmissionRecord.Place {
    queue.state.withLock { _ in operation.admission.place }
  }

  @Test("P2, B3: only certain operations that might end later go into batches") func whatFits() {
    #expect(Work { _ in }.fitsBatch && TaskOperation {}.fitsBatch)
    #expect(!OwnFinish().fitsBatch && !GroupOperation().fitsBatch)
  }

  @Test("O2, Q1, O8: operations that finish in main() run in one batch, and have left the queue when finish() returns")
  func endInMain() {
    let census = Crowd()
    for number in 0..<6 {
      queue.addOperation(
        Work(census) { [queue, order] operation in
          let place = place(of: operation)
          operation.finish()
          order.record("\(number) \(place) \(operation.isFinished) \(queue.operationCount) \(census.now)")
          operation.finish()
        })
    }
    executor.runBatch(of: queue)
    #expect(order.events == (0..<6).map { "\($0) taken true \(5 - $0) \(6 - $0)" })
    #expect(queue.operationCount == 0 && census.now == 0)
  }

  @Test("O2, Q2: an operation that continues after main() leaves its batch; other threads run the rest of the batch")
  func goesOn() {
    queue.maxConcurrentOperationCount = 2
    let census = Crowd()
    let going = Work(census) { [order] _ in order.record("begins") }
    queue.addOperation { [order] in order.record("before") }
    queue.addOperation(going)
    for name in ["behind", "last"] { queue.addOperation { [order] in order.record(name) } }
    executor.runBatch(of: queue)
    #expect(order.events == ["before", "begins"])
    #expect(going.isExecuting && place(of: going) == .running && queue.operationCount == 3)
    executor.runSteps()
    #expect(order.events == ["before", "begins", "behind", "last"] && queue.operationCount == 1)
    going.finish()
    #expect(going.isFinished && queue.operationCount == 0 && place(of: going) == .none)
  }

  @Test(
    "O2, Q2: an operation that ends during main(), on its own or another thread, gives up its concurrency slot",
    arguments: [true, false])
  func goesOnInMain(isEndedElsewhere: Bool) {
    queue.maxConcurrentOperationCount = 1
    let census = Crowd()
    queue.addOperation(
      Work(census) { [queue, order, executor] operation in
        if isEndedElsewhere { onThreads(1) { _ in operation.finish() } } else { operation.finish() }
        order.record("ended, \(queue.operationCount) remain")
        executor.runSteps()
        order.record("main() returns, \(queue.operationCount) remain")
      })
    for number in 1...2 { queue.addOperation { [order] in order.record("\(number)") } }
    executor.runBatch(of: queue)
    #expect(order.events == ["ended, 2 remain", "1", "2", "main() returns, 0 remain"])
    #expect(census.now == 0)
  }

  @Test("Q8, W5: a wait for the queue does not include code after finish() in main(), and main() can wait")
  func waits() {
    let (queue, gate) = (OperationQueue(), Gate())
    let last = BlockOperation {}
    queue.addOperation(
      Work { operation in
        operation.finish()
        last.waitUntilFinished()
      })
    queue.addOperation(last)
    last.waitUntilFinished()
    queue.addOperation(
      Work { operation in
        operation.finish()
        gate.wait()
      })
    queue.waitUntilAllOperationsAreFinished()
    gate.open()
  }

  @Test("O2: an operation of a batch that ends before it starts never runs, not even the first operation")
  func endedBefore() {
    let census = Crowd()
    let operations = (0..<5).map { number in
      Work(census) { [order] operation in
        order.record("\(number)")
        operation.finish()
      }
    }
    for operation in operations { queue.addOperation(operation) }
    executor.runBatch(of: queue) {
      #expect(operations.allSatisfy { place(of: $0) == .taken })
      operations[0].finish()
      #expect(queue.operationCount == 4 && queue.operations.count == 4)
    }
    #expect(order.events == [] && queue.operationCount == 4)
    operations[2].finish()
    executor.runSteps()
    #expect(order.events == ["1", "3", "4"] && operations.allSatisfy { $0.isFinished } && queue.operationCount == 0)
  }

  @Test("O2: an operation ends a later operation of its batch") func endsNext() {
    let next = Work { [order] _ in order.record("never") }
    queue.addOperation(
      Work { operation in
        next.finish()
        operation.finish()
      })
    queue.addOperation(next)
    queue.addOperation { [order] in order.record("last") }
    executor.runBatch(of: queue)
    executor.runSteps()
    #expect(order.events == ["last"] && next.isFinished && queue.operationCount == 0)
  }

  @Test("O2, Q1: an operation ends as its batch's thread takes it: what the thread published just before still counts")
  func endedAsItIsTaken() throws {
    let (first, second, third) = (BlockOperation {}, Work { $0.finish() }, BlockOperation {})
    for operation in [first, second, third] { queue.addOperation(operation) }
    let batch = Batch()
    queue.update { state in
      batch.reset(for: queue, executor, state.admission.placement, .normal)
      _ = state.admission.fill(batch, atMost: 3, indivisible: 3, at: 0) { $0.fitsBatch }
    }
    // The batch's thread runs the first operation.
    let reference = try #require(batch.next())
    batch.noteCurrent(reference)
    let hasBegun = first.state.beginPlainly()
    #expect(hasBegun)
    // Another thread ends the second. After that thread has collected, the batch's thread ends the first, and
    // continues.
    let before = second.state.finish()
    #expect(before != nil)
    let member = queue.update(collectingBatches: true) { state in
      let hasEnded = first.state.finishPlainly()
      #expect(hasEnded)
      batch.publishTaken()
      if let next = batch.next() { batch.noteCurrent(next) }
      state.admission.detach(ended: second, hasBegun: false)
      return state.admission.finished(second)
    }
    member?.release()
    let begins = second.state.beginPlainly()
    #expect(!begins)
    batch.withdrawCurrent()
    #expect(!queue.update(collectingBatches: true) { $0.admission.claimTaken(second, of: batch) })
    reference.release()
    batch.release()
    #expect(queue.operationCount == 1 && queue.operations == [third])
    executor.runSteps()
    #expect(queue.operationCount == 0)
  }

  @Test("B5: an error from main() or finish(throwing:) finishes the operation, in a batch or outside") func fails() {
    let thrown = Work { _ in throw Mishap(name: "thrown") }
    let said = Work { $0.finish(throwing: Mishap(name: "said")) }
    let recorded = Work { $0.recordError(Mishap(name: "recorded")) }
    let dependent = BlockOperation { [order] in order.record("never") }
    dependent.addDependency(said, requiring: .success)
    for operation in [thrown, said, recorded, dependent] as [Headway.Operation] { queue.addOperation(operation) }
    executor.runBatch(of: queue)
    executor.runSteps()
    #expect(thrown.error as? Mishap == Mishap(name: "thrown") && said.error as? Mishap == Mishap(name: "said"))
    #expect(recorded.error as? Mishap == Mishap(name: "recorded"))
    #expect(dependent.isCancelled && order.events == [] && queue.operationCount == 0)
  }

  @Test("K1, D1, O6: an operation that finishes in main() notifies observers, dependents, and its completion block")
  func notifies() {
    let operation = Work { [order] operation in
      operation.finish()
      order.record("main() returns")
    }
    let token = operation.observe(\.isFinished) { [order] operation, _ in
      order.record("observed")
      #expect(operation.isFinished)
    }
    operation.completionBlock = { [order] in order.record("completed") }
    let dependent = BlockOperation { [order] in order.record("dependent") }
    dependent.addDependency(operation)
    queue.addOperation(operation)
    queue.addOperation(dependent)
    executor.runBatch(of: queue)
    executor.runSteps()
    #expect(order.events.first == "observed" && order.events.contains("dependent"))
    #expect(order.events.firstIndex(of: "observed")! < order.events.firstIndex(of: "main() returns")!)
    #expect(eventually { order.events.count == 4 })
    token.invalidate()
  }

  @Test("P2: after an operation has continued after main(), operations that can end later run separately for a while")
  func alone() {
    var going: [Work] = []
    for _ in 0..<Admission.mostAlone + 2 {
      let operation = Work { [order] operation in order.record("\(place(of: operation))") }
      going.append(operation)
      queue.addOperation(operation)
    }
    executor.runSteps()
    #expect(order.events == ["taken"] + Array(repeating: "running", count: Admission.mostAlone) + ["taken"])
    for operation in going { operation.finish() }
    #expect(queue.operationCount == 0)
  }

  @Test("B3, Q2: functions that do not suspend run in one batch, even in a limited queue", arguments: [-1, 1])
  func tasks(
    limit: Int
  ) async throws {
    let queue = OperationQueue(limit: limit)
    queue.isSuspended = true
    let places = (0..<5).map { number in
      queue.addTask { [queue] in
        let operation = ThreadContext.operations.first
        return queue.state.withLock { _ in operation?.admission.place }
      }
    }
    queue.isSuspended = false
    for place in places { #expect(try await place.value == .taken) }
  }

  /// The events of each operation.
  private enum Fate: CaseIterable {
    case endsInMain, endedAtOnce, endedInMain, endedLater, endedBefore, cancelled
  }

  @Test("O1, O2, Q1, O8, Q10: operations ended by several threads each run at most once, count once, and leave once")
  func race() {
    let rounds = environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50
    for seed in 1...rounds {
      var generator = SeededGenerator(seed: UInt64(seed))
      let (census, queue) = (Crowd(), OperationQueue())
      queue.maxConcurrentOperationCount = [-1, -1, 1, 2, 3].randomElement(using: &generator)!
      let isTracked = seed % 2 == 0
      if isTracked { queue.progress.totalUnitCount = 1_000 }
      let others = OperationQueue()
      var added: Int64 = 0
      let runs = Mutex<[Int: Int]>([:])
      let count = 40
      for number in 0..<count {
        let fate = Fate.allCases.randomElement(using: &generator)!
        let operation = Work(census) { operation in
          runs.withLock { $0[number, default: 0] += 1 }
          switch fate {
          case .endsInMain, .endedBefore: operation.finish()
          case .endedAtOnce:
            others.addOperation { operation.finish() }
            operation.finish()
          case .endedInMain:
            others.addOperation { operation.finish() }
            operation.waitUntilFinished()
          case .endedLater: others.addOperation { operation.finish() }
          case .cancelled:
            operation.cancel()
            operation.finish()
          }
        }
        if generator.next() % 4 == 0 {
          queue.addOperation {}
          added += 1
        }
        queue.addOperation(operation)
        added += 1
        if fate == .endedBefore { others.addOperation { operation.finish() } }
        if fate == .cancelled { others.addOperation { operation.cancel() } }
      }
      queue.waitUntilAllOperationsAreFinished()
      others.waitUntilAllOperationsAreFinished()
      #expect(queue.operationCount == 0 && queue.operations.isEmpty, "seed \(seed)")
      #expect(runs.withLock { $0.values.allSatisfy { $0 == 1 } }, "seed \(seed)")
      if isTracked { #expect(queue.progress.completedUnitCount == added, "seed \(seed)") }
      #expect(census.eventuallyEmpty(), "seed \(seed): \(census.now) operations are left")
    }
  }
}
