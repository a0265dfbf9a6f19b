import Synchronization

/// Holds an operation back as long as its policy requires, and ends it when its time is up.
///
/// An operation without a policy has no gate. The alarm of the gate is set only from the time when a queue accepts the
/// operation until the operation ends, so the operation exists while the alarm rings.
final class OperationGate: Alarm, @unchecked Sendable {  // What changes later is atomic or has a lock.
  let policy: OperationPolicy
  /// Whether the operation repeats its function if it fails.
  let hasAttempts: Bool
  /// The request for the resources of the operation, if it needs any.
  private(set) var request: ResourceRequest?
  /// The operation's part of its lane, if it has a key.
  let laneMember: LaneMember?
  private unowned(unsafe) let operation: Operation

  /// The calls that share the operation, if they may.
  ///
  /// Set before any other thread has a reference to the operation.
  @exclusivity(unchecked) var coalescedWork: CoalescedWork?

  /// The pause between two attempts.
  let pause = OperationPause()
  /// The current attempt, if the operation repeats its function and the time of each attempt is limited.
  private let attempt = Guarded<Attempt?>(nil)

  private struct Attempt {
    let cancel: @Sendable () -> Void
    /// Set when the time is up.
    var error: TimeLimitError?
  }

  // Set when a queue accepts the operation, before any other thread can see the gate.
  @exclusivity(unchecked) private var clock = PolicyClock.continuous
  @exclusivity(unchecked) private var addedTime = PolicyTime.max
  @exclusivity(unchecked) private var totalEnd = PolicyTime.max

  // A thread that changes one of these sets the alarm afterward. The lock of the clock orders this: the last thread
  // that sets the alarm sees all changes.
  private let delays = Atomic<Bool>(false)
  private let delayEnd = Atomic<PolicyTime>(.min)
  /// When the operation, or its current attempt, has started.
  private let startTime = Atomic<PolicyTime>(.max)
  private let firstStartTime = Atomic<PolicyTime>(.max)
  private let isOver = Atomic<Bool>(false)

  init(_ policy: OperationPolicy, of operation: Operation, hasAttempts: Bool) {
    (self.policy, self.operation, self.hasAttempts) = (policy, operation, hasAttempts)
    laneMember = policy.key.map(LaneMember.init)
    super.init()
    guard !policy.exclusiveResources.isEmpty || !policy.sharedResources.isEmpty else { return }
    request = ResourceRequest(exclusive: policy.exclusiveResources, shared: policy.sharedResources, gate: self)
  }

  /// The operation, which exists as long as its request waits.
  var target: Operation { operation }

  /// Whether the policy keeps the operation from being ready.
  var isClosed: Bool { delays.load(ordering: .acquiring) }

  /// The remaining time of the delay, or nil if the operation is not delayed.
  var remainingDelay: Duration? {
    isClosed ? .nanoseconds(max(0, delayEnd.load(ordering: .acquiring).addedClamped(-clock.now))) : nil
  }

  // MARK: The life of the operation

  /// Notes that a queue is about to accept the operation.
  func begin(on clock: PolicyClock) {
    self.clock = clock
    guard policy.delay != nil || policy.timeout != nil || policy.totalTimeout != nil else { return }
    addedTime = clock.now
    if let delay = policy.delay, delay > .zero {
      delayEnd.store(addedTime.addedClamped(delay.nanoseconds), ordering: .releasing)
      delays.store(true, ordering: .releasing)
    }
    if let totalTimeout = policy.totalTimeout { totalEnd = addedTime.addedClamped(totalTimeout.nanoseconds) }
    if isClosed || totalEnd < .max { clock.set(self) }
  }

  /// The time of the clock.
  var time: PolicyTime { clock.now }

  /// Holds the operation back for a time, because it pauses between two attempts.
  func delay(for delay: Duration) {
    delayEnd.store(clock.now.addedClamped(delay.nanoseconds), ordering: .releasing)
    delays.store(true, ordering: .releasing)
    clock.set(self)
  }

