import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

/// Like `StressTests`, with operations that threads take in batches: blocks, and subclasses that start with `main()`
/// and end when that returns.
@Suite("Stress of runs", .hangLimit, .serialized) struct BatchStressTests {
  @Test("O1, C3, D1, K2, P2, Q4, Q5, Q6, Q8, W1, W2: under load each operation runs once, and nothing remains")
  func mayhem() {
    let rounds = environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50
    let first = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    print("Stress of runs: \(rounds) rounds from HEADWAY_STRESS_SEED=\(first)")
    for seed in first..<first + rounds {
      noteProgress(of: "Stress of runs", "HEADWAY_STRESS_SEED=\(seed)")
      let mayhem = RunMayhem(seed: UInt64(seed))
      mayhem.run()
      #expect(mayhem.complaints.events == [], "seed \(seed)")
      #expect(mayhem.queues.allSatisfy { $0.operationCount == 0 && $0.operations.isEmpty }, "seed \(seed)")
      let operations = mayhem.operations.withLock { operations in
        defer { operations = [] }
        return operations
      }
      for (number, counted) in operations.enumerated() {
        let runs = counted.runs.withLock { $0 }
        let isRight = counted.operation.isFinished && (runs == 1 || runs == 0 && counted.operation.isCancelled)
        if !isRight { Issue.record("seed \(seed): \(number) ran \(runs) times: \(counted.operation.debugDescription)") }
      }
      #expect(eventually { operations.allSatisfy { $0.completions.withLock { $0 } == 1 } }, "seed \(seed)")
    }
  }
}

/// Overrides the members that a batch can call and has code that runs when it is freed.
private final class LastWordsOperation: BlockOperation, @unchecked Sendable {
  let mayhem = Mutex<RunMayhem?>(nil)

  override func main() { super.main() }

  deinit {
    // It would wait forever if it were freed under the lock of a queue.
    for queue in mayhem.withLock({ $0 })?.queues ?? [] { _ = queue.operationCount }
  }
}

/// A block operation, and how often its blocks were called.
private final class CountedBlock: Sendable {
  let operation: BlockOperation
  let runs: SharedCount
  let completions: SharedCount

  /// - Parameters:
  ///   - mayhem: For an operation of a subclass.
  ///   - body: The code that the block runs.
  init(ofSubclassIn mayhem: RunMayhem?, _ body: @escaping @Sendable () -> Void) {
    let (runs, completions) = (SharedCount(), SharedCount())
    let block: @Sendable () -> Void = {
      runs.withLock { $0 += 1 }
      body()
    }
    if let mayhem {
      let subclass = LastWordsOperation(block: block)
      subclass.mayhem.withLock { $0 = mayhem }
      operation = subclass
    } else {
      operation = BlockOperation(block: block)
    }
    operation.completionBlock = { completions.withLock { $0 += 1 } }
    (self.runs, self.completions) = (runs, completions)
  }
}

private final class SharedCount: Sendable {
  private let count = Mutex(0)

  func withLock<Answer: Sendable>(_ body: (inout Int) -> Answer) -> Answer { count.withLock { body(&$0) } }
}

/// The changes that several threads make to the same operations and queues, from one seed.
private final class RunMayhem: Sendable {
  let seed: UInt64
  let queues = [OperationQueue(), OperationQueue()]
  let operations = Mutex<[CountedBlock]>([])
  let complaints = EventRecorder<String>()

  init(seed: UInt64) { self.seed = seed }

  func run() {
    onThreads(3) { [self] number in
      var generator = SeededGenerator(seed: seed &* 1_000 &+ UInt64(number))
      var tokens: [KeyValueObservation] = []
      for _ in 0..<60 { step(&generator, &tokens) }
      tokens.forEach { $0.invalidate() }
    }
    for queue in queues { queue.isSuspended = false }
    for queue in queues { queue.maxConcurrentOperationCount = -1 }
    for queue in queues { queue.waitUntilAllOperationsAreFinished() }
  }

  private func step(_ generator: inout SeededGenerator, _ tokens: inout [KeyValueObservation]) {
    let queue = queues[random(2, &generator)]
    switch random(100, &generator) {
    case 0..<40: add(1 + random(80, &generator), to: queue, &generator)
    case 40..<50: anyone(&generator)?.cancel()
    case 50..<60: anyone(&generator)?.queuePriority = QueuePriority.allCases[random(5, &generator)]
    case 60..<66: queue.isSuspended.toggle()
    case 66..<70: queue.maxConcurrentOperationCount = [-1, -1, 0, 1, 3][random(5, &generator)]
    case 70..<76: queue.addBarrierBlock {}
    case 76..<82: waitForCancelled(in: queue, &generator)
    case 82..<86: observe(queue, &tokens)
    case 86..<90: tokens.popLast()?.invalidate()
    case 90..<92: anyone(&generator)?.qualityOfService = QualityOfService.allCases[random(5, &generator)]
    case 92..<94: queue.progress.totalUnitCount = Int64(random(2, &generator) * 1_000)
    case 94..<96: queue.operations.randomElement(using: &generator)?.cancel()
    case 96..<97: queue.cancelAllOperations()
    default: look(at: queue)
    }
  }

  /// Adds operations.
  ///
  /// Some depend on operations that were added earlier, so there are no cycles.
  private func add(_ count: Int, to queue: OperationQueue, _ generator: inout SeededGenerator) {
    var batch: [CountedBlock] = []
    for _ in 0..<count {
      let wait = random(200, &generator) == 0
      let counted = CountedBlock(ofSubclassIn: random(2, &generator) == 0 ? self : nil) {
        if wait { OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true) }
      }
      if random(4, &generator) == 0, let other = random(2, &generator) == 0 ? batch.last?.operation : anyone(&generator)
      {
        counted.operation.addDependency(other)
      }
      batch.append(counted)
    }
    if random(2, &generator) == 0 {
      queue.addOperations(batch.map(\.operation), waitUntilFinished: false)
    } else {
      for counted in batch { queue.addOperation(counted.operation) }
    }
    operations.withLock { $0 += batch }
  }

  /// Only a cancelled operation certainly ends while queues are suspended.
  private func waitForCancelled(in queue: OperationQueue, _ generator: inout SeededGenerator) {
    guard let operation = queue.operations.randomElement(using: &generator) else { return }
    operation.cancel()
    operation.waitUntilFinished()
    if queue.operations.contains(where: { $0 === operation }) {
      complaints.record("an operation is in the queue after the end of a wait for it")
    }
  }

  private func observe(_ queue: OperationQueue, _ tokens: inout [KeyValueObservation]) {
    let last = Mutex<Int?>(nil)
    let token = queue.observe(\.operationCount, options: .new) { [complaints] _, change in
      let new = change.newValue ?? -1
      let old = last.withLock { last in
        defer { last = new }
        return last
      }
      // Batches arrive together; finished operations are reported one by one.
      if let old, new < old - 1 || new < 0 { complaints.record("the count went from \(old) to \(new)") }
    }
    tokens.append(token)
  }

  private func look(at queue: OperationQueue) {
    _ = (queue.operationCount, queue.description)
  }

  private func anyone(_ generator: inout SeededGenerator) -> BlockOperation? {
    operations.withLock { $0.randomElement(using: &generator)?.operation }
  }

  private func random(_ limit: Int, _ generator: inout SeededGenerator) -> Int {
    Int.random(in: 0..<limit, using: &generator)
  }
}
