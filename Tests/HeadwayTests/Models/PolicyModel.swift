import HeadwayTestKit

@testable import Headway

/// The rules of policies, written so simply that they are obviously right: one array, searched from end to end.
///
/// The limits of keys and rates are the library's own state machines, which have tests of their own.
struct PolicyModel {
  struct Entry {
    let priority: QueuePriority
    let key: String?
    let exclusive: Set<String>
    let shared: Set<String>
    let isBarrier: Bool
    let sequence: UInt64
    var delayEnd: ClockTime?
    var dependency: Int?
    var isCancelled = false
    var start: KeyLaneLimits.Start?
    var phase = Phase.waiting

    enum Phase {
      case waiting, running, ended
    }
  }

  /// The state of a key.
  struct Key {
    var limits: KeyLaneLimits
    var turn: UInt64 = 0
    /// How many more operations may start in the turn.
    var remainingCount = 0
  }

  var entries: [Entry] = []
  var keys: [String: Key] = [:]
  var limit = Int.max
  var isSuspended = false
  var rate: RateLimiter?
  var now = ClockTime(0)
  private var nextNumber: UInt64 = 0

  var running: [Int] { entries.indices.filter { entries[$0].phase == .running } }
  var waiting: [Int] { entries.indices.filter { entries[$0].phase == .waiting } }
  var usesResources: Bool { entries.contains { !$0.exclusive.isEmpty || !$0.shared.isEmpty } }

  // MARK: What may start

  /// Whether only the queue, the key, and resources can keep an operation from starting.
  func isReady(_ number: Int) -> Bool {
    let entry = entries[number]
    guard entry.phase == .waiting, !entry.isCancelled, entry.delayEnd == nil else { return false }
    guard entry.dependency.map({ entries[$0].phase == .ended }) ?? true else { return false }
    let before = entries[..<number].filter { $0.phase != .ended }
    return entry.isBarrier ? before.isEmpty : before.allSatisfy { !$0.isBarrier }
  }

  /// Whether two operations must not run at the same time.
  func conflict(_ number: Int, _ other: Int) -> Bool {
    let (one, two) = (entries[number], entries[other])
    return !one.exclusive.isDisjoint(with: two.exclusive.union(two.shared))
      || !two.exclusive.isDisjoint(with: one.shared)
  }

  /// Whether an operation may start now, except that another one may have requested its resources earlier.
  mutating func mayStart(_ number: Int) -> Bool {
    guard isReady(number), !isSuspended, running.count < limit, rate == nil || rate?.available(at: now) ?? 0 > 0 else {
      return false
    }
    if let key = entries[number].key, keys[key]?.limits.mayStart() == false { return false }
    return running.allSatisfy { !conflict($0, number) }
  }

  /// The operation that must start next, if no operation uses resources.
  mutating func next() -> Int? {
    let candidates = entries.indices.filter { mayStart($0) && !entries[$0].isBarrier }
    let best = candidates.min { one, other in
      let (left, right) = (entries[one], entries[other])
      // The operations of a key share its turn.
      if left.priority != right.priority || (left.key != nil && left.key == right.key) { return precedes(one, other) }
      return turn(of: left) < turn(of: right)
    }
    return best ?? entries.indices.first { entries[$0].isBarrier && mayStart($0) }
  }

  /// Whether an operation precedes another operation of its key.
  private func precedes(_ number: Int, _ other: Int) -> Bool {
    let (one, two) = (entries[number].priority, entries[other].priority)
    return one == two ? number < other : one > two
  }

  private func turn(of entry: Entry) -> UInt64 { entry.key.flatMap { keys[$0]?.turn } ?? entry.sequence }

  // MARK: Events

  mutating func add(
    priority: QueuePriority, key: String?, exclusive: Set<String>, shared: Set<String>, isBarrier: Bool,
    delay: Duration?, dependency: Int?
  ) {
    entries.append(
      Entry(
        priority: priority, key: key, exclusive: exclusive, shared: shared, isBarrier: isBarrier,
        sequence: takeNumber(), delayEnd: delay.map { now + $0.nanoseconds }, dependency: dependency))
    if let key, keys[key] == nil { keys[key] = Key(limits: KeyLaneLimits(KeyPolicy())) }
    chooseTurns()
  }

  mutating func start(_ number: Int) {
    entries[number].phase = .running
    rate?.noteStart(at: now)
    if let key = entries[number].key {
      entries[number].start = keys[key]?.limits.noteStart(at: now)
      keys[key]?.remainingCount -= 1
    }
    chooseTurns()
  }

  /// Finishes an operation that runs or was cancelled before it started.
  mutating func end(_ number: Int, _ result: BreakerState.Result) {
    if entries[number].phase == .running, let key = entries[number].key {
      keys[key]?.limits.noteEnd()
      keys[key]?.limits.noteResult(result, of: &entries[number].start, at: now)
    }
    // The operation leaves the queue before its dependents are ready.
    chooseTurns()
    entries[number].phase = .ended
    chooseTurns(afterBarrier: entries[number].isBarrier)
  }

  mutating func setPolicy(_ policy: KeyPolicy, of key: String) {
    keys[key, default: Key(limits: KeyLaneLimits(policy))].limits.setPolicy(policy)
    chooseTurns()
  }

  /// Notes the time for all keys.
  mutating func noteTimes() { for key in keys.keys { keys[key]?.limits.noteTime(now) } }

  /// Performs the actions that are due at a time.
  mutating func advance(to now: ClockTime) {
    self.now = now
    for number in waiting { if let end = entries[number].delayEnd, end <= now { entries[number].delayEnd = nil } }
    chooseTurns()
    for key in keys.keys.sorted() where waiting.contains(where: { entries[$0].key == key && isReady($0) }) {
      if let start = keys[key]?.limits.nextStart, start <= now { keys[key]?.limits.noteTime(now) }
    }
    chooseTurns()
  }

  /// Gives a turn to each key that has something to start, and none.
  ///
  /// Keys that wait for the same barrier get their turns by their first operations.
  private mutating func chooseTurns(afterBarrier: Bool = false) {
    var firsts: [(key: String, number: Int)] = []
    for key in keys.keys {
      let ready = entries.indices.filter { entries[$0].key == key && isReady($0) }
      if ready.isEmpty { keys[key]?.remainingCount = 0 }
      if let weight = keys[key]?.limits.policy.weight, let count = keys[key]?.remainingCount, count > weight {
        keys[key]?.remainingCount = weight
      }
      if let first = ready.min(by: precedes), keys[key]?.limits.mayStart() == true { firsts.append((key, first)) }
    }
    for (key, _) in firsts.sorted(by: { precedes($0.number, $1.number) }) where keys[key]?.remainingCount == 0 {
      let first = entries.indices.first { entries[$0].key == key && isReady($0) }
      let turn = afterBarrier ? first.map { entries[$0].sequence } ?? 0 : takeNumber()
      let weight = keys[key]?.limits.policy.weight ?? 1
      keys[key]?.turn = turn
      keys[key]?.remainingCount = weight
    }
  }

  private mutating func takeNumber() -> UInt64 {
    defer { nextNumber += 1 }
    return nextNumber
  }
}
