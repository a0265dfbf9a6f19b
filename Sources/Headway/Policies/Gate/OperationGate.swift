import Synchronization

/// Holds an operation back as long as its policy requires.
///
/// An operation without a policy has no gate. A program can have many delayed operations, so this class has only the
/// properties that a delay needs. Operations with other policies have a ``ResourceGate``, a ``KeyGate`` or a
/// ``TimedGate``.
///
/// The alarm of the gate is set only from the time when a queue accepts the operation until the operation ends, so the
/// operation exists while the alarm rings.
class OperationGate: Alarm, @unchecked Sendable {  // Properties that change later are atomic.
  // The small properties are next to each other, so that the object has 56 bytes: with more, malloc would add 16.

  /// Whether the gate needs the clock.
  ///
  /// If not, it never sets its alarm.
  final let usesTime: Bool

  // A thread that changes one of these sets the alarm afterward. The lock of the clock orders this: the last thread
  // that sets the alarm sees all changes.
  private final let delays = Atomic<Bool>(false)
  private final let hasEnded = Atomic<Bool>(false)
  private final let delayEnd = Atomic<ClockTime>(.min)

  /// The delay of the policy in nanoseconds; 0 for none.
  private final let delay: Int64
  private final unowned(unsafe) let operation: Operation
  /// Set when a queue accepts the operation, before any other thread can see the gate.
  @exclusivity(unchecked) private final var clock = PolicyClock.continuous

  init(delay: Int64, limitsTime: Bool, of operation: Operation) {
    (self.delay, usesTime, self.operation) = (delay, delay > 0 || limitsTime, operation)
  }

  /// Creates a gate that is as small as possible.
  static func make(
    for operation: Operation, _ policy: OperationPolicy, _ attempts: TaskAttempts?, _ coalescedWork: CoalescedWork?
  ) -> OperationGate {
    let delay = policy.delay?.nanoseconds ?? 0
    let isSimple = policy.timeout == nil && policy.totalTimeout == nil && policy.delay == Self.duration(delay)
    guard isSimple, attempts == nil, coalescedWork == nil else {
      return TimedGate(policy, of: operation, attempts, coalescedWork)
    }
    if let key = policy.key { return KeyGate(key, policy.resources, delay: delay, of: operation) }
    guard let resources = policy.resources else { return OperationGate(delay: delay, limitsTime: false, of: operation) }
    return ResourceGate(resources, delay: delay, of: operation)
  }

  /// This gate as a ``TimedGate``; nil if it has only a delay, resources, and a key.
  var timed: TimedGate? { nil }

  /// The policy of the operation.
  final var policy: OperationPolicy {
    timed?.givenPolicy
      ?? OperationPolicy(delay: Self.duration(delay), needingResources?.resources, key: laneMember?.key)
  }

  private static func duration(_ delay: Int64) -> Duration? { delay > 0 ? .nanoseconds(delay) : nil }

  /// This gate as a ``ResourceGate``; nil if the operation needs no resources.
  var needingResources: ResourceGate? { nil }

  /// The kind of the gate: an operation can run in a batch if its policy has only resources, or only a key.
  final var kind: GateKind {
    if usesTime || timed != nil { return .other }
    return laneMember == nil ? .ofBatches : needingResources == nil ? .key : .other
  }

  /// This gate as a ``KeyGate``; nil if the operation has no key.
  var laneMember: KeyGate? { nil }

  /// The operation, which exists as long as its request waits.
  final var target: Operation { operation }

  /// Whether the policy keeps the operation from being ready.
  final var isClosed: Bool { delays.load(ordering: .acquiring) }

  /// The remaining time of the delay, or nil if the operation is not delayed.
  final var remainingDelay: Duration? {
    isClosed ? .nanoseconds(max(0, delayEnd.load(ordering: .acquiring).addedClamped(-clock.now))) : nil
  }

  /// The time of the clock.
  final var time: ClockTime { clock.now }

  // MARK: The life of the operation

  /// Begins to apply the policy, because a queue is about to accept the operation.
  fileprivate final func enter(_ queue: OperationQueue) {
    guard usesTime else { return }
    let clock = queue.state.withLock { state in
      if limitsStart {
        state.policiesCreatedIfNeeded.limitsStarts = true
        state.noteNeedOfTime(of: queue)
      }
      return state.policyClock
    }
    begin(on: clock)
    if isClosed { _ = operation.state.setHeldBack(true) }
    // The delay may have ended in the meantime.
    if !isClosed, !operation.overridesIsReady { _ = operation.state.setHeldBack(false) }
  }

  /// Notes that a queue is about to accept the operation.
  ///
  /// Called only if the gate needs the clock.
  func begin(on clock: PolicyClock) {
    self.clock = clock
    if delay > 0 { close(for: delay) }
    if nextTime < .max { setAlarm() }
  }

