import Synchronization

/// Holds an operation back as long as its policy demands, and ends it when its time is up.
///
/// An operation without a policy has none. The alarm of the gate is set from the time that a queue accepts the
/// operation to its end, so the operation exists while the alarm rings.
final class OperationGate: Alarm, @unchecked Sendable {
  let policy: OperationPolicy
  /// What the operation requests before it starts, if it needs resources.
  private(set) var request: ResourceRequest?
  private unowned(unsafe) let operation: Operation

  // Set when a queue accepts the operation, before any other thread can see the gate.
  @exclusivity(unchecked) private var clock = PolicyClock.continuous
  @exclusivity(unchecked) private var addedTime = PolicyTime.max
  @exclusivity(unchecked) private var delayEnd = PolicyTime.min
  @exclusivity(unchecked) private var totalEnd = PolicyTime.max

  // A thread that changes one of these sets the alarm afterwards, and the lock of the clock orders that: the last one
  // to set the alarm sees all changes.
  private let delays = Atomic<Bool>(false)
  private let startTime = Atomic<PolicyTime>(.max)
  private let isOver = Atomic<Bool>(false)

  init(_ policy: OperationPolicy, of operation: Operation) {
    (self.policy, self.operation) = (policy, operation)
    super.init()
    guard !policy.exclusiveResources.isEmpty || !policy.sharedResources.isEmpty else { return }
    request = ResourceRequest(exclusive: policy.exclusiveResources, shared: policy.sharedResources, gate: self)
  }

  /// The operation, which exists as long as its request waits.
  var target: Operation { operation }

  /// Whether the policy keeps the operation from being ready.
  var isClosed: Bool { delays.load(ordering: .acquiring) }

  /// How long the operation still waits for the end of its delay, or nil if it doesn't.
  var remainingDelay: Duration? {
    isClosed ? .nanoseconds(max(0, delayEnd.addedClamped(-clock.now))) : nil
  }

  // MARK: The life of the operation

  /// Notes that a queue is about to accept the operation.
  func begin(on clock: PolicyClock) {
    self.clock = clock
    guard policy.delay != nil || policy.timeout != nil || policy.totalTimeout != nil else { return }
    addedTime = clock.now
    if let delay = policy.delay, delay > .zero {
      delayEnd = addedTime.addedClamped(delay.nanoseconds)
      delays.store(true, ordering: .releasing)
    }
    if let totalTimeout = policy.totalTimeout { totalEnd = addedTime.addedClamped(totalTimeout.nanoseconds) }
    if delayEnd > addedTime || totalEnd < .max { clock.set(self) }
  }

  /// Notes that the operation starts.
  func noteStart() {
    guard policy.timeout != nil || policy.totalTimeout != nil else { return }
    startTime.store(clock.now, ordering: .releasing)
    if policy.timeout != nil { clock.set(self) }
  }

  /// Notes that the operation has ended.
  func end() {
    isOver.store(true, ordering: .releasing)
    clock.remove(self)
  }

  // MARK: The alarm

  override var nextTime: PolicyTime {
    guard !isOver.load(ordering: .acquiring) else { return .max }
    let time = min(totalEnd, timeoutEnd)
    return isClosed ? min(time, delayEnd) : time
  }

  private var timeoutEnd: PolicyTime {
    guard let timeout = policy.timeout else { return .max }
    return startTime.load(ordering: .acquiring).addedClamped(timeout.nanoseconds)
  }

  override func retainTarget() -> Bool {
    _ = OperationReference(operation).retain()
    return true
  }

  override func ring(at now: PolicyTime) {
    let reference = OperationReference(operation)
    if isClosed, delayEnd <= now {
      delays.store(false, ordering: .releasing)
      reference._withUnsafeGuaranteedRef { $0.delayHasEnded() }
    }
    if let error = exceededLimit(at: now) {
      isOver.store(true, ordering: .releasing)
      // Cancelling runs user code, and so may releasing the operation.
      WorkerPool.shared.submit(
        PoolBlock {
          reference._withUnsafeGuaranteedRef { $0.fail(exceeding: error) }
          reference.release()
        }, count: 1)
    } else {
      clock.set(self)
      var operation = reference.takeRetainedValue()
      // The operation may have ended just now.
      guard isKnownUniquelyReferenced(&operation) else { return }
      WorkerPool.shared.submit(PoolBlock { [operation] in withExtendedLifetime(operation) {} }, count: 1)
    }
  }

  private func exceededLimit(at now: PolicyTime) -> TimeLimitError? {
    guard !isOver.load(ordering: .acquiring) else { return nil }
    let start = startTime.load(ordering: .acquiring)
    let (waiting, running) = (min(start, now) - addedTime, start < .max ? now - start : nil)
    let (code, limit): (TimeLimitError.Code, Duration?) =
      totalEnd <= now
      ? (.totalTimeout, policy.totalTimeout) : timeoutEnd <= now ? (.timeout, policy.timeout) : (.timeout, nil)
    guard let limit else { return nil }
    return TimeLimitError(
      code: code, limit: limit, waitingTime: .nanoseconds(waiting), runningTime: running.map { .nanoseconds($0) })
  }
}

extension Operation {
  /// The gate of an operation that has a policy.
  final var policyGate: OperationGate? { hasGate ? links.withLock { $0.details?.rareDetails?.gate } : nil }

  /// Records that the operation's delay is over.
  ///
  /// Called on the thread of the alarms: runs no user code.
  fileprivate final func delayHasEnded() {
    if overridesIsReady {
      let reference = self
      return WorkerPool.shared.submit(PoolBlock { reference.reconsiderReadiness() }, count: 1)
    }
    let word = state.setHeldBack(false)
    guard word.isEnqueued, word.phase == .pending, word.isStartable else { return }
    var effects = Effects()
    queue?.operationBecameReady(self, leaving: &effects)
    effects.submit(to: nil)
  }

  /// Makes the operation fail and cancels it, because it has exceeded a limit of its policy.
  fileprivate final func fail(exceeding error: TimeLimitError) {
    var effects = Effects()
    if let before = beginCancelling(with: error, leaving: &effects) {
      cancelWork()
      effects.perform()
      continueCancelling(from: before)
    }
    // This calls an override. The implementation of the superclass finds the operation cancelled.
    cancel()
  }
}
