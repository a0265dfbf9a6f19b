import HeadwayTestKit
import HeadwayTestSupport
import Synchronization

@testable import Headway

/// Rings the alarms of a clock when a test advances it.
private final class SteppedDriver: AlarmDriver {
  private struct State {
    var now = ClockTime(0)
    var alarm: (time: ClockTime, wake: @Sendable () -> Void)?
  }

  private let state = Mutex(State())

  var now: ClockTime { state.withLock { $0.now } }

  func wake(at time: ClockTime, _ wake: @escaping @Sendable () -> Void) { state.withLock { $0.alarm = (time, wake) } }

  func sleep() { state.withLock { $0.alarm = nil } }

  /// Advances to the time of the next alarm, or to an earlier time, and rings the alarm.
  ///
  /// - Returns: Whether there may be more to ring.
  func advance(to end: ClockTime) -> Bool {
    let wake = state.withLock { state -> (@Sendable () -> Void)? in
      guard let alarm = state.alarm, alarm.time <= end else {
        state.now = max(state.now, end)
        return nil
      }
      state.now = max(state.now, alarm.time)
      state.alarm = nil
      return alarm.wake
    }
    wake?()
    return wake != nil
  }
}

/// Runs until the program ends it.
private final class OpenOperation: AsynchronousOperation, @unchecked Sendable {
  private let number: Int
  private let starts: EventRecorder<Int>

  init(_ number: Int, _ starts: EventRecorder<Int>) { (self.number, self.starts) = (number, starts) }

  override func main() { starts.record(number) }
}

/// A random sequence of commands, for a queue whose operations have random policies, and for the model.
///
/// All runs on one thread: an executor starts the operations, and the clock has a driver of the test.
struct PolicyProgram {
  struct Divergence: Error, CustomStringConvertible {
    let description: String
  }

  private struct Failure: Error {}

  private var generator: SeededGenerator
  private var model = PolicyModel()
  private var operations: [Operation] = []
  private let queue = OperationQueue()
  private let executor = VisitExecutor()
  private let driver = SteppedDriver()
  private let starts = EventRecorder<Int>()
  private var startCount = 0
  /// The kinds of policies that operations and keys of the program can have.
  private let kinds: Set<Kind>
  private let seed: UInt64
  private(set) var commands: [String] = []

  enum Kind: CaseIterable {
    case delay, resources, rate, weight, count, keyRate, breaker, barrier, limit, priority, suspension, dependency
  }

  static func divergence(seed: UInt64, kinds: Set<Kind>) -> Divergence? {
    var program = PolicyProgram(seed: seed, kinds: kinds)
    do {
      try program.run()
      return nil
    } catch {
      program.abandon()
      return Divergence(description: "\(kinds), \(program.commands.joined(separator: "; ")): \(error)")
    }
  }

  private init(seed: UInt64, kinds: Set<Kind>) {
    (self.seed, self.kinds, generator) = (seed, kinds, SeededGenerator(seed: seed))
  }

  private mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

  private mutating func run() throws {
    queue.executor = executor
    queue.state.withLock { $0.policyClock = PolicyClock(ContinuousClock(), driver: driver) }
    if kinds.contains(.rate) { setRate() }
    for _ in 0..<random(20...40) {
      try perform()
      try compare()
    }
    try drain()
  }

  // MARK: Commands

  private mutating func perform() throws {
    switch random(0...99) {
    case 0..<40: add()
    case 40..<65: end()
    case 65..<80: try advance(by: ClockTime(random(1...40_000_000)))
    case 80..<86: cancel()
    case 86..<92: setKeyPolicy()
    case 92..<96 where kinds.contains(.suspension): suspend(!model.isSuspended)
    case 92..<98 where kinds.contains(.limit):
      setLimit(random(0...3) == 0 ? OperationQueue.defaultMaxConcurrentOperationCount : random(1...3))
    case 92..<100 where kinds.contains(.rate): setRate()
    default: add()
    }
  }

  private mutating func add() {
    let number = operations.count
    let isBarrier = kinds.contains(.barrier) && random(0...7) == 0
    let operation = isBarrier ? BlockOperation { [starts] in starts.record(number) } : OpenOperation(number, starts)
    let hasKeys = !kinds.isDisjoint(with: [.weight, .count, .keyRate, .breaker])
    let key = hasKeys && !isBarrier && random(0...3) > 0 ? "key \(random(0...2))" : nil
    var (exclusive, shared): (Set<String>, Set<String>) = ([], [])
    if kinds.contains(.resources), !isBarrier {
      for name in 0..<3 where random(0...2) == 0 {
        // The resources of the process are shared by all programs.
        if random(0...1) == 0 { exclusive.insert("\(seed) \(name)") } else { shared.insert("\(seed) \(name)") }
      }
    }
    let delay: Duration? =
      kinds.contains(.delay) && !isBarrier && random(0...2) == 0 ? .nanoseconds(random(1...60_000_000)) : nil
    let priority =
      kinds.contains(.priority) && !isBarrier
      ? QueuePriority.allCases.randomElement(using: &generator) ?? .normal : .normal
    // Each operation has at most one dependent, so the order of readiness among dependents does not matter.
    var dependency: Int?
    if kinds.contains(.dependency), number > 0, random(0...2) == 0 {
      let other = random(max(0, number - 4)...number - 1)
      if !model.entries.contains(where: { $0.dependency == other }) { dependency = other }
    }
    operation.policy = OperationPolicy(
      delay: delay, exclusiveResources: exclusive, sharedResources: shared, key: key)
    operation.queuePriority = priority
    if let dependency { operation.addDependency(operations[dependency]) }
    operations.append(operation)
    model.add(
      priority: priority, key: key, exclusive: exclusive, shared: shared, isBarrier: isBarrier, delay: delay,
      dependency: dependency)
    commands.append(
      "add \(number) \(priority) \(key ?? "") \(exclusive) \(shared) delay \(delay ?? .zero)"
        + (isBarrier ? " barrier" : "") + (dependency.map { " after \($0)" } ?? ""))
    if isBarrier {
      (operation as? BlockOperation).map { queue.takeBarrier($0) }
    } else {
      queue.addOperation(operation)
    }
  }

