import Headway
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

/// Functions that await everything in the library that can be awaited, cancelled at any moment.
@Suite("Storm of cancellations", .hangLimit, .serialized) struct TaskStormTests {
  @Test("B3, B4, C7, Q13, Q15, W3: tasks that are cancelled while they await anything end, and nothing remains")
  func storm() async {
    let rounds = environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50
    let first = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    print("Storm of cancellations: \(rounds) rounds from HEADWAY_STRESS_SEED=\(first)")
    for seed in first..<first + rounds {
      noteProgress(of: "Storm of cancellations", "HEADWAY_STRESS_SEED=\(seed)")
      let tokens = Tokens()
      let left = await TaskStorm(seed: UInt64(seed), tokens).run()
      #expect(left == [], "seed \(seed)")
      // Functions, and so tasks and operations, that were not freed.
      await until { tokens.liveCount == 0 }
    }
  }
}

private final class TaskStorm: Sendable {
  private let seed: UInt64
  private let tokens: Tokens
  private let queues: [OperationQueue]
  /// Opened at the end: functions that wait for it do not check whether they are cancelled.
  private let gate = Gate()
  private let operations = Mutex<[TaskOperation<Int>]>([])
  private let lastNumber = Atomic<UInt64>(0)

  init(seed: UInt64, _ tokens: Tokens) {
    (self.seed, self.tokens) = (seed, tokens)
    var generator = SeededGenerator(seed: seed)
    let limits = [-1, 1, 2, 4].shuffled(using: &generator)
    queues = limits.prefix(2).map { OperationQueue(limit: $0) } + [OperationQueue(name: "in order", order: .fifo)]
    queues[0].maxOperationCount = Int.random(in: 1...8, using: &generator)
  }

  /// Numbers for one function; which numbers it gets depends on the threads, but its actions with them do not.
  private func makeGenerator() -> SeededGenerator {
    SeededGenerator(seed: (seed << 20) &+ lastNumber.add(1, ordering: .relaxed).newValue)
  }

  /// Runs functions, cancels at random, and then cancels all.
  ///
  /// - Returns: The objects that have not been freed.
  func run() async -> [String] {
    var generator = makeGenerator()
    var tasks: [Task<Int, any Error>] = []
    for _ in 0..<Int.random(in: 1...400, using: &generator) {
      switch Int.random(in: 0...11, using: &generator) {
      case 0...2: operations.withLock { $0 }.randomElement(using: &generator)?.cancel()
      case 3: tasks.randomElement(using: &generator)?.cancel()
      case 4: queues.randomElement(using: &generator)?.cancelAllOperations()
      case 5: queues.randomElement(using: &generator)?.isSuspended.toggle()
      case 6...7: tasks.append(Task { try await self.function(depth: 0) })
      default: await Task.yield()
      }
    }
    for queue in queues { queue.isSuspended = false }
    gate.open()
    for task in tasks { task.cancel() }
    let ended = Counter()
    let waiters = tasks.map { task in
      Task {
        _ = await task.result
        ended.increment()
      }
    }
    // Functions that are under way can still add others.
    await until {
      for queue in queues { queue.cancelAllOperations() }
      return ended.value == waiters.count && queues.allSatisfy { $0.operationCount == 0 }
    }
    for waiter in waiters { await waiter.value }
    let unfinished = operations.withLock { operations in
      defer { operations = [] }
      return operations.filter { !$0.isFinished }
    }
    return unfinished.map { "\($0)" }
  }

  // MARK: The functions

  /// Awaits several things, one after the other.
  private func function(depth: Int) async throws -> Int {
    let token = tokens.make()
    var generator = makeGenerator()
    var sum = 0
    for _ in 0..<Int.random(in: 1...6, using: &generator) {
      sum += try await step(depth, &generator)
    }
    withExtendedLifetime(token) {}
    return sum
  }

  private func step(_ depth: Int, _ generator: inout SeededGenerator) async throws -> Int {
    let queue = queues.randomElement(using: &generator) ?? OperationQueue()
    let number = Int.random(in: 0...12, using: &generator)
    // No deeper: each step would be the beginning of several.
    switch depth < 2 ? number : number % 5 {
    case 0: await Task.yield()
    case 1: try await Task.sleep(for: .seconds(3_600))
    case 2: await gate.untilOpen()
    case 3: return try await operations.withLock { $0 }.randomElement(using: &generator)?.value ?? 0
    case 4: throw Mishap()
    case 5, 6:
      let operation = queue.addTask { try await self.function(depth: depth + 1) }
      operations.withLock { $0.append(operation) }
      return number == 5 ? 0 : try await operation.value
    case 7: return try await queue.run(TaskOperation { try await self.function(depth: depth + 1) })
    case 8: return try await queue.concurrentMap(0..<3) { _ in try await self.function(depth: depth + 1) }.count
    case 9:
      let results = queue.results(of: 0..., inOrder: depth == 0) { _ in try await self.function(depth: depth + 1) }
      for try await value in results where value != 0 { return value }
    case 10:
      return try await withOperationQueue(maxConcurrentOperationCount: 2) { queue in
        for _ in 0..<3 { queue.addTask { try await self.function(depth: depth + 1) } }
        return 1
      }
    case 11:
      for _ in 0..<4 {
        try await queues[0].addOperationWhenBelowLimit(TaskOperation { try await self.function(depth: depth + 1) })
      }
    default:
      let group = GroupOperation { queue in
        for _ in 0..<3 { queue.addTask { try await self.function(depth: depth + 1) } }
      }
      try await queue.run(group)
    }
    return 0
  }
}
