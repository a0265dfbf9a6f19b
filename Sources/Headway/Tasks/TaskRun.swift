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
  }

  // Protected by its lock, under which nothing is called, and nothing of users' is released.
  private let state = Guarded(State())

  var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

  /// The function has returned, in the job that the calling thread runs.
  func note(_ end: End) { state.withLock { $0.end = end } }

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
    ThreadContext.run(place.operation, in: place.queue) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    let end = state.withLock { state -> End? in
      // This thread has what is released by that, too.
      if state.end != nil { state.place = nil }
      defer { state.end = nil }
      return state.end
    }
    if let end { Self.end(place.operation, end) }
    withExtendedLifetime(place) {}
  }

  private static func end(_ operation: Operation, _ end: End) {
    switch end {
    case .success: break
    case .failure(let error): operation.recordError(error)
    case .cancelled: operation.cancel()
    }
    operation.end()
  }
}
