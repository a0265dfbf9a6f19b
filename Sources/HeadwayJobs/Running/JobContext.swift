package import Headway
import Synchronization

/// An attempt to run a job.
///
/// You can use the members from any task. Functions that write throw ``JobError/Code/leaseLost`` when the job no longer
/// runs under this attempt, for example because it was abandoned.
public final class JobContext: Sendable {
  /// The attempt whose code runs in this task.
  @TaskLocal static var current: JobContext?
  /// The attempt whose step, the body of a checkpoint, runs in this task.
  @TaskLocal static var step: JobContext?

  /// The ID of the job.
  public var id: JobID { fence.id }
  /// The number of the attempt, from 1.
  ///
  /// Attempts that ended with a snooze, or were interrupted by a shutdown or a crash, are not counted. After a wait for
  /// a signal or a sleep, the numbers begin with 1 again.
  public var attempt: Int { fence.attempt }
  /// The job, in its state when it was claimed.
  public let job: JobRecord
  /// The jobs of the same store.
  public let jobs: Jobs
  /// The fence of the attempt, which each of its writes contains.
  @_spi(JobStore) public let fence: JobFence

  private struct State {
    var checkpointNames: Set<String> = []
    /// The number of waits that the code of the job has reached.
    var waitCounts: [JobWait: Int] = [:]
    /// The wait that stops the attempt.
    var suspension: JobSuspension?
    weak var operation: Operation?
    var hasBegun = false
    /// Whether this attempt is cancelled.
    ///
    /// Its operation, which also runs other attempts, might not be cancelled.
    var isCancelled = false
    /// Whether the job is given back, so that its code must not run.
    var isWithdrawn = false
    /// Observes when the operation starts, if the job has created it.
    var observation: KeyValueObservation?
    var lastProgress: ContinuousClock.Instant?
    /// Whether a transaction of the job's code has recorded the ending.
    var isFinished = false
    /// Whether another client of the database might have recorded the ending.
    var isFinishingElsewhere = false
    var span: (any JobSpan)?

    /// Notes the start of the operation and returns whether this is the first call.
    mutating func noteBegun() -> Bool {
      defer { hasBegun = true }
      return !hasBegun
    }
  }

  private let state = Mutex(State())

  package init(_ job: JobRecord, _ fence: JobFence, _ jobs: Jobs) {
    self.job = job
    self.fence = fence
    self.jobs = jobs
  }

  /// Whether the attempt was cancelled: on request, because its time limit was exceeded, because the worker is
  /// stopping, or because the attempt no longer runs the job.
  public var isCancelled: Bool {
    let (operation, isMarked) = state.withLock { ($0.operation, $0.isCancelled) }
    return isMarked || operation?.isCancelled == true
  }

  /// Whether ``noteCancelled()`` was called.
  var isMarkedCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Notes that this attempt is cancelled.
  ///
  /// Its operation, which also runs other attempts, might not be cancelled.
  func noteCancelled() { state.withLock { $0.isCancelled = true } }

  /// A string that is the same in all attempts of this job and unique among the jobs of the store.
  ///
  /// Pass it to services that accept one, so that a repeated request has no second effect.
  public var idempotencyKey: String { "\(job.kind)/\(id)/\(job.enqueuedTime.microseconds)" }

  /// Runs a step only once across all attempts and returns its value.
  ///
  /// The value is stored. In later attempts, this function returns the stored value and doesn't call `body`.
  ///
  /// ```swift
  /// let charge = try await context.checkpoint("charge") { try await fetch("receipt") }
  /// ```
  ///
  /// If the process crashes after `body` has returned and before the value is stored, `body` is called again.
  ///
  /// - Parameters:
  ///   - name: The name of the step. Each attempt can use a name only once.
  ///   - body: The code of the step, which runs only if no attempt has stored its value.
  /// - Returns: The value of the step, from this or an earlier attempt.
  /// - Throws: ``JobSuspension`` if the attempt ends with a wait; any error of `body`; or a ``JobError``. The code of
  ///   the ``JobError`` is ``JobError/Code/duplicateCheckpoint`` if this attempt has already used the name,
  ///   ``JobError/Code/payloadTooLarge`` if the value is larger than ``JobStore/maxResultSize``,
  ///   ``JobError/Code/refusedValue`` if the name begins with `headway/`, or ``JobError/Code/unencodablePayload``.
  ///   Nothing is stored in these cases.
  @discardableResult
  public func checkpoint<Value: Codable & Sendable>(
    _ name: String, _ body: @Sendable () async throws -> Value
  ) async throws -> Value {
    if let stored = try await storedCheckpoint(name, as: Value.self) { return stored }
    let value = try await Self.$step.withValue(self) { try await body() }
    let payload = try encodedCheckpoint(name, value)
    // Even if the attempt has reached a wait in another task in the meantime, the step must not run again.
    try await send(.checkpoint(name: name, value: payload))
    return value
  }

