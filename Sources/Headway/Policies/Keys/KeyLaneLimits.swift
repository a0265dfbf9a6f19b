/// Determines whether operations of a key may start.
///
/// A state machine without a clock or locks. The queue's clock defines the times, in nanoseconds.
struct KeyLaneLimits {
  private(set) var policy: KeyPolicy
  /// Whether operations can wait for the limits of the policy.
  private(set) var areSet: Bool
  private var rate: RateLimiter?
  private var breaker: BreakerState?
  /// How often the circuit breaker was changed.
  private var breakerNumber = 0
  /// How many operations of the key are running.
  private(set) var runningCount = 0
  /// How many operations of the key have their resources and a slot and are about to start.
  private(set) var grantedCount = 0
  /// The latest time that is known.
  private(set) var lastTime = ClockTime.min

  init(_ policy: KeyPolicy) {
    (self.policy, areSet) = (policy, policy.hasLimits)
    rate = policy.rateLimit.map(RateLimiter.init)
    breaker = policy.circuitBreaker.map(BreakerState.init)
  }

  /// Changes the policy.
  ///
  /// A new rate limit or circuit breaker begins as if no operation had started before.
  mutating func setPolicy(_ new: KeyPolicy) {
    if new.rateLimit != policy.rateLimit { rate = new.rateLimit.map(RateLimiter.init) }
    if new.circuitBreaker != policy.circuitBreaker {
      breaker = new.circuitBreaker.map(BreakerState.init)
      breakerNumber += 1
    }
    (policy, areSet) = (new, new.hasLimits)
  }

  /// Threads read the clock before they acquire the lock, so a thread that acquires it later can have an earlier time.
  mutating func noteTime(_ now: ClockTime) { lastTime = max(lastTime, now) }

  /// How many operations of the key run or are about to.
  private var startedCount: Int { runningCount + grantedCount }

  private var isFull: Bool { policy.maxConcurrentOperationCount.map { startedCount >= $0 } ?? false }

  /// Whether no operation may start before another operation ends.
  var waitsForEnd: Bool { isFull || breaker?.isProbing == true }

  /// Whether an operation may start now.
  @inline(__always)
  mutating func mayStart() -> Bool { !areSet || limitsAllowStart() }

  private mutating func limitsAllowStart() -> Bool {
    if isFull { return false }
    // The granted operation might become the probe.
    if let breaker, !breaker.mayStart(at: lastTime) || (grantedCount > 0 && breaker.nextStart != nil) { return false }
    return rate == nil || rate?.available(at: lastTime) ?? 0 > grantedCount
  }

  /// The reason why no operation may start now.
  enum Obstacle {
    case count(running: Int, limit: Int)
    case breaker
    case rate
  }

  /// The reason why no operation may start now, and when the next operation may start, if that depends only on time.
  mutating func obstacle() -> (obstacle: Obstacle, end: ClockTime?)? {
    if isFull, let limit = policy.maxConcurrentOperationCount {
      return (.count(running: startedCount, limit: limit), nil)
    }
    guard !mayStart() else { return nil }
    if let breaker, !breaker.mayStart(at: lastTime) || breaker.nextStart != nil { return (.breaker, breaker.nextStart) }
    return (.rate, nextStart)
  }

  /// When the next operation may start, if that depends only on time.
  var nextStart: ClockTime? {
    mutating get {
      guard !isFull, grantedCount == 0 else { return nil }
      if let breaker, !breaker.mayStart(at: lastTime) { return breaker.nextStart }
      return rate?.nextStart(after: lastTime)
    }
  }

  /// The state of the circuit breaker.
  func breakerState(at now: ClockTime) -> CircuitBreaker.State { breaker?.state(at: max(now, lastTime)) ?? .closed }

  /// Whether a lane without operations can be removed, because a new lane would behave in the same way.
  mutating func isForgettable(at now: ClockTime) -> Bool {
    let now = max(now, lastTime)
    if let breaker, !breaker.isForgettable(at: now) { return false }
    return rate == nil || rate?.isUnused(at: now) == true
  }

  // MARK: Changes

  mutating func noteGrant() { grantedCount += 1 }

  mutating func endGrant() { grantedCount -= 1 }

  /// How an operation has started, which is needed when its result is noted.
  struct Start {
    fileprivate let breakerNumber: Int
    /// Whether the operation that starts is the probe of the circuit breaker.
    fileprivate var isProbe: Bool
  }

  /// Counts an operation that starts now.
  mutating func noteStart(at now: ClockTime) -> Start {
    noteTime(now)
    runningCount += 1
    rate?.noteStart(at: lastTime)
    return Start(breakerNumber: breakerNumber, isProbe: breaker?.noteStart(at: lastTime) ?? false)
  }

  /// Counts an operation that a batch takes, while there are no limits.
  mutating func noteTaken() { runningCount += 1 }

  /// Notes that an operation has ended or pauses, so it is no longer running.
  mutating func noteEnd() { runningCount -= 1 }

  /// Notes the result of an operation or an attempt, unless it started before the circuit breaker was changed.
  ///
  /// If the operation makes another attempt without a new start, that attempt isn't a probe.
  mutating func noteResult(_ result: BreakerState.Result, of start: inout Start?, at now: ClockTime) {
    noteTime(now)
    guard let known = start, known.breakerNumber == breakerNumber else { return }
    breaker?.noteEnd(result, isProbe: known.isProbe, at: lastTime)
    start?.isProbe = false
  }
}
