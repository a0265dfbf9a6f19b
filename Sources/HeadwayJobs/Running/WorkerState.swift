import Headway

/// The state of a running worker, which its lock protects.
struct WorkerState {
  /// An attempt whose operation was created, and whose ending is not determined yet.
  struct Attempt {
    let operation: Operation
    let job: JobRecord
    let context: JobContext
    let result: AttemptResult
    let lane: Int
    let isSuspect: Bool
    /// When the operation was added to its queue.
    let added: Duration
    /// The attempts that run as the same operation; nil if there is only this one.
    var chunk: ChunkRun?
    /// Whether the attempt counts as using a slot.
    ///
    /// Of the attempts of a chunk, only the first one uses a slot.
    var holdsSlot = true
    /// Why the worker has cancelled the operation, if it has.
    var cause: CancellationCause?
  }

  /// Why a worker cancels an attempt.
  enum CancellationCause {
    /// The job was cancelled in the store.
    case requested
    /// The worker is stopping.
    case stopping
    /// The store no longer knows the worker or the attempt.
    case leaseLost
    /// The operation queue has no slot for the job, and another worker might have one.
    case givenBack
  }

  /// The progress of a worker that stops when none of its jobs can run.
  enum Drain {
    /// The worker has claimed jobs or recorded endings since the store was advanced for the last time.
    case working
    /// Like ``working``, but the last request has recorded no endings, and its claims have returned no jobs.
    ///
    /// When the worker holds no job, it advances the store, even if hints request further claims.
    case quiet
    /// The store was advanced. Claims for each queue follow, until they have returned no jobs.
    case advanced
  }

  /// The next step of the task that exchanges endings and claims, when there is nothing to send to the store.
  enum IdleStep {
    /// Waits until something happens.
    case wait
    /// Advances the store, because jobs might be due, and claims jobs for all queues.
    case advance
    /// Stops the worker, because none of its jobs can run, if the worker is still registered.
    case stop(WorkerID)
  }

  var claimer: Claimer
  /// The queues that run the jobs, each once, in the same order as the claimer's groups.
  var operationQueues: [OperationQueue]
  /// The queues of the store that match a pattern and are not served yet.
  var newQueues: Set<String> = []
  /// The identity of the worker in the store.
  var worker: WorkerID? {
    // The claims of another identity don't count.
    didSet { restartDrain() }
  }
  private(set) var attempts: [JobFence: Attempt] = [:]
  /// The claimed jobs that have no operation yet.
  private var starting: Set<JobFence> = []
  /// The attempts whose operations have finished, and whose endings are not determined yet.
  private var finished: [JobFence] = []
  /// Endings that are not recorded yet, oldest first.
  private(set) var endings: [JobEnding] = []
  /// Whether the last request has failed, so that the store might have claimed jobs that the worker has not received.
  private var hasLostAnswer = false
  /// Not nil if the worker stops when none of its jobs can run.
  private var drain: Drain?
  /// Whether the worker stops when none of its jobs can run.
  var isDraining: Bool { drain != nil }
  var isStopping = false
  /// Whether the worker no longer waits for attempts.
  var hasGivenUp = false

  /// The error of a store that can no longer be used.
  private(set) var failure: JobError?

  /// How many unrecorded endings make the worker stop claiming jobs.
  static let maxEndingCount = 10_000

  init(claimer: Claimer, operationQueues: [OperationQueue], isDraining: Bool = false) {
    self.claimer = claimer
    self.operationQueues = operationQueues
    drain = isDraining ? .working : nil
  }

  var isDone: Bool {
    guard isStopping, starting.isEmpty else { return false }
    if worker == nil, hasGivenUp { return true }
    return endings.isEmpty && !hasLostAnswer && (attempts.isEmpty || hasGivenUp)
  }

  /// The step after ``nextExchange(at:)`` has returned nil, when no request is on its way.
  ///
  /// A drain advances the store only when the worker holds no job. It advances the store again after each claimed job
  /// and each recorded ending. Therefore, the claims before its end follow all changes of its jobs, even if hints are
  /// lost. Hints and beats don't restart the drain, because they can arrive more often than the worker can send claims.
  var idleStep: IdleStep {
    guard let drain, let worker, !isStopping, !hasLostAnswer else { return .wait }
    guard isIdle else { return .wait }
    return switch drain {
    case .working, .quiet: .advance
    case .advanced: claimer.isExhausted ? .stop(worker) : .wait
    }
  }

  /// Whether the worker holds no jobs, and all endings have been sent.
  private var isIdle: Bool { starting.isEmpty && attempts.isEmpty && endings.isEmpty }

  /// Notes that the store was advanced while the worker was idle.
  mutating func noteAdvanced() {
    claimer.claimExhaustively()
    drain = .advanced
  }

  /// Makes a drain advance the store again before it ends.
  mutating func restartDrain() {
    guard drain != nil else { return }
    claimer.claimByHints()
    drain = .working
  }

  /// Returns the next request to send, or nil if there is nothing to send.
  mutating func nextExchange(at time: Duration) -> (exchange: JobExchange, lanes: [Int])? {
    guard let worker else { return nil }
    if drain == .quiet, isIdle { return nil }
    claimer.isStopped = isStopping || endings.count >= Self.maxEndingCount
    let claims = claimer.claims(at: time)
    guard !endings.isEmpty || !claims.isEmpty || hasLostAnswer else { return nil }
    let sent = Array(endings.prefix(JobCommand.maxChangedCount))
    endings.removeFirst(sent.count)
    // In the store, attempts whose endings are not sent yet are still running.
    let running = hasLostAnswer ? starting.union(attempts.keys).union(endings.map(\.fence)) : nil
    let exchange = JobExchange(worker: worker, endings: sent, claims: claims.map(\.claim), running: running)
    return (exchange, claims.map(\.lane))
  }