  /// Runs a step that returns nothing only once across all attempts.
  ///
  /// In later attempts, this function doesn't call `body`.
  ///
  /// ```swift
  /// try await context.checkpoint("greet") { print("Hello") }
  /// ```
  ///
  /// If the process crashes after `body` has returned and before the end of the step is stored, `body` is called again.
  ///
  /// - Parameters:
  ///   - name: The name of the step. Each attempt can use a name only once.
  ///   - body: The code of the step, which runs only if no attempt has completed the step.
  /// - Throws: ``JobSuspension`` if the attempt ends with a wait; any error of `body`; or a ``JobError``. The code of
  ///   the ``JobError`` is ``JobError/Code/duplicateCheckpoint`` if this attempt has already used the name, or
  ///   ``JobError/Code/refusedValue`` if the name begins with `headway/`. Nothing is stored in these cases.
  public func checkpoint(_ name: String, _ body: @Sendable () async throws -> Void) async throws {
    _ = try await checkpoint(name) { () async throws -> CompletedStep in
      try await body()
      return CompletedStep()
    }
  }

  /// Begins a step, and returns its value if an earlier attempt has stored a value.
  ///
  /// - Parameters:
  ///   - name: The name of the step.
  ///   - type: The type of its value.
  /// - Returns: The stored value; nil if the step must run.
  /// - Throws: ``JobError``, for example with the code ``JobError/Code/duplicateCheckpoint``; ``JobSuspension`` if the
  ///   attempt ends with a wait.
  @_spi(JobStore) public func storedCheckpoint<Value: Decodable>(_ name: String, as type: Value.Type) async throws
    -> Value?
  {
    try NameLength.check(name, "The name of a checkpoint", NameLength.name)
    guard !name.utf8.starts(with: StoredSignals.prefix.utf8) else {
      throw JobError(
        .refusedValue,
        "Job \(id) uses the checkpoint \(name), but names that begin with \(StoredSignals.prefix) are reserved. Use "
          + "another name.")
    }
    try checkNotSuspended()
    let isNew = state.withLock { $0.checkpointNames.insert(name).inserted }
    guard isNew else {
      throw JobError(
        .duplicateCheckpoint, "Job \(id) uses the checkpoint \(name) twice in an attempt. Give each step its own name.")
    }
    guard let stored = try await jobs.backend.checkpoint(name, of: id) else { return nil }
    do {
      return try stored.decode(type)
    } catch {
      throw JobError(
        .undecodablePayload, "The checkpoint \(name) of job \(id) can't be decoded as \(type): \(error)",
        underlyingError: error)
    }
  }

  /// Encodes the value of a step.
  ///
  /// - Parameters:
  ///   - name: The name of the step.
  ///   - value: The value that the step has returned.
  /// - Returns: The value in its stored form.
  /// - Throws: ``JobError`` with the code ``JobError/Code/payloadTooLarge`` or ``JobError/Code/unencodablePayload``.
  @_spi(JobStore) public func encodedCheckpoint(_ name: String, _ value: some Encodable) throws -> JobPayload {
    try encoded(value, as: "The checkpoint \(name)")
  }

  /// Stores the progress of the job.
  ///
  /// Calls within a second after the last stored progress have no effect.
  ///
  /// - Parameters:
  ///   - fraction: The completed part, from 0 to 1.
  ///   - message: A readable description of the current step. It is shortened to ``JobErrorRecord/maxTextLength``
  ///     bytes.
  /// - Throws: ``JobError``.
  public func reportProgress(_ fraction: Double, message: String? = nil) async throws {
    let now = ContinuousClock.now
    let isDue = state.withLock { state in
      if let last = state.lastProgress, now - last < .seconds(1) { return false }
      state.lastProgress = now
      return true
    }
    guard isDue else { return }
    let progress = JobProgress(fraction: fraction, text: message)
    try await write(.progress(progress))
    jobs.eventLog.post(.progressed(JobAttempt(job, fence), progress))
  }