  private mutating func end() {
    guard let number = model.running.randomElement(using: &generator) else { return }
    end(number, isFailure: random(0...2) == 0)
  }

  private mutating func end(_ number: Int, isFailure: Bool) {
    commands.append("end \(number) \(isFailure ? "failed" : "")")
    model.end(number, isFailure ? .failure : model.entries[number].isCancelled ? .neither : .success)
    guard let operation = operations[number] as? OpenOperation else { return }
    if isFailure { operation.finish(throwing: Failure()) } else { operation.finish() }
  }

  private mutating func cancel() {
    guard let number = model.waiting.randomElement(using: &generator) else { return }
    commands.append("cancel \(number)")
    model.entries[number].isCancelled = true
    operations[number].cancel()
    executor.runSteps()
    model.end(number, .neither)
  }

  private mutating func setKeyPolicy() {
    guard !kinds.isDisjoint(with: [.weight, .count, .keyRate, .breaker]) else { return }
    var policy = KeyPolicy()
    if kinds.contains(.weight) { policy.weight = random(1...3) }
    if kinds.contains(.count), random(0...3) > 0 { policy.maxConcurrentOperationCount = random(1...2) }
    if kinds.contains(.keyRate), random(0...3) > 0 { policy.rateLimit = takeRate() }
    if kinds.contains(.breaker), random(0...3) > 0 {
      policy.circuitBreaker = CircuitBreaker(
        maxFailureCount: random(1...2), openDuration: .nanoseconds(random(1...50_000_000)))
    }
    let key = "key \(random(0...2))"
    commands.append("\(key) has \(policy)")
    model.setPolicy(policy, of: key)
    queue.setKeyPolicy(policy, forKey: key)
  }

  private mutating func takeRate() -> RateLimit {
    let (count, period) = (random(1...3), Duration.nanoseconds(random(1...50_000_000)))
    return random(0...1) == 0
      ? .slidingWindow(count, per: period) : RateLimit(count, per: period, burst: random(1...3))
  }

  private mutating func setRate() {
    let rate = random(0...3) == 0 ? nil : takeRate()
    commands.append("rate \(rate.map { "\($0)" } ?? "none")")
    model.rate = rate.map(RateLimiter.init)
    queue.rateLimit = rate
  }

  private mutating func suspend(_ isSuspended: Bool) {
    commands.append(isSuspended ? "suspend" : "resume")
    model.isSuspended = isSuspended
    queue.isSuspended = isSuspended
  }

  private mutating func setLimit(_ limit: Int) {
    commands.append("limit \(limit)")
    model.limit = limit < 0 ? .max : limit
    queue.maxConcurrentOperationCount = limit
  }

  /// Advances the clock from alarm to alarm.
  private mutating func advance(by time: ClockTime) throws {
    commands.append("advance \(time)")
    let end = driver.now + time
    while driver.advance(to: end) { try compare() }
  }

  // MARK: Comparing

  /// Rings the alarms that are due, runs all that can run, and compares.
  private mutating func compare() throws {
    repeat {
      while driver.advance(to: driver.now) {}
      model.advance(to: driver.now)
      executor.runSteps()
      try compareStarts()
    } while driver.advance(to: driver.now)
    if let late = model.waiting.first(where: { number in
      model.mayStart(number) && !model.waiting.contains { $0 != number && model.conflict($0, number) }
    }) {
      throw Divergence(description: "\(late) may start at \(driver.now), and \(operations[late].diagnosis)")
    }
  }

  private mutating func compareStarts() throws {
    while startCount < starts.count {
      let number = starts.events[startCount]
      startCount += 1
      commands.append("[\(number) started]")
      // A key may learn the time from an alarm that was set for an operation that was cancelled.
      var exact = model
      exact.noteTimes()
      guard exact.mayStart(number) else { throw Divergence(description: "\(number) started, and must wait") }
      if !model.usesResources, model.mayStart(number), let next = model.next(), next != number {
        throw Divergence(description: "\(number) started before \(next)")
      }
      model.start(number)
      // A barrier runs a block and has ended.
      if model.entries[number].isBarrier { model.end(number, .success) }
    }
  }

  /// Ends all operations and checks that none is lost.
  private mutating func drain() throws {
    suspend(false)
    setLimit(OperationQueue.defaultMaxConcurrentOperationCount)
    for _ in 0..<1_000 where !(model.running.isEmpty && model.waiting.isEmpty) {
      for number in model.running { end(number, isFailure: false) }
      try compare()
      try advance(by: 10_000_000)
      try compare()
    }
    guard model.waiting.isEmpty, queue.operationCount == 0, operations.allSatisfy(\.isFinished) else {
      throw Divergence(description: "\(model.waiting) never started")
    }
    let keys = queue.state.withLock { $0.admission.policies?.lanes?.lanes.count { $0.memberCount > 0 } ?? 0 }
    guard keys == 0 else { throw Divergence(description: "\(keys) keys have operations after the end") }
  }

  /// Ends the operations of a program that has failed, so that the next one is not affected.
  private mutating func abandon() {
    queue.cancelAllOperations()
    executor.runSteps()
    for case let operation as OpenOperation in operations where operation.isExecuting { operation.finish() }
    executor.runSteps()
  }
}
