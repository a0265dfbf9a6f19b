import Synchronization

/// The Swift task of a ``TaskOperation``, and the executor that it prefers.
///
/// The task is made with the operation, for what it inherits from its creator; its first job waits here until the
/// operation starts. From then on its jobs run where those of the operation's queue do. The operation ends on the
/// thread that has run the last job, when that has returned: what the function captured has been released by then, and
/// nothing that follows the end is inside the task.
final class TaskRun: TaskExecutor {
  // Not generic, as the operation is: to look up the type of a generic property takes as long as a small task.

  /// How the function has returned.
  enum End {
    case success
    case failure(any Error)
    /// With a `CancellationError`, since the task was cancelled.
    case cancelled
  }

  private struct Place {
    let operation: Operation
    /// It owns itself until the operation has left it; nil for one that was started by hand outside of operations.
    let queue: OperationQueue?
  }

  private struct State {
    /// From the start to the end.
    var place: Place?
    var jobs = WaitingJobs()
    /// For how many more threads was sent than there are jobs.
    var surplus = 0
    var end: End?
    /// Where the thread went into the operation that has run the function to its end.
    var lastEntrance: UnsafeRawPointer?
  }

  /// The jobs that no thread has taken: that of the task, and those of tasks that it has made and awaits.
  private struct WaitingJobs {
    private var first: UnownedJob?
    /// Behind that.
    private var others = FirstInFirstOut<UnownedJob>()

    var isEmpty: Bool { first == nil }

    mutating func append(_ job: UnownedJob) { if first == nil { first = job } else { others.append(job) } }

    mutating func popFirst() -> UnownedJob? {
      defer { first = others.popFirst() }
      return first
    }
  }

  // Protected by its lock, under which nothing is called, and nothing of users' is released. A function that does not
  // suspend takes it four times, and each suspension takes it twice.
  private let state = Guarded(State())

  /// The function does not run.
  ///
  /// Set by the thread that then runs the first job.
  private let abandoned = Atomic<Bool>(false)
  /// The address of the operation, which is there while a job of the task runs.
  ///
  /// Set before the first job runs.
  private let startedOperation = Atomic<UInt>(0)

  /// Of the operation's queue.
  ///
  /// Set before the place, without which no thread is sent for, and looked at by those.
  private nonisolated(unsafe) var queueIdentity: ObjectIdentifier?
  /// The function has returned: the thread whose job that was ends the operation.
  private let hasReturned = Atomic<Bool>(false)

  // Relaxed: they are set and read by one thread, or by threads that the jobs of the task order.

  var isAbandoned: Bool { abandoned.load(ordering: .relaxed) }

  /// The operation; to be asked for in a job of its task.
  private var operation: Operation {
    guard let pointer = UnsafeRawPointer(bitPattern: startedOperation.load(ordering: .relaxed)) else {
      preconditionFailure("a job runs before the operation has started")
    }
    return Unmanaged<Operation>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// The function has returned, in the job that the calling thread runs.
  ///
  /// Other threads may still be in earlier jobs: of an actor that was in use, they go on with what others wait for.
  func note(_ end: End) {
    let entrance = ThreadContext.entrance(into: operation)
    hasReturned.store(true, ordering: .relaxed)
    state.withLock { ($0.end, $0.lastEntrance) = (end, entrance) }
    // The runtime may run a job on a thread that is in another's.
    if entrance == nil { WorkerPool.shared.submit(PoolBlock { self.endIfOver(from: nil) }, count: 1) }
  }

  // MARK: The operation

  /// The operation starts: the task begins on the calling thread.
  ///
  /// - Parameters:
  ///   - operation: The operation, which is kept until it ends.
  ///   - queue: Its queue.
  func begin(_ operation: Operation, in queue: OperationQueue?) {
    let place = Place(operation: operation, queue: queue)
    queueIdentity = queue.map { ObjectIdentifier($0) }
    startedOperation.store(UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque()), ordering: .relaxed)
    let job = state.withLock { state in
      state.place = place
      return state.jobs.popFirst()
    }
    if let job { perform(job, place) }
  }

  /// If the operation has not started, it never will: the task ends without having called the function.
  func abandon() {
    guard let job = state.withLock({ $0.place == nil ? $0.jobs.popFirst() : nil }) else { return }
    abandoned.store(true, ordering: .relaxed)
    job.runSynchronously(on: asUnownedTaskExecutor())
  }

  // MARK: The executor

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let place = state.withLock { state in
      state.jobs.append(job)
      return state.place
    }
    if let place { submit(place) }
  }

  /// Sends for a thread.
  private func submit(_ place: Place) {
    guard let queue = place.queue else { return WorkerPool.shared.submit(self, count: 1) }
    queue.submit(self, of: place.operation)
  }

  /// The operation has become more urgent: a job that waits for a thread may get one of another class.
  func resubmit() {
    let place = state.withLock { state -> Place? in
      guard !state.jobs.isEmpty, let place = state.place else { return nil }
      state.surplus += 1
      return place
    }
    if let place { submit(place) }
  }

  /// Runs a job of the task, and ends the operation if that was the last.
  private func perform(_ job: UnownedJob, _ place: borrowing Place) {
    var entrance: UnsafeRawPointer?
    ThreadContext.run(place.operation, in: place.queue, isShared: true) {
      job.runSynchronously(on: asUnownedTaskExecutor())
      // The function may have returned in this job.
      if hasReturned.load(ordering: .relaxed) { entrance = ThreadContext.entrance(into: place.operation) }
    }
    if let entrance { endIfOver(from: entrance) }
  }

  /// Ends the operation if its last job has returned, which has run where the calling thread went into the operation:
  /// nil if that was nowhere.
  private func endIfOver(from entrance: UnsafeRawPointer?) {
    let (end, place) = state.withLock { state -> (End?, Place?) in
      guard state.end != nil, state.lastEntrance == entrance else { return (nil, nil) }
      defer { (state.end, state.place) = (nil, nil) }
      return (state.end, state.place)
    }
    guard let end, let operation = place?.operation else { return }
    switch end {
    case .success: break
    case .failure(let error): operation.recordError(error)
    case .cancelled: operation.cancel()
    }
    operation.endInMainOrLater(mayGoOn: false)
    withExtendedLifetime(place) {}  // Released after the lock.
  }
}

// The task and what it awaits wait for threads as one piece of work.
extension TaskRun: PoolWork {
  var owner: ObjectIdentifier { queueIdentity ?? ObjectIdentifier(self) }

  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    let (job, place, mayBeSurplus) = state.withLock { state -> (UnownedJob?, Place?, Bool) in
      state.surplus > 0 ? (nil, state.place, true) : (state.jobs.popFirst(), state.place, false)
    }
    guard let place else { return false }
    guard mayBeSurplus else {
      guard let job else { return false }
      perform(job, place)
      return true
    }
    return runOnOneOfMany(of: workerClass, place)
  }

  /// More threads were sent for than there are jobs: those leave that are of another class than the operation now is.
  private func runOnOneOfMany(of workerClass: WorkerClass?, _ place: Place) -> Bool {
    let wanted = workerClass.flatMap { _ in place.queue?.workerClass(of: place.operation) }
    let job = state.withLock { state -> UnownedJob? in
      guard state.surplus == 0 || (!state.jobs.isEmpty && workerClass == wanted) else {
        state.surplus -= 1
        return nil
      }
      return state.jobs.popFirst()
    }
    guard let job else { return false }
    perform(job, place)
    return true
  }
}