  /// Notes the answer to a request; nil if the request has failed.
  ///
  /// After a failure, the endings are sent again, because they might not be recorded.
  mutating func finish(_ exchange: JobExchange, lanes: [Int], _ answer: JobExchangeAnswer?) {
    hasLostAnswer = answer == nil
    // After a lost answer, the next request returns the jobs that the store has claimed, before the store claims again.
    if !exchange.endings.isEmpty || answer?.claimed.allSatisfy(\.isEmpty) == false {
      restartDrain()
    } else if answer != nil, drain == .working {
      drain = .quiet
    }
    if answer == nil { endings = exchange.endings + endings }
    for jobs in answer?.claimed ?? [] { starting.formUnion(jobs.lazy.compactMap(\.fence)) }
    claimer.claimed(answer?.claimed, by: exchange.claims, lanes: lanes)
  }

  /// Notes the operation of a claimed job.
  ///
  /// - Returns: The reason to cancel the operation before it is added; nil if it can start.
  mutating func start(_ attempt: Attempt) -> CancellationCause? {
    let fence = attempt.context.fence
    let cause: CancellationCause? = fence.owner != worker ? .leaseLost : isStopping ? .stopping : nil
    starting.remove(fence)
    if attempt.holdsSlot { claimer.added(lane: attempt.lane) }
    attempts[fence] = attempt
    attempts[fence]?.cause = cause
    return cause
  }

  /// Notes that the operation of an attempt has finished.
  mutating func noteFinished(_ fence: JobFence) { finished.append(fence) }

  /// Returns the attempts whose operations have finished since the last call.
  mutating func takeFinished() -> [Attempt] {
    guard !finished.isEmpty else { return [] }
    defer { finished.removeAll(keepingCapacity: true) }
    return finished.compactMap { attempts[$0] }
  }

  /// Notes the end of an attempt.
  ///
  /// - Returns: Whether the attempt's ending will be sent.
  mutating func end(_ fence: JobFence, _ action: JobEnding.Action?, at time: Duration) -> Bool {
    guard let attempt = attempts.removeValue(forKey: fence) else { return false }
    claimer.ended(
      lane: attempt.lane, isSuspect: attempt.isSuspect, holdsSlot: attempt.holdsSlot, hasRun: action != .release,
      at: time)
    guard let action, attempt.cause != .leaseLost else { return false }
    endings.append(JobEnding(fence, action))
    return true
  }

  /// Ends the attempt of a claimed job that has no operation.
  mutating func giveBack(_ fence: JobFence, _ action: JobEnding.Action, lane: Int, isSuspect: Bool, at time: Duration) {
    starting.remove(fence)
    claimer.ended(lane: lane, isSuspect: isSuspect, wasAdded: false, at: time)
    endings.append(JobEnding(fence, action))
  }

  /// How long an operation waits for a slot before its job is given back.
  private static let patience = Duration.seconds(1)

  /// Returns the attempts whose operations wait in queues that have no slots for them.
  ///
  /// For example, a queue was suspended, its limit was lowered, or jobs were claimed ahead for slots that long jobs
  /// still use.
  mutating func attemptsWithoutSlots(at time: Duration) -> Set<JobFence> {
    var fences: Set<JobFence> = []
    for group in claimer.groups.indices {
      let surplus = claimer.surplus(ofGroup: group, at: time)
      guard surplus > 0 else { continue }
      let waiting = attempts.values.filter { attempt in
        claimer.lanes[attempt.lane].group == group && attempt.cause == nil && time - attempt.added >= Self.patience
          && attempt.holdsSlot && attempt.context.canBeWithdrawn
      }
      // The operations that would begin last.
      let last = waiting.sorted { left, right in
        (left.job.priority, right.job.position) < (right.job.priority, left.job.position)
      }.prefix(surplus)
      for attempt in last { fences.formUnion(attempt.chunk?.members.map(\.context.fence) ?? [attempt.context.fence]) }
    }
    return fences
  }

  /// Stops the worker, without waiting for attempts or for the store.
  mutating func fail(_ error: JobError) {
    failure = failure ?? error
    (isStopping, hasGivenUp) = (true, true)
  }

  /// Marks attempts as cancelled and returns them, so that the caller cancels their operations without the lock.
  mutating func cancel(_ cause: CancellationCause, where isMeant: (Attempt) -> Bool) -> [Attempt] {
    var cancelled: [Attempt] = []
    for (fence, attempt) in attempts where attempt.cause == nil && isMeant(attempt) {
      attempts[fence]?.cause = cause
      cancelled.append(attempt)
    }
    return cancelled
  }
}

extension WorkerState.Attempt {
  /// The error of the attempt; nil if there is none.
  var error: (any Error)? { result.error ?? operation.error }

  /// Whether the attempt is cancelled.
  ///
  /// Other attempts that its operation runs might not be cancelled.
  var isCancelled: Bool { chunk == nil ? operation.isCancelled : context.isCancelled }

  /// Cancels the attempt.
  func cancel() {
    if let chunk { chunk.cancel(context, operation) } else { operation.cancel() }
  }
}
