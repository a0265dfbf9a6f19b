import HeadwayTestKit
import HeadwayTestSupport
import Synchronization

@testable import Headway

/// One round of a storm of policies.
final class PolicyStorm: Sendable {
  private struct Failure: Error {}
  private struct Refusal: RetryableError { var isRetryable: Bool { false } }

  /// How often the function and the completion block of an operation were called.
  private final class Calls: Sendable {
    let runCount = Atomic<Int>(0)
    let completionCount = Atomic<Int>(0)
  }

  /// A queue with its known properties.
  struct Target: Sendable {
    let queue: OperationQueue
    let limit: Int?
    let keyLimits: [String: Int]
    let coalescing: [CoalescingPolicy]
  }

  private let seed: UInt64
  private let witness: StormWitness
  private let clock: ManualClock?
  let targets: [Target]
  private let operations = Mutex<[(operation: Operation, calls: Calls)]>([])
  let tasks = Mutex<[Task<Void, Never>]>([])
  private let expectedCompletions = Atomic<Int>(0)
  private let completions = Atomic<Int>(0)
  private let isOver = Atomic<Bool>(false)

  init(seed: UInt64, _ witness: StormWitness) {
    (self.seed, self.witness) = (seed, witness)
    var generator = SeededGenerator(seed: seed)
    let clock = generator.chance(60) ? ManualClock() : nil
    self.clock = clock
    targets = (0..<Int.random(in: 1...3, using: &generator)).map { number in
      Self.makeTarget("storm \(seed) \(number)", on: clock, &generator)
    }
  }

  private static func makeTarget(
    _ name: String, on clock: ManualClock?, _ generator: inout SeededGenerator
  ) -> Target {
    let limit = [nil, 1, 2, 3].randomElement(using: &generator) ?? nil
    let queue = OperationQueue(
      name: name, maxConcurrentOperationCount: limit ?? -1,
      qualityOfService: generator.chance(20) ? .utility : .default)
    if let clock { queue.clock = clock }
    var keyLimits: [String: Int] = [:]
    for key in keys where generator.chance(50) {
      var policy = KeyPolicy(weight: Int.random(in: 1...3, using: &generator))
      if generator.chance(60) {
        policy.maxConcurrentOperationCount = Int.random(in: 1...2, using: &generator)
        keyLimits[key] = policy.maxConcurrentOperationCount
      }
      if generator.chance(20) { policy.rateLimit = makeRate(&generator) }
      if generator.chance(20) {
        policy.circuitBreaker = CircuitBreaker(maxFailureCount: 2, openDuration: .milliseconds(2))
      }
      queue.setKeyPolicy(policy, forKey: key)
    }
    if generator.chance(25) { queue.rateLimit = makeRate(&generator) }
    let modes: [CoalescingPolicy] = [.joinUnfinished, .dropNew, .joinWaiting, .replaceWaiting, .replaceUnfinished]
    return Target(
      queue: queue, limit: limit, keyLimits: keyLimits,
      coalescing: (0..<3).map { _ in modes.randomElement(using: &generator)! })
  }

  static let keys = (0..<4).map { "key \($0)" }

  static func makeRate(_ generator: inout SeededGenerator) -> RateLimit {
    let count = Int.random(in: 1...50, using: &generator)
    return generator.chance(50)
      ? RateLimit(count, per: .milliseconds(5), burst: Int.random(in: 1...5, using: &generator))
      : .slidingWindow(count, per: .milliseconds(5))
  }

  // MARK: The round

  func run() async {
    var generator = SeededGenerator(seed: seed &* 31)
    await withTaskGroup { group in
      let seeds = (0..<Int.random(in: 1...3, using: &generator)).map { _ in generator.next() }
      await withTaskGroup { adders in
        group.addTask { await self.advanceClock() }
        for seed in seeds { adders.addTask { await self.add(seed: seed) } }
      }
      await finish()
      isOver.store(true, ordering: .relaxed)
    }
    operations.withLock { $0 = [] }
    tasks.withLock { $0 = [] }
  }