  /// Notes that the operation starts.
  func noteFirstStart() {
    coalescedWork?.begin()
    guard policy.timeout != nil || policy.totalTimeout != nil else { return }
    firstStartTime.store(clock.now, ordering: .releasing)
    // Attempts have their own starts.
    if !hasAttempts { noteStart() }
  }

  private func noteStart() {
    guard policy.timeout != nil || policy.totalTimeout != nil else { return }
    startTime.store(clock.now, ordering: .releasing)
    if policy.timeout != nil { clock.set(self) }
  }

  /// Calls a function with the time limit of an attempt.
  ///
  /// Earlier attempts and pauses do not count toward this limit, only toward the total timeout.
  ///
  /// - Parameters:
  ///   - executor: Runs the function.
  ///   - body: The function. Its task is cancelled when the time is up.
  /// - Returns: The result of the function, even if the function returns after its time is up.
  /// - Throws: The error of the function; ``TimeLimitError`` if the time was up before the function threw.
  func runAttempt<Success: Sendable>(
    on executor: some TaskExecutor, _ body: @escaping @Sendable () async throws -> Success
  ) async throws -> Success {
    guard policy.timeout != nil else { return try await body() }
    let task = Task(executorPreference: executor, operation: body)
    attempt.withLock { $0 = Attempt { task.cancel() } }
    noteStart()
    do {
      let value = try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
      _ = endAttempt()
      return value
    } catch {
      throw endAttempt()?.error ?? error
    }
  }

  private func endAttempt() -> Attempt? {
    startTime.store(.max, ordering: .releasing)
    return attempt.withLock { attempt in
      defer { attempt = nil }
      return attempt
    }
  }

  /// Ends the current attempt, if its time is up.
  ///
  /// - Returns: The function that cancels its task; nil if the operation has no attempts.
  private func cancellation(of error: TimeLimitError, at now: PolicyTime) -> (@Sendable () -> Void)? {
    guard error.code == .timeout else { return nil }
    return attempt.withLock { attempt in
      guard hasAttempts else { return nil }
      // The attempt may just have ended, or another one may have begun.
      guard attempt != nil else { return {} }
      guard timeoutEnd <= now else { return {} }
      attempt?.error = error
      startTime.store(.max, ordering: .releasing)
      return attempt?.cancel
    }
  }

  /// Notes that the operation has ended.
  ///
  /// Can run user code: called with no lock held, before the operation leaves its queue.
  ///
  /// - Parameter home: The queue that holds the operation, or nil.
  func end(in home: Unmanaged<OperationQueue>?) {
    coalescedWork?.end()
    isOver.store(true, ordering: .releasing)
    clock.remove(self)
    guard let laneMember, let home, home._withUnsafeGuaranteedRef({ $0.needsTime.load(ordering: .relaxed) }) else {
      return
    }
    laneMember.endTime = clock.now
    laneMember.hasWrongRequest = (operation.error as? any RetryableError)?.isRetryable == false
  }

  // MARK: The alarm

  override var nextTime: PolicyTime {
    guard !isOver.load(ordering: .acquiring) else { return .max }
    let time = min(totalEnd, timeoutEnd)
    return isClosed ? min(time, delayEnd.load(ordering: .acquiring)) : time
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
    if isClosed, delayEnd.load(ordering: .acquiring) <= now {
      delays.store(false, ordering: .releasing)
      reference._withUnsafeGuaranteedRef { $0.delayHasEnded() }
    }
    let error = exceededLimit(at: now)
    if let error, let cancel = cancellation(of: error, at: now) {
      clock.set(self)
      WorkerPool.shared.submit(
        PoolBlock {
          cancel()
          reference.release()
        }, count: 1)
    } else if let error {
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
      // The operation might have just ended.
      guard isKnownUniquelyReferenced(&operation) else { return }
      WorkerPool.shared.submit(PoolBlock { [operation] in withExtendedLifetime(operation) {} }, count: 1)
    }
  }

  private func exceededLimit(at now: PolicyTime) -> TimeLimitError? {
    guard !isOver.load(ordering: .acquiring) else { return nil }
    let start = firstStartTime.load(ordering: .acquiring)
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
    if keepsSlot != false { policyGate?.pause.end() }
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