  /// Adds a line to the history of the job.
  ///
  /// - Parameter text: The text of the line, which is shortened to ``JobErrorRecord/maxTextLength`` bytes.
  /// - Throws: ``JobError``.
  public func log(_ text: String) async throws { try await write(.log(text)) }

  /// Stores another job, if this attempt still runs.
  ///
  /// - Parameters:
  ///   - job: The job to store.
  ///   - options: Options of the other job. They take precedence over the options of its type.
  ///   - beforeDependents: Whether the jobs that wait for this job also wait for the other job. In that case, the other
  ///     job can't wait for any jobs, so that no cycle can arise. If a third job holds its key, the dependents don't
  ///     wait for that job.
  /// - Returns: A handle to the new job, or to the one that holds its key.
  /// - Throws: ``JobError``, with the code ``JobError/Code/queueFull`` if the queue of the other job is full. The other
  ///   job was not stored.
  @discardableResult
  public func enqueue<Type: Job>(
    _ job: Type, _ options: JobOption..., beforeDependents: Bool = false
  ) async throws -> JobHandle<Type.Output> {
    let options = JobOptions(options)
    if beforeDependents {
      var batch = JobBatch()
      let entry = batch.add(job, .options(options))
      return try await enqueue(batch, beforeDependents: true)[entry]
    }
    let new = try jobs.encode(job, options: options)
    guard case .enqueued(let enqueued) = try await write(.enqueue(new)) else {
      misuse(jobs.backend.wrongAnswer)
    }
    jobs.noteEnqueued(enqueued, new)
    return jobs.handle(enqueued)
  }

  @discardableResult
  func write(_ content: FencedWrite.Content) async throws -> FencedAnswer {
    try checkNotSuspended()
    return try await send(content)
  }

  @discardableResult
  private func send(_ content: FencedWrite.Content) async throws -> FencedAnswer {
    let answer = try await jobs.backend.write([FencedWrite(fence, content)])[0]
    if answer == .refused { throw leaseLost }
    if answer == .queueFull {
      throw JobError(
        .queueFull, "Job \(id) enqueues another job in a queue that is full. Snooze, or increase the limit.")
    }
    return answer
  }

  // MARK: Waiting

  /// The wait that stops the attempt, even if the code of the job has caught its error.
  @_spi(JobStore) public var suspension: JobSuspension? { state.withLock(\.suspension) }

  /// Throws the error of the wait that stops the attempt, if there is one.
  ///
  /// - Throws: ``JobSuspension``.
  @_spi(JobStore) public func checkNotSuspended() throws { if let suspension { throw suspension } }

  /// Notes a wait and returns the first one of the attempt.
  func suspend(_ suspension: JobSuspension) -> JobSuspension {
    state.withLock { state in
      let first = state.suspension ?? suspension
      state.suspension = first
      return first
    }
  }

  /// Returns the number of the next wait of a kind, from 1.
  func nextNumber(of wait: JobWait) -> Int {
    state.withLock { state in
      state.waitCounts[wait, default: 0] += 1
      return state.waitCounts[wait, default: 1]
    }
  }

  /// Gives back the number of a wait that has failed, unless another wait has the next number.
  func giveBack(_ number: Int, of wait: JobWait) {
    state.withLock { state in
      if state.waitCounts[wait] == number { state.waitCounts[wait] = number - 1 }
    }
  }

  // MARK: Endings

  /// The error for a write that was rejected.
  @_spi(JobStore) public var leaseLost: JobError {
    JobError(.leaseLost, "Attempt \(attempt) no longer runs job \(id): the job was abandoned or has ended elsewhere.")
  }

  /// Ends the job by a transaction of its code.
  ///
  /// - Parameter commit: Commits the transaction, which records the ending.
  /// - Returns: The value that the function returns.
  /// - Throws: The error of the function: the job has not ended. ``JobError`` with the code
  ///   ``JobError/Code/alreadyFinished`` if an earlier call has finished the job, or has not returned yet;
  ///   ``JobSuspension`` if the attempt ends with a wait.
  @_spi(JobStore) public func finishOnce<Value: Sendable>(
    by commit: () async throws -> Value
  ) async throws -> Value {
    try checkNotSuspended()
    // Noted before the commit. Otherwise, the worker could find after the commit that the attempt no longer runs the
    // job.
    guard beginFinishing() else { throw alreadyFinished }
    do {
      return try await commit()
    } catch {
      cancelFinishing()
      throw error
    }
  }