  private func advanceClock() async {
    guard let clock else { return }
    var generator = SeededGenerator(seed: seed &* 37)
    while !isOver.load(ordering: .relaxed) {
      clock.advance(by: .microseconds(Int.random(in: 0...500, using: &generator)))
      await Task.yield()
    }
  }

  private func finish() async {
    for target in targets {
      target.queue.isSuspended = false
      target.queue.rateLimit = nil
      if target.limit == nil { target.queue.maxConcurrentOperationCount = -1 }
    }
    for target in targets { try? await target.queue.untilAllOperationsAreFinished() }
    for task in tasks.withLock({ $0 }) { await task.value }
    for (operation, calls) in operations.withLock({ $0 }) {
      try? await operation.untilFinished()
      let outcome = operation.outcome
      witness.check(outcome != nil, "\(operation) has no outcome")
      if case .success? = outcome {
        witness.check(calls.runCount.load(ordering: .relaxed) > 0, "\(operation) succeeded without having run")
      }
    }
    await until { completions.load(ordering: .relaxed) == expectedCompletions.load(ordering: .relaxed) }
    for target in targets {
      witness.check(target.queue.operationCount == 0, "\(target.queue) has operations")
    }
  }

  // MARK: Operations

  private func add(seed: UInt64) async {
    var generator = SeededGenerator(seed: seed)
    var mine: [Operation] = []
    for number in 0..<Int.random(in: 5...60, using: &generator) {
      let target = targets.randomElement(using: &generator)!
      switch generator.next() % 12 {
      case 0...2: addBlock(to: target, number)
      case 3...4: addCoalesced(to: target, number, &generator)
      default:
        let operation = addOperation(to: target, number, after: mine.randomElement(using: &generator), &generator)
        mine.append(operation)
      }
      change(target, mine, &generator)
      if generator.chance(10) { await Task.yield() }
    }
  }

  private func limits(of policy: OperationPolicy, in target: Target) -> [String: Int] {
    var limits: [String: Int] = [:]
    if let limit = target.limit { limits["\(target.queue.name ?? "")"] = limit }
    if let key = policy.key, let limit = target.keyLimits[key] { limits["\(target.queue.name ?? "") \(key)"] = limit }
    return limits
  }

  private func addBlock(to target: Target, _ number: Int) {
    let (held, limits) = (StormWitness.Held(witness), limits(of: OperationPolicy(), in: target))
    target.queue.addOperation { [witness] in
      witness.enter(OperationPolicy(), limits)
      if number % 3 == 0 { yieldThread() }
      witness.leave(OperationPolicy(), limits)
      withExtendedLifetime(held) {}
      if number % 13 == 0 { throw Failure() }
    }
  }

  private func makePolicy(_ generator: inout SeededGenerator) -> OperationPolicy {
    var policy = OperationPolicy()
    func names() -> Set<String> {
      Set((0..<Int.random(in: 1...2, using: &generator)).map { _ in "storm \(seed) \(generator.next() % 4)" })
    }
    if generator.chance(25) { policy.delay = .microseconds(Int.random(in: 0...5_000, using: &generator)) }
    if generator.chance(10) { policy.timeout = .milliseconds(Int.random(in: 1...10, using: &generator)) }
    if generator.chance(10) { policy.totalTimeout = .milliseconds(Int.random(in: 1...40, using: &generator)) }
    if generator.chance(30) { policy.exclusiveResources = names() }
    if generator.chance(30) { policy.sharedResources = names().subtracting(policy.exclusiveResources) }
    if generator.chance(40) { policy.key = Self.keys.randomElement(using: &generator) }
    return policy
  }

