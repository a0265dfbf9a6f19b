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
    /// The function does not run.
    var isAbandoned = false
    /// The first of the task, before the start.
    var firstJob: UnownedJob?
    var end: End?
    /// Where the thread went into the operation that has run the function to its end.
    var lastEntrance: UnsafeRawPointer?
  }

  // Protected by its lock, under which nothing is called, and nothing of users' is released.
  private let state = Guarded(State())

  var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

  /// The function has returned, in the job that the calling thread runs.
  ///
  /// Other threads may still be in earlier jobs: of an actor that was in use, they go on with what others wait for.
  func note(_ end: End) {
    let operation = state.withLock { $0.place?.operation }
    let entrance = operation.flatMap { ThreadContext.entrance(into: $0) }
    state.withLock { ($0.end, $0.lastEntrance) = (end, entrance) }
    // The runtime may run a job on a thread that is in another's.
    if entrance == nil, let operation { WorkerPool.shared.submit(PoolBlock { self.end(operation) }, count: 1) }
  }

  // MARK: The operation

  /// The operation starts: the task begins on the calling thread.
  ///
  /// - Parameters:
  ///   - operation: The operation, which is kept until it ends.
  ///   - queue: Its queue.
  func begin(_ operation: Operation, in queue: OperationQueue?) {
    let job = state.withLock { state in
      state.place = Place(operation: operation, queue: queue)
      return Self.takeFirstJob(of: &state)
    }
    if let job { perform(job) }
  }

  /// If the operation has not started, it never will: the task ends without having called the function.
  func abandon() {
    let job = state.withLock { state -> UnownedJob? in
      guard state.firstJob != nil else { return nil }
      state.isAbandoned = true
      return Self.takeFirstJob(of: &state)
    }
    job?.runSynchronously(on: asUnownedTaskExecutor())
  }

  private static func takeFirstJob(of state: inout State) -> UnownedJob? {
    defer { state.firstJob = nil }
    return state.firstJob
  }

  // MARK: The executor

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let place = state.withLock { state in
      if state.place == nil { state.firstJob = job }
      return state.place
    }
    guard let place else { return }
    let work = Part(job: job, run: self)
    guard let queue = place.queue else { return WorkerPool.shared.submit(work, count: 1) }
    queue.submit(work, of: place.operation)
  }

  /// A job, as work for a thread.
  private final class Part: PoolWork {
    private let job: UnownedJob
    private let run: TaskRun

    init(job: UnownedJob, run: TaskRun) { (self.job, self.run) = (job, run) }

    func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
      run.perform(job)
      return true
    }
  }

  /// Runs a job of the task, and ends the operation if that was the last.
  private func perform(_ job: UnownedJob) {
    guard let place = state.withLock({ $0.place }) else { return }
    var isLast = false
    ThreadContext.run(place.operation, in: place.queue, isShared: true) {
      job.runSynchronously(on: asUnownedTaskExecutor())
      isLast = isLastJob(ThreadContext.entrance(into: place.operation))
    }
    if isLast { end(place.operation) }
    withExtendedLifetime(place) {}
  }

  private func isLastJob(_ entrance: UnsafeRawPointer?) -> Bool {
    state.withLock { $0.end != nil && $0.lastEntrance == entrance }
  }

  /// The last job has returned: ends the operation, on the calling thread, which has a reference to it.
  private func end(_ operation: Operation) {
    let (end, place) = state.withLock { state in
      defer { (state.end, state.place) = (nil, nil) }
      return (state.end, state.place)
    }
    switch end {
    case .success, nil: break
    case .failure(let error): operation.recordError(error)
    case .cancelled: operation.cancel()
    }
    operation.end()
    withExtendedLifetime(place) {}  // Released after the lock.
  }
}
