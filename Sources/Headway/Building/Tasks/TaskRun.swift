import Synchronization

/// The Swift task of a ``TaskOperation``, and the executor that it prefers.
///
/// The task is created with the operation, because it inherits from its creator. Its first job waits here until the
/// operation starts. From then on, its jobs run on the threads that run the operation's queue. The thread that has run
/// the last job finishes the operation, after the job has returned. By then, the captures of the function have been
/// released, and nothing that follows the end is inside the task.
///
/// See `Docs/decisions/0018-task-operations.md`.
final class TaskRun: TaskExecutor {
  // Not generic, unlike the operation: looking up the type of a generic property takes as long as a small task.

  /// How the function has returned.
  enum End {
    case success
    case failure(any Error)
    /// It threw a `CancellationError` because the task was cancelled.
    case cancelled
  }

  /// The operation that the task's jobs belong to, and its queue.
  private struct Owner {
    let operation: Operation
    /// The queue retains itself until the operation has left it.
    ///
    /// Nil for an operation that was started manually, outside of other operations.
    let queue: OperationQueue?
  }

  private struct State {
    /// Set from the start to the end of the operation.
    var owner: Owner?
    var jobs = WaitingJobs()
    /// How many more threads were requested than there are jobs.
    var surplus = 0
    var end: End?
    /// Where the thread that ran the function to its end entered the operation.
    var lastEntrance: UnsafeRawPointer?
  }

  /// The jobs that no thread has taken: jobs of the task and of child tasks that it awaits.
  private struct WaitingJobs {
    private var first: UnownedJob?
    /// The jobs after the first.
    private var others = FirstInFirstOut<UnownedJob>()

    var isEmpty: Bool { first == nil }

    mutating func append(_ job: UnownedJob) { if first == nil { first = job } else { others.append(job) } }

    mutating func popFirst() -> UnownedJob? {
      defer { first = others.popFirst() }
      return first
    }
  }

  // Protected by its lock. Nothing is called and no user object is released under it. A function that does not suspend
  // acquires it four times, and each suspension acquires it twice.
  private let state = Guarded(State())

  /// Whether the function must not run.
  ///
  /// Set by the thread that then runs the first job.
  private let abandoned = Atomic<Bool>(false)
  /// The address of the operation, which is valid while a job of the task runs.
  ///
  /// Set before the first job runs.
  private let startedOperation = Atomic<UInt>(0)

  /// The identity of the operation's queue.
  ///
  /// Set before `State.owner`. No thread is requested until `owner` is set, and only requested threads read this.
  private nonisolated(unsafe) var queueIdentity: ObjectIdentifier?
  /// Whether the function has returned.
  ///
  /// The thread that ran that job finishes the operation.
  private let hasReturned = Atomic<Bool>(false)

  // Relaxed: they are set and read by one thread, or by threads that the jobs of the task order.

  var isAbandoned: Bool { abandoned.load(ordering: .relaxed) }

  /// Calls the operation's function, inside the instruments of its queue, in the first job of its task.
  func call<Success: Sendable>(_ body: TaskBody<Success>) async throws -> Success {
    guard !isAbandoned else { throw CancellationError() }
    do {
      let operation = operation
      let value: Success
      if let attempts = operation.timedGate?.attempts {
        value = try await attempts.run(of: operation, on: self) { try await body.run($0) }
      } else if operation.queue?.instruments(of: operation) != nil {
        value = try await operation.runAttempt(1) { try await body.run(1) }
      } else if case .function(let function) = body {
        // The function is called directly if possible, because each asynchronous function in between takes 50 ns.
        value = try await function()
      } else {
        value = try await body.run(1)
      }
      note(.success)
      return value
    } catch {
      note(error is CancellationError && Task.isCancelled ? .cancelled : .failure(error))
      throw error
    }
  }

