import Synchronization

/// Limits how many operations of a queue start in a period of time.
///
/// The queue's lock protects the state. The alarm rings when the next operation may start.
final class RateGate: QueueAlarm, @unchecked Sendable {  // The queue's lock protects what is not atomic.
  @exclusivity(unchecked) private var limiter: RateLimiter
  /// The time of the last change.
  @exclusivity(unchecked) private var lastTime = PolicyTime.min

  init(_ limit: RateLimit, of queue: OperationQueue) {
    limiter = RateLimiter(limit)
    super.init(of: queue)
  }

  var limit: RateLimit { limiter.limit }

  /// Returns how many operations may start now.
  func available(at now: PolicyTime) -> Int {
    noteTime(now)
    return limiter.available(at: lastTime)
  }

  func noteStart(at now: PolicyTime) {
    noteTime(now)
    limiter.noteStart(at: lastTime)
  }

  /// Threads read the clock before they acquire the lock, so a thread that acquires it later can have an earlier time.
  private func noteTime(_ now: PolicyTime) { lastTime = max(lastTime, now) }

  /// When the next operation may start.
  var nextStart: PolicyTime { limiter.nextStart(after: lastTime) }

  override func ring(at now: PolicyTime, in state: inout QueueState) {
    // Otherwise, the time might be from an earlier clock of the queue.
    if state.rate === self { state.refreshRate(at: now) }
  }
}

/// The time at which operations start, on the clock of their queue.
struct StartTime {
  let now: PolicyTime
  let clock: PolicyClock
}

extension QueueState {
  /// Sets the limit, as if no operation had started before.
  ///
  /// - Returns: The gate of the previous limit, which the caller must retire after the lock.
  mutating func setRate(_ limit: RateLimit?, of queue: OperationQueue) -> RateGate? {
    let old = rate
    rate = limit.map { RateGate($0, of: queue) }
    // All batches are reclaimed: their operations must start one by one.
    admission.allowance = rate?.available(at: .min) ?? .max
    noteNeedOfTime(of: queue)
    return old
  }

  /// Notes whether the queue needs the time to start operations.
  mutating func noteNeedOfTime(of queue: OperationQueue) {
    setFollowing(.time, limitsStarts || rate != nil || admission.lanes?.needsTime == true, of: queue)
  }

  /// Determines how many operations may start now.
  mutating func refreshRate(at now: PolicyTime) {
    if let rate { admission.allowance = max(0, rate.available(at: now) - admission.grantedCount) }
  }

  /// Counts an operation that starts now.
  mutating func noteRateStart(at now: PolicyTime) {
    guard let rate else { return }
    rate.noteStart(at: now)
    admission.allowance = max(0, rate.available(at: now) - admission.grantedCount)
  }
}

extension OperationQueueProtocol {
  /// How many operations may start in a period of time; nil, the default, for no limit.
  ///
  /// ```swift
  /// queue.rateLimit = RateLimit(100, per: .seconds(1), burst: 20)
  /// ```
  ///
  /// Operations that must wait hold no thread and no concurrency slot. They start in the order of the queue, each as
  /// soon as the limit allows. You can change the limit at any time. The new limit begins as if no operation had
  /// started before. An operation that is cancelled while it waits does not count.
  ///
  /// Setting the limit of the main queue has no effect.
  @_disfavoredOverload
  public var rateLimit: RateLimit? {
    get { state.withLock { $0.rate?.limit } }
    set { setRateLimit(newValue) }
  }
}

extension OperationQueue {
  fileprivate final func setRateLimit(_ limit: RateLimit?) {
    guard !isMain else { return }
    let (old, clock) = update(collectingBatches: true) { state in
      (state.setRate(limit, of: self), state.policyClock)
    }
    old?.retire(from: clock)
  }

  /// Removes the alarms of the queue, which is being freed.
  final func removeAlarms() {
    guard following.contains(.time) else { return }
    let (alarms, clock) = state.withLock { state -> ([QueueAlarm], PolicyClock) in
      ((state.rate.map { [$0] } ?? []) + (state.admission.lanes?.alarms ?? []), state.policyClock)
    }
    for alarm in alarms { alarm.retire(from: clock) }
  }

  /// The time of the policies' clock, if the queue needs it to start operations.
  ///
  /// Can run user code: called with no lock held.
  final var startTime: StartTime? {
    guard following.contains(.time) else { return nil }
    let clock = state.withLock { $0.policyClock }
    return StartTime(now: clock.now, clock: clock)
  }
}
