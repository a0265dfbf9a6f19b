import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

@Suite("Stress", .timeLimit(.minutes(10)), .serialized) struct StressTests {
  /// What several threads do to the same operations and queues, from one seed.
  private final class Mayhem: Sendable {
    static let threadCount = 4
    static let stepCount = 250

    let seed: UInt64
    /// Limited to 0…2; limited to 1, and suspended at times; on a dispatch queue; as the system decides.
    let queues = [OperationQueue(limit: 2), OperationQueue(limit: 1), OperationQueue(), OperationQueue()]
    /// What runs in each of the queues.
    let crowds = [Crowd(), Crowd(), Crowd(), Crowd()]
    /// Never suspended.
    let calm = OperationQueue()
    let census = Crowd()
    let operations = Mutex<[Victim]>([])
    let complaints = EventRecorder<String>()
    let inner = Atomic<Int>(0)

    init(seed: UInt64) {
      self.seed = seed
      queues[2].underlyingQueue = DispatchQueue(label: "mayhem", attributes: .concurrent)
      queues[3].progress.totalUnitCount = 1_000
    }

    func run() {
      onThreads(Self.threadCount) { number in
        var thread = MayhemThread(mayhem: self, number: number)
        for _ in 0..<Self.stepCount { thread.step() }
        thread.addDrafts()
      }
      for queue in queues {
        queue.isSuspended = false
        queue.maxConcurrentOperationCount = queue === queues[1] ? 1 : 2
      }
      for queue in queues { queue.waitUntilAllOperationsAreFinished() }
      calm.waitUntilAllOperationsAreFinished()
    }

    func add(_ operation: Victim, to number: Int) {
      operation.crowd.withLock { $0 = crowds[number] }
      queues[number].addOperation(operation)
    }

    func addBarrier(to number: Int) {
      let crowd = crowds[number]
      queues[number].addBarrierBlock { [self] in
        if crowd.now != 0 { complaints.record("\(crowd.now) operations run beside a barrier of queue \(number)") }
        yieldThread()
        if crowd.now != 0 { complaints.record("an operation started beside a barrier of queue \(number)") }
      }
    }

    func someOperation(_ generator: inout SeededGenerator) -> Victim? {
      operations.withLock { $0.randomElement(using: &generator) }
    }
  }

  /// An operation that counts what happens to it.
  private final class Victim: CountedOperation, @unchecked Sendable {
    let number: Int
    let calls = Mutex((main: 0, completed: 0))
    let crowd = Mutex<Crowd?>(nil)
    private let work: (@Sendable () -> Void)?

    init(_ number: Int, _ mayhem: Mayhem, work: (@Sendable () -> Void)?) {
      self.number = number
      self.work = work
      super.init(mayhem.census)
      completionBlock = { [weak self] in self?.calls.withLock { $0.completed += 1 } }
    }

    override func main() {
      let crowd = crowd.withLock { $0 }
      crowd?.enter()
      calls.withLock { $0.main += 1 }
      work?()
      progress.totalUnitCount = 2
      progress.completedUnitCount = 1
      crowd?.leave()
    }
  }

  /// What one thread does.
  private struct MayhemThread {
    let mayhem: Mayhem
    var generator: SeededGenerator
    /// Made and not added: only this thread gives them dependencies and adds them.
    var drafts: [Victim] = []

    init(mayhem: Mayhem, number: Int) {
      self.mayhem = mayhem
      generator = SeededGenerator(seed: mayhem.seed &* 1_000 &+ UInt64(number))
    }

    mutating func step() {
      switch random(100) {
      case 0..<30: makeDraft()
      case 30..<50: addDraft()
      case 50..<58: mayhem.someOperation(&generator)?.cancel()
      case 58..<66: removeDependency()
      case 66..<72: addDependency()
      case 72..<79: mayhem.someOperation(&generator)?.queuePriority = QueuePriority.allCases[random(5)]
      case 79..<83: mayhem.addBarrier(to: random(4))
      case 83..<88: mayhem.queues[1].isSuspended.toggle()
      case 88..<92: mayhem.queues[0].maxConcurrentOperationCount = random(3)
      case 92..<95: mayhem.queues[random(4)].operations.randomElement(using: &generator)?.cancel()
      case 95..<96: mayhem.queues[random(4)].cancelAllOperations()
      case 96..<98: waitForCancelled()
      default: startByHand()
      }
    }

    private mutating func makeDraft() {
      let operation = mayhem.operations.withLock { operations in
        let operation = Victim(operations.count, mayhem, work: random(5) == 0 ? waitForInner(mayhem) : nil)
        operations.append(operation)
        return operation
      }
      drafts.append(operation)
      while random(3) > 0 { addDependency() }
    }

    /// On one that was added before, so that there are no circles, through barriers neither.
    private mutating func addDependency() {
      guard let draft = drafts.randomElement(using: &generator), let other = mayhem.someOperation(&generator),
        other.state.current.isEnqueued
      else { return }
      draft.addDependency(other)
    }

    private mutating func addDraft() {
      guard let position = drafts.indices.randomElement(using: &generator) else { return }
      let draft = drafts.remove(at: position)
      let number = random(4)
      if random(4) == 0 {
        draft.crowd.withLock { $0 = mayhem.crowds[number] }
        mayhem.queues[number].addOperations([draft], waitUntilFinished: false)
      } else {
        mayhem.add(draft, to: number)
      }
    }

    private mutating func removeDependency() {
      guard let operation = mayhem.someOperation(&generator),
        let dependency = operation.dependencies.randomElement(using: &generator)
      else { return }
      operation.removeDependency(dependency)
    }

    /// Only a cancelled operation is sure to end while queues are suspended, if it is in one.
    private mutating func waitForCancelled() {
      guard let operation = mayhem.queues[random(4)].operations.randomElement(using: &generator) else { return }
      operation.cancel()
      operation.waitUntilFinished()
    }

    /// One that no other thread knows of, since another might cancel or add at the same time.
    private func startByHand() {
      let operation = Victim(-1, mayhem, work: nil)
      operation.start()
      if operation.calls.withLock({ $0.main }) != 1 { mayhem.complaints.record("start() did not run main()") }
    }

    mutating func addDrafts() { while !drafts.isEmpty { addDraft() } }

    private mutating func random(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

    private func waitForInner(_ mayhem: Mayhem) -> @Sendable () -> Void {
      { [unowned mayhem] in
        mayhem.calm.addOperations(
          [BlockOperation { mayhem.inner.add(1, ordering: .relaxed) }], waitUntilFinished: true)
      }
    }
  }

  @Test("O1, O6, Q3, Q8, W1: under mayhem every operation finishes once, no rule is broken and nothing is left")
  func mayhem() {
    let rounds = environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50
    let first = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    print("Stress: \(rounds) rounds from HEADWAY_STRESS_SEED=\(first)")
    for seed in first..<first + rounds {
      let census: Crowd
      do {
        let mayhem = Mayhem(seed: UInt64(seed))
        census = mayhem.census
        mayhem.run()
        let operations = mayhem.operations.withLock { $0 }
        #expect(mayhem.complaints.events == [], "seed \(seed)")
        #expect(mayhem.queues.allSatisfy { $0.operationCount == 0 && $0.operations.isEmpty }, "seed \(seed)")
        #expect(mayhem.crowds[0].most <= 2 && mayhem.crowds[1].most <= 1, "seed \(seed)")
        #expect(operations.allSatisfy { $0.isFinished && $0.dependencies.isEmpty }, "seed \(seed)")
        #expect(eventually { operations.allSatisfy { $0.calls.withLock { $0.completed } == 1 } }, "seed \(seed)")
        for operation in operations {
          let calls = operation.calls.withLock { $0 }
          let isWrong = calls.completed != 1 || calls.main > 1 || (calls.main == 0 && !operation.isCancelled)
          if isWrong { Issue.record("seed \(seed): \(operation.debugDescription) was called \(calls)") }
        }
        mayhem.operations.withLock { $0 = [] }
      }
      #expect(census.eventuallyEmpty(), "seed \(seed): \(census.now) operations are alive")
    }
  }

  @Test("D8: a dependency that finishes while its dependent is cancelled and freed") func freedWhileCountedDown() {
    let pairs = 40 * (environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50)
    let census = Crowd()
    let queue = OperationQueue()
    queue.isSuspended = true
    let dependencies = (0..<pairs).map { _ in BlockOperation {} }
    for dependency in dependencies {
      let dependent = CountedOperation(census)
      dependent.addDependency(dependency)
      queue.addOperation(dependent)
    }
    let dependents = Mutex(Array(queue.operations.reversed()))
    let turns = (Turn(), Turn())
    onThreads(2) { number in
      for position in 0..<pairs {
        if number == 0 {
          turns.0.take(position, after: turns.1)
          dependencies[position].start()
        } else {
          let dependent = dependents.withLock { $0.removeLast() }
          turns.1.take(position, after: turns.0)
          dependent.cancel()
        }
      }
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(census.eventuallyEmpty())
  }

  @Test("Q11: operations and queues made, used and let go of by many threads at once") func shortLived() {
    let census = Crowd()
    onThreads(4) { number in
      for round in 0..<500 {
        let queue = OperationQueue(limit: 1 + round % 3)
        let first = CountedOperation(census)
        for _ in 0..<4 {
          let operation = CountedOperation(census)
          operation.addDependency(first)
          queue.addOperation(operation)
          if round % 5 == number { operation.cancel() }
        }
        queue.addOperation(first)
        queue.addBarrierBlock {}
        queue.addOperation(CountedOperation(census))
        if round % 2 == 0 { queue.waitUntilAllOperationsAreFinished() }
      }
    }
    #expect(census.eventuallyEmpty())
  }

  @Test("W3: tasks that wait and are cancelled at random never hang or miss the end") func cancelledTasks() async {
    for seed in 0..<20 {
      var generator = SeededGenerator(seed: UInt64(seed))
      let queue = OperationQueue(limit: 2)
      let isCancelled = (0..<50).map { _ in Bool.random(using: &generator) }
      let ended = await withTaskGroup(of: Bool.self) { group in
        var tasks: [Task<Void, any Error>] = []
        for _ in 0..<50 {
          let operation = BlockOperation {}
          queue.addOperation(operation)
          tasks.append(Task { try await operation.finished() })
        }
        for (task, isCancelled) in zip(tasks, isCancelled) {
          if isCancelled { task.cancel() }
          group.addTask {
            do {
              try await task.value
              return true
            } catch { return error is CancellationError && isCancelled }
          }
        }
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(ended == 50, "seed \(seed)")
      queue.waitUntilAllOperationsAreFinished()
    }
  }
}

/// Lets two threads go on in step, as nearly at once as can be.
private final class Turn: Sendable {
  private let position = Atomic<Int>(-1)

  func take(_ new: Int, after other: Turn) {
    position.store(new, ordering: .releasing)
    while other.position.load(ordering: .acquiring) < new { yieldThread() }
  }
}
