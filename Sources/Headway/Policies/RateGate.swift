import CHeadway
import Synchronization

/// Limits how many operations of a queue start in a period of time.
///
/// The queue's lock protects the state. The alarm wakes the queue when the next operation may start.
final class RateGate: Alarm, @unchecked Sendable {  // The queue's lock protects what is not atomic.
  private let queue: Unmanaged<OperationQueue>
  @exclusivity(unchecked) private var limiter: RateLimiter
  /// The time of the last change.
  @exclusivity(unchecked) private var lastTime = PolicyTime.min
  /// When the alarm rings.
  ///
  /// Written under the queue's lock. Read under the lock of the clock, after the thread that wrote it has set the
  /// alarm.
  private let alarmTime = Atomic<PolicyTime>(.max)
  private let isRetired = Atomic<Bool>(false)

  init(_ limit: RateLimit, of queue: OperationQueue) {
    (limiter, self.queue) = (RateLimiter(limit), .passUnretained(queue))
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

  /// Threads read the clock before they acquire the lock, so a later one may have an earlier time.
  private func noteTime(_ now: PolicyTime) { lastTime = max(lastTime, now) }

  /// Notes that operations wait for the next start.
  ///
  /// - Returns: True if the caller must set the alarm after the lock.
  func beginWaiting() -> Bool {
    guard alarmTime.load(ordering: .relaxed) == .max else { return false }
    alarmTime.store(limiter.nextStart(after: lastTime), ordering: .releasing)
    return true
  }

  // MARK: The alarm

  override var nextTime: PolicyTime {
    isRetired.load(ordering: .acquiring) ? .max : alarmTime.load(ordering: .acquiring)
  }

  /// Removes the alarm permanently: the queue has another limit, or is being freed.
  ///
  /// A thread may be about to set the alarm. It finds that the gate is retired, or this function removes the alarm.
  func retire(from clock: PolicyClock) {
    isRetired.store(true, ordering: .releasing)
    clock.remove(self)
  }

  override func retainTarget() -> Bool { swift_tryRetain(queue.toOpaque()) != nil }

  override func ring(at now: PolicyTime) {
    let queue = queue.takeRetainedValue()
    var effects = Effects()
    queue.update(collectingBatches: true, leaving: &effects) { state in
      alarmTime.store(.max, ordering: .relaxed)
      // Otherwise, the time may be that of an earlier clock of the queue.
      if state.rate === self { state.refreshRate(at: now) }
    }
    effects.submit(to: nil)
    ReleasedChain.release(queue)
  }
}

/// The time of a clock.
struct RateTime {
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
    // Under the lock, so that the flag and the gate agree.
    queue.isRateLimited.store(rate != nil, ordering: .relaxed)
    return old
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

  /// Removes the alarm of the rate limit, because the queue is being freed.
  final func removeRateAlarm() {
    guard isRateLimited.load(ordering: .relaxed) else { return }
    let (gate, clock) = state.withLock { ($0.rate, $0.policyClock) }
    gate?.retire(from: clock)
  }

  /// The time of the policies' clock, if the queue needs it to start operations.
  ///
  /// Can run user code: called with no lock held.
  final var rateTime: RateTime? {
    guard isRateLimited.load(ordering: .relaxed) else { return nil }
    let clock = state.withLock { $0.policyClock }
    return RateTime(now: clock.now, clock: clock)
  }
}