  /// The operation.
  ///
  /// Read this only in a job of its task.
  private var operation: Operation {
    guard let pointer = UnsafeRawPointer(bitPattern: startedOperation.load(ordering: .relaxed)) else {
      misuse("A job of a task operation runs before the operation has started.")
    }
    return Unmanaged<Operation>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Records how the function has returned, in the job that the calling thread runs.
  ///
  /// Other threads might still be in earlier jobs: if an actor was in use, they continue with work of that actor that
  /// other tasks wait for.
  func note(_ end: End) {
    let entrance = ThreadContext.entrance(into: operation)
    hasReturned.store(true, ordering: .relaxed)
    state.withLock { ($0.end, $0.lastEntrance) = (end, entrance) }
    // The runtime can run a job on a thread that is inside another task's job.
    if entrance == nil { WorkerPool.shared.submit(PoolBlock { self.endIfOver(from: nil) }, count: 1) }
  }

  // MARK: The operation

  /// Begins the task on the calling thread, because the operation starts.
  ///
  /// - Parameters:
  ///   - operation: The operation that starts. It is retained until it ends.
  ///   - queue: The queue of the operation, if any.
  func begin(_ operation: Operation, in queue: OperationQueue?) {
    let owner = Owner(operation: operation, queue: queue)
    queueIdentity = queue.map { ObjectIdentifier($0) }
    startedOperation.store(UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque()), ordering: .relaxed)
    let job = state.withLock { state in
      state.owner = owner
      return state.jobs.popFirst()
    }
    if let job { perform(job, owner) }
  }

  /// Ends the task without calling the function, if the operation has not started.
  ///
  /// It never starts afterwards.
  func abandon() {
    guard let job = state.withLock({ $0.owner == nil ? $0.jobs.popFirst() : nil }) else { return }
    abandoned.store(true, ordering: .relaxed)
    job.runSynchronously(on: asUnownedTaskExecutor())
  }

  // MARK: The executor

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let owner = state.withLock { state in
      state.jobs.append(job)
      return state.owner
    }
    if let owner { submit(owner) }
  }

  /// Requests a thread.
  private func submit(_ owner: Owner) {
    guard let queue = owner.queue else { return WorkerPool.shared.submit(self, count: 1) }
    queue.submit(self, of: owner.operation)
  }

  /// Requests another thread, because the operation has become more urgent: a waiting job might get a thread of another
  /// class.
  func resubmit() {
    let owner = state.withLock { state -> Owner? in
      guard !state.jobs.isEmpty, let owner = state.owner else { return nil }
      state.surplus += 1
      return owner
    }
    if let owner { submit(owner) }
  }

  /// Runs a job of the task and finishes the operation if it was the last.
  private func perform(_ job: UnownedJob, _ owner: borrowing Owner) {
    var entrance: UnsafeRawPointer?
    ThreadContext.run(owner.operation, in: owner.queue, isShared: true) {
      job.runSynchronously(on: asUnownedTaskExecutor())
      // The function might have returned in this job.
      if hasReturned.load(ordering: .relaxed) { entrance = ThreadContext.entrance(into: owner.operation) }
    }
    if let entrance { endIfOver(from: entrance) }
  }

  /// Finishes the operation if the job that ran the function to its end has returned.
  ///
  /// That job ran where the calling thread entered the operation at `entrance`, or, if that is nil, inside no entrance.
  private func endIfOver(from entrance: UnsafeRawPointer?) {
    let (end, owner) = state.withLock { state -> (End?, Owner?) in
      guard state.end != nil, state.lastEntrance == entrance else { return (nil, nil) }
      defer { (state.end, state.owner) = (nil, nil) }
      return (state.end, state.owner)
    }
    guard let end, let operation = owner?.operation else { return }
    switch end {
    case .success: break
    case .failure(let error): operation.recordError(error)
    case .cancelled: operation.cancel()
    }
    operation.endInMainOrLater(mayContinue: false)
    withExtendedLifetime(owner) {}  // Released after the lock.
  }
}

// The task and the child tasks that it awaits wait for threads as one piece of work.
extension TaskRun: PoolWork {
  var owner: ObjectIdentifier { queueIdentity ?? ObjectIdentifier(self) }

  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    let (job, owner, mayBeSurplus) = state.withLock { state -> (UnownedJob?, Owner?, Bool) in
      state.surplus > 0 ? (nil, state.owner, true) : (state.jobs.popFirst(), state.owner, false)
    }
    guard let owner else { return false }
    guard mayBeSurplus else {
      guard let job else { return false }
      perform(job, owner)
      return true
    }
    return runOnOneOfMany(of: workerClass, owner)
  }

  /// Runs a job when more threads were requested than there are jobs.
  ///
  /// Threads leave if their class differs from the current class of the operation.
  private func runOnOneOfMany(of workerClass: WorkerClass?, _ owner: Owner) -> Bool {
    let wanted = workerClass.flatMap { _ in owner.queue?.workerClass(of: owner.operation) }
    let job = state.withLock { state -> UnownedJob? in
      guard state.surplus == 0 || (!state.jobs.isEmpty && workerClass == wanted) else {
        state.surplus -= 1
        return nil
      }
      return state.jobs.popFirst()
    }
    guard let job else { return false }
    perform(job, owner)
    return true
  }
}