  private func addOperation(
    to target: Target, _ number: Int, after other: Operation?, _ generator: inout SeededGenerator
  ) -> Operation {
    let policy = makePolicy(&generator)
    let limits = limits(of: policy, in: target)
    let (held, witness) = (StormWitness.Held(witness), witness)
    let calls = Calls()
    let due = (clock?.now.offset).flatMap { now in policy.delay.map { now + $0 } }
    let body: @Sendable (_ maxRunCount: Int) -> Void = { [clock] maxRunCount in
      let runCount = calls.runCount.add(1, ordering: .relaxed).newValue
      witness.check(runCount <= maxRunCount, "\(number) ran \(runCount) times")
      if let due, let now = clock?.now.offset {
        witness.check(now >= due, "\(number) started at \(now), before \(due)")
      }
      witness.enter(policy, limits)
      if number % 7 == 0 { yieldThread() }
      witness.leave(policy, limits)
      withExtendedLifetime(held) {}
    }
    let operation: Operation
    switch generator.next() % 6 {
    case 0, 1:
      operation = BlockOperation {
        body(1)
        if number % 11 == 0 { throw Failure() }
      }
    case 2, 3:
      let retry = RetryPolicy(
        maxAttemptCount: 1 + number % 4, backoff: .constant(.microseconds(number * 37 % 2_000)),
        jitter: number % 2 == 0 ? .full : .none, keepsSlot: number % 5 == 0)
      operation = TaskOperation(.retry(retry)) { attempt in
        body(1 + number % 4)
        if number % 3 == 0 { await Task.yield() }
        if attempt < number % 5 { throw Failure() }
        if number % 17 == 0 { throw Refusal() }
      }
    case 4: operation = TaskOperation { body(1) }
    default:
      operation = GroupOperation { group in
        for part in 0..<3 {
          let block = BlockOperation {
            if part == 0 { body(1) }
            if (number + part) % 9 == 0 { throw Failure() }
          }
          if part == 1 { block.policy = OperationPolicy(delay: .microseconds(number % 1_000)) }
          group.addOperation(block)
        }
      }
    }
    operation.policy = policy
    configure(operation, &generator)
    if let other, generator.chance(25) {
      operation.addDependency(other, requiring: generator.chance(30) ? .success : .completion)
    }
    if generator.chance(30) {
      expectedCompletions.add(1, ordering: .relaxed)
      operation.completionBlock = { [self] in
        let count = calls.completionCount.add(1, ordering: .relaxed).newValue
        witness.check(count == 1, "the completion block of \(number) ran \(count) times")
        completions.add(1, ordering: .relaxed)
      }
    }
    operations.withLock { $0.append((operation, calls)) }
    target.queue.addOperation(operation)
    return operation
  }

  private func configure(_ operation: Operation, _ generator: inout SeededGenerator) {
    if generator.chance(15), let priority = QueuePriority.allCases.randomElement(using: &generator) {
      operation.queuePriority = priority
    }
    if generator.chance(10) {
      operation.qualityOfService = [.utility, .background, .userInitiated].randomElement(using: &generator)!
    }
  }

  /// Adds a call that shares an operation with other calls.
  private func addCoalesced(to target: Target, _ number: Int, _ generator: inout SeededGenerator) {
    let key = Int.random(in: 0..<3, using: &generator)
    let mode = target.coalescing[key]
    let isAlone = mode == .joinUnfinished || mode == .dropNew
    let limits = isAlone ? ["\(target.queue.name ?? "") shared \(key)": 1] : [:]
    let (held, witness) = (StormWitness.Held(witness), witness)
    var policy = OperationPolicy()
    if generator.chance(30) { policy.delay = .microseconds(Int.random(in: 0...2_000, using: &generator)) }
    let share = target.queue.addTask(coalescing: "\(key)", by: mode, .policy(policy)) {
      witness.enter(OperationPolicy(), limits)
      if number % 2 == 0 { await Task.yield() }
      witness.leave(OperationPolicy(), limits)
      withExtendedLifetime(held) {}
      if number % 10 == 0 { throw Failure() }
    }
    if generator.chance(30) { share.cancel() }
    // It ends, with a value, an error or a cancellation.
    let task = Task { _ = try? await share.value }
    tasks.withLock { $0.append(task) }
    if generator.chance(15) { task.cancel() }
  }
}

extension SeededGenerator {
  /// Returns true in the given percentage of cases.
  mutating func chance(_ percentage: UInt64) -> Bool { next() % 100 < percentage }
}
