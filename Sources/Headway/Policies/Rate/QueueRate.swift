import Synchronization

/// Limits how many operations of a queue start in a period of time.
///
/// The queue's lock protects the state. The alarm rings when the next operation may start.
final class QueueRate: QueueAlarm, @unchecked Sendable {  // The queue's lock protects what is not atomic.
  @exclusivity(unchecked) private var limiter: RateLimiter
  /// The time of the last change.
  @exclusivity(unchecked) private var lastTime = ClockTime.min

  init(_ limit: RateLimit, of queue: OperationQueue) {
    limiter = RateLimiter(limit)
    super.init(of: queue)
  }

  var limit: RateLimit { limiter.limit }

  /// Returns how many operations may start now.
  func available(at now: ClockTime) -> Int {
    noteTime(now)
    return limiter.available(at: lastTime)
  }

  func noteStart(at now: ClockTime) {
    noteTime(now)
    limiter.noteStart(at: lastTime)
  }

  /// Threads read the clock before they acquire the lock, so a thread that acquires it later can have an earlier time.
  private func noteTime(_ now: ClockTime) { lastTime = max(lastTime, now) }

  /// When the next operation may start.
  var nextStart: ClockTime { limiter.nextStart(after: lastTime) }

  override func ring(at now: ClockTime, in state: inout QueueState) {
    // Otherwise, the time might be from an earlier clock of the queue.
    guard let policies = state.admission.policies, policies.rate === self else { return }
    policies.refreshAllowance(of: &state.admission, at: now)
  }
}

extension QueuePolicies {
  /// Determines how many operations the rate allows to start now.
  func refreshAllowance(of admission: inout Admission, at now: ClockTime) {
    guard let rate else { return }
    // Operations that were granted their start have not been counted by the rate.
    admission.allowance = max(0, rate.available(at: now) - admission.grantedCount)
  }
}

extension QueueState {
  /// Sets the limit, as if no operation had started before.
  ///
  /// - Returns: The previous rate, which the caller must retire after the lock is released; nil if there was none.
  mutating func setRate(_ limit: RateLimit?, of queue: OperationQueue) -> QueueRate? {
    let policies = policiesCreatedIfNeeded
    let old = policies.rate
    policies.rate = limit.map { QueueRate($0, of: queue) }
    // All batches are reclaimed: their operations must start one by one.
    admission.allowance = .max
    policies.refreshAllowance(of: &admission, at: .min)
    noteNeedOfTime(of: queue)
    return old
  }
}

extension OperationQueueProtocol {
  /// How many operations may start in a period of time; nil, the default, for no limit.
  ///
  /// ```swift
  /// queue.rateLimit = RateLimit(100, per: .seconds(1), burst: 20)
  /// ```
  ///
  /// Operations that must wait hold no thread and no concurrency slot. They start in queue order, each as soon as the
  /// limit allows. You can change the limit at any time. The new limit begins as if no operation had started before. An
  /// operation that is cancelled while it waits does not count.
  ///
  /// Setting the limit of the main queue has no effect.
  @_disfavoredOverload
  public var rateLimit: RateLimit? {
    get { state.withLock { $0.admission.policies?.rate?.limit } }
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
}