  /// Holds the operation back for a time, because it pauses between two attempts.
  final func delay(for delay: Duration) {
    close(for: delay.nanoseconds)
    setAlarm()
  }

  private final func close(for delay: Int64) {
    delayEnd.store(clock.now.addedClamped(delay), ordering: .releasing)
    delays.store(true, ordering: .releasing)
  }

  /// Notes that the operation has ended.
  ///
  /// Can run user code: called with no lock held, before the operation leaves its queue.
  ///
  /// - Parameter home: The queue that holds the operation, or nil.
  func end(in home: Unmanaged<OperationQueue>?) {
    guard usesTime else { return }
    noteOver()
    clock.remove(self)
  }

  /// Whether the operation must not start, because its total timeout has passed since it was added.
  ///
  /// Its alarm rings soon, or has rung, and finishes the operation.
  func isOverdue(at now: ClockTime) -> Bool { false }

  /// Whether the queue needs the time to start the operation.
  var limitsStart: Bool { false }

  /// Notes that the alarm must not ring again.
  final func noteOver() { hasEnded.store(true, ordering: .releasing) }

  final var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  // MARK: The alarm

  final func setAlarm() { clock.set(self) }

  override var nextTime: ClockTime { isClosed && !isOver ? delayEnd.load(ordering: .acquiring) : .max }

  final override func retainTarget() -> Bool {
    _ = OperationReference(operation).retain()
    return true
  }

  final override func ring(at now: ClockTime) {
    let reference = OperationReference(operation)
    // First, so that the operation stays held back: the clock may have passed the end of the delay as well.
    if endExceeding(reference, at: now) { return }
    if isClosed, delayEnd.load(ordering: .acquiring) <= now {
      delays.store(false, ordering: .releasing)
      reference._withUnsafeGuaranteedRef { $0.delayHasEnded() }
    }
    setAlarm()
    var operation = reference.takeRetainedValue()
    // The operation might have just ended.
    guard isKnownUniquelyReferenced(&operation) else { return }
    WorkerPool.shared.submit(PoolBlock { [operation] in withExtendedLifetime(operation) {} }, count: 1)
  }

  /// Finishes the operation or its attempt, if it has exceeded a limit.
  ///
  /// - Returns: True if a limit was exceeded. Then, this function releases the reference, and sets the alarm if needed.
  func endExceeding(_ reference: OperationReference, at now: ClockTime) -> Bool { false }
}

extension OperationGate: OperationFollower {
  static func note(
    _ transition: Transition, of operation: Operation, in queue: OperationQueue?, _ effects: inout Effects
  ) {
    switch transition {
    case .added: if let queue { operation.policyGate?.enter(queue) }
    case .started: if queue != nil { operation.timedGate?.noteFirstStart() }
    case .finished: operation.policyGate?.end(in: queue.map { .passUnretained($0) })
    case .paused(let attempt):
      guard operation.laneMember != nil else { return }
      // This runs the code of the error, so no lock is held.
      let result = BreakerState.Result(of: attempt.error)
      queue?.update { state in
        state.admission.policies?.noteFailedAttempt(of: operation, result, at: attempt.time, &state.admission)
      }
    default: break
    }
  }
}

extension Operation {
  /// The gate of an operation that has a policy.
  ///
  /// Once a queue has reserved the operation, nothing replaces its gate, so the gate is read without the lock of the
  /// links.
  final var policyGate: OperationGate? {
    guard hasGate else { return nil }
    guard state.current.isReserved else { return links.withLock { $0.details?.pointee.gate } }
    return OperationLayout.details(of: OperationReference(self)).pointee.gate
  }

  /// Whether the operation must not start, because its total timeout has passed.
  final func isOverdue(at now: ClockTime) -> Bool { gateKind == .other && policyGate?.isOverdue(at: now) == true }

  /// The gate of an operation that needs resources.
  final var resourceGate: ResourceGate? { policyGate?.needingResources }

  /// The gate of an operation whose policy has more than a delay, resources, and a key.
  final var timedGate: TimedGate? { policyGate?.timed }

  /// Records that the operation's delay has passed.
  ///
  /// Called on the thread of the alarms, so it runs no user code.
  fileprivate final func delayHasEnded() {
    if hasPause { return pauseHasEnded() }
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

  /// Makes the operation wait for a concurrency slot again, or resumes it if it has kept its slot.
  private func pauseHasEnded() {
    var effects = Effects()
    let keepsSlot = queue?.update(leaving: &effects) { state in
      let keepsSlot = self.admission.place == .running
      state.admission.endPause(of: self)
      return keepsSlot
    }
    effects.submit(to: nil)
    if keepsSlot != false { timedGate?.pause.end() }
  }
}