  /// The error for a second ending of the job by its code.
  @_spi(JobStore) public var alreadyFinished: JobError {
    JobError(.alreadyFinished, "A call of finish(_:) has ended job \(id), or is about to. After that call, return.")
  }

  /// Notes that a transaction of the job's code records the ending, so that the worker doesn't.
  ///
  /// - Returns: False if another transaction has recorded the ending, or is about to record it.
  private func beginFinishing() -> Bool {
    state.withLock { state in
      defer { state.isFinished = true }
      return !state.isFinished
    }
  }

  /// Notes that the transaction has failed.
  private func cancelFinishing() { state.withLock { $0.isFinished = false } }

  /// Notes that another client of the database might record the ending.
  ///
  /// - Returns: False if a transaction of the store has recorded it, or is about to.
  @_spi(JobStore) public func beginFinishingElsewhere() -> Bool {
    state.withLock { state in
      state.isFinishingElsewhere = true
      return !state.isFinished
    }
  }

  /// Whether another client of the database might have recorded the ending.
  var isFinishingElsewhere: Bool { state.withLock { $0.isFinishingElsewhere && !$0.isFinished } }

  /// Notes the ending if another client of the database has recorded it for this attempt.
  ///
  /// - Throws: ``JobError`` if the store can't be read.
  func findEnding() async throws {
    guard isFinishingElsewhere, let job = try await jobs.backend.jobs(JobFilter(ids: [id]), after: nil, limit: 1).first
    else { return }
    if job.state == .succeeded, job.hasEnded(fence) { state.withLock { $0.isFinished = true } }
  }

  /// Whether a transaction of the job's code has recorded the ending.
  var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Whether the operation has started.
  var hasBegun: Bool { state.withLock { $0.hasBegun } }

  /// Whether ``withdraw()`` might prevent the job's code from running.
  ///
  /// It can't prevent the job's own operation from starting.
  var canBeWithdrawn: Bool { state.withLock { !$0.hasBegun && $0.observation == nil } }

  /// Prevents the code of the job from running, unless it has begun.
  ///
  /// - Returns: Whether the code does not run.
  func withdraw() -> Bool {
    state.withLock { state in
      guard !state.hasBegun else { return false }
      state.isWithdrawn = true
      return true
    }
  }

  /// Notes that the code of the job is about to run.
  ///
  /// - Throws: `CancellationError` if the job is given back.
  package func begin() throws {
    // Under one lock, because the job can be given back at any time until then.
    let isFirst = state.withLock { state in state.isWithdrawn ? nil : state.noteBegun() }
    guard let isFirst else { throw CancellationError() }
    if isFirst { report() }
  }

  func noteBegun() {
    if state.withLock({ $0.noteBegun() }) { report() }
  }

  /// Reports that the code of the job is about to run.
  private func report() {
    jobs.eventLog.post(.started(JobAttempt(job, fence)))
    guard let span = jobs.tracing?.startSpan(of: self) else { return }
    state.withLock { $0.span = span }
  }

  /// Cancels the operation of the attempt.
  func cancelOperation() { state.withLock(\.operation)?.cancel() }

  /// Runs the code of the job.
  package func run(_ body: @Sendable () async throws -> Void) async throws {
    try await Self.$current.withValue(self) {
      guard let span = state.withLock(\.span) else { return try await body() }
      try await span.run(body)
    }
  }

  /// Runs the code of the job in an operation, which succeeds if the attempt ends with a wait.
  func runInOperation(_ body: @Sendable () async throws -> Void) async throws {
    do {
      try await run(body)
    } catch {
      guard suspension != nil else { throw error }
    }
  }

  /// Notes how the attempt has ended.
  package func noteEnded(_ action: JobEnding.Action, _ error: (any Error)?) {
    let span = state.withLock { $0.span.take() }
    span?.end(action, error)
  }

  /// Notes when an operation that the job has created starts.
  func noteBeginning(of operation: Operation) {
    let observation = operation.observe(\.isExecuting) { [weak self] operation, _ in
      if operation.isExecuting { self?.noteBegun() }
    }
    state.withLock { $0.observation = observation }
  }

  /// Notes the operation of the attempt, before it begins.
  package func noteOperation(_ operation: Operation) { state.withLock { $0.operation = operation } }
}
