import Synchronization

/// The gate of an operation whose policy has more than a delay, resources, and a key.
///
/// Also used with a retry policy, and if several calls can share the operation.
///
/// This gate also finishes the operation when its time is up.
final class TimedGate: KeyGate, @unchecked Sendable {  // Properties that change later are atomic or have a lock.
  let givenPolicy: OperationPolicy
  /// The attempts of an operation that repeats its function if it fails.
  let attempts: TaskAttempts?
  /// The entry of the operation in the table of coalescing keys, if calls can share the operation.
  let coalescedWork: CoalescedWork?

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
  @exclusivity(unchecked) private var addedTime = ClockTime.max
  @exclusivity(unchecked) private var totalEnd = ClockTime.max

  // A thread that changes one of these sets the alarm afterward, as with the properties of the superclass.
  /// When the operation, or its current attempt, has started.
  private let startTime = Atomic<ClockTime>(.max)
  private let firstStartTime = Atomic<ClockTime>(.max)

  init(_ policy: OperationPolicy, of operation: Operation, _ attempts: TaskAttempts?, _ coalescedWork: CoalescedWork?) {
    (givenPolicy, self.attempts, self.coalescedWork) = (policy, attempts, coalescedWork)
    let limitsTime = attempts != nil || policy.timeout != nil || policy.totalTimeout != nil
    let delay = policy.delay?.nanoseconds ?? 0
    super.init(policy.key, policy.resources, delay: delay, limitsTime: limitsTime, of: operation)
  }

  override var timed: TimedGate? { self }

  // MARK: The life of the operation

  /// Whether the time of the operation or its attempts is limited.
  private var limitsTime: Bool { givenPolicy.timeout != nil || givenPolicy.totalTimeout != nil }

  override var limitsStart: Bool { givenPolicy.totalTimeout != nil }

  override func isOverdue(at now: ClockTime) -> Bool { totalEnd <= now }

  /// Finishes the operation if its total timeout has passed.
  ///
  /// Called in the task of the operation, before an attempt.
  ///
  /// - Throws: `CancellationError` if the operation was ended.
  func requireTime() throws {
    let now = time
    guard isOverdue(at: now), let error = exceededLimit(at: now) else { return }
    noteOver()
    // If the alarm has rung, another thread does the same. Only one of the two threads has an effect.
    target.fail(exceeding: error)
    throw CancellationError()
  }

  override func begin(on clock: PolicyClock) {
    if limitsTime {
      addedTime = clock.now
      totalEnd = givenPolicy.totalTimeout.map { addedTime.addedClamped($0.nanoseconds) } ?? .max
    }
    super.begin(on: clock)
  }

  /// Notes that the operation starts.
  func noteFirstStart() {
    coalescedWork?.begin()
    guard limitsTime else { return }
    firstStartTime.store(time, ordering: .releasing)
    // Attempts have their own starts.
    if attempts == nil { noteStart() }
  }

  private func noteStart() {
    guard limitsTime else { return }
    startTime.store(time, ordering: .releasing)
    if givenPolicy.timeout != nil { setAlarm() }
  }

  /// Calls a function with the time limit of an attempt.
  ///
  /// Earlier attempts and pauses do not count toward this limit, only toward the total timeout. If the operation was
  /// started manually, there is no limit.
  ///
  /// - Parameters:
  ///   - executor: Runs the function.
  ///   - body: The function to call. Its task is cancelled when the time is up.
  /// - Returns: The result of the function, even if the function returns after its time is up.
  /// - Throws: The error of the function; ``TimeLimitError`` if the time was up before the function threw.
  func runAttempt<Success: Sendable>(
    on executor: some TaskExecutor, _ body: @escaping @Sendable () async throws -> Success
  ) async throws -> Success {
    guard givenPolicy.timeout != nil, addedTime < .max else { return try await body() }
    let task = Task(executorPreference: executor) {
      // The task may have waited for a thread for too long.
      let now = self.time
      if self.timeoutEnd <= now, let error = self.exceededLimit(at: now) { throw error }
      return try await body()
    }
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
      if let exceeded = endAttempt()?.error { throw exceeded }
      // The same happens without a time limit if the function cancels the operation's task.
      if task.isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
      throw error
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
  private func cancellation(of error: TimeLimitError, at now: ClockTime) -> (@Sendable () -> Void)? {
    guard error.code == .timeout else { return nil }
    return attempt.withLock { attempt in
      guard attempts != nil else { return nil }
      // The attempt may just have ended, or another one may have begun.
      guard attempt != nil else { return {} }
      guard timeoutEnd <= now else { return {} }
      attempt?.error = error
      startTime.store(.max, ordering: .releasing)
      return attempt?.cancel
    }
  }

  override func end(in home: Unmanaged<OperationQueue>?) {
    coalescedWork?.end()
    super.end(in: home)
  }

  // MARK: The time limits

  override var nextTime: ClockTime { isOver ? .max : min(super.nextTime, totalEnd, timeoutEnd) }

  private var timeoutEnd: ClockTime {
    guard let timeout = givenPolicy.timeout else { return .max }
    return startTime.load(ordering: .acquiring).addedClamped(timeout.nanoseconds)
  }

  override func endExceeding(_ reference: OperationReference, at now: ClockTime) -> Bool {
    guard !isOver, let error = exceededLimit(at: now) else { return false }
    if let cancel = cancellation(of: error, at: now) {
      setAlarm()
      WorkerPool.shared.submit(
        PoolBlock {
          cancel()
          reference.release()
        }, count: 1)
    } else {
      noteOver()
      // Cancelling the operation runs user code. Releasing it may also run user code.
      WorkerPool.shared.submit(
        PoolBlock {
          reference._withUnsafeGuaranteedRef { $0.fail(exceeding: error) }
          reference.release()
        }, count: 1)
    }
    return true
  }

  private func exceededLimit(at now: ClockTime) -> TimeLimitError? {
    let start = firstStartTime.load(ordering: .acquiring)
    let (waiting, running) = (min(start, now) - addedTime, start < .max ? now - start : nil)
    let (code, limit): (TimeLimitError.Code, Duration?) =
      totalEnd <= now
      ? (.totalTimeout, givenPolicy.totalTimeout)
      : timeoutEnd <= now ? (.timeout, givenPolicy.timeout) : (.timeout, nil)
    guard let limit else { return nil }
    return TimeLimitError(
      code: code, limit: limit, waitDuration: .nanoseconds(waiting), runDuration: running.map { .nanoseconds($0) })
  }
}

extension Operation {
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
