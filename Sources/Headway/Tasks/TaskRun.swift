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
    /// The first of the task, before the start.
    var firstJob: UnownedJob?
    var end: End?
    /// Where the thread went into the operation that has run the function to its end.
    var lastEntrance: UnsafeRawPointer?
    /// The job that was sent for last.
    var lastPart: Part?
  }

  // Protected by its lock, under which nothing is called, and nothing of users' is released. A function that does not
  // suspend takes it four times.
  private let state = Guarded(State())

  /// The function does not run.
  ///
  /// Set by the thread that then runs the first job.
  private let abandoned = Atomic<Bool>(false)
  /// The address of the operation, which is there while a job of the task runs.
  ///
  /// Set before the first job runs.
  private let startedOperation = Atomic<UInt>(0)

  // Relaxed: they are set and read by one thread, or by threads that the jobs of the task order.

  var isAbandoned: Bool { abandoned.load(ordering: .relaxed) }

  /// The operation; to be asked for in a job of its task.
  private var operation: Operation {
    guard let pointer = UnsafeRawPointer(bitPattern: startedOperation.load(ordering: .relaxed)) else {
      preconditionFailure("a job runs before the operation has started")
    }
    return Unmanaged<Operation>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Calls `body` with the operation, in a job of its task.
  func withOperation<Kind: Operation>(_ kind: Kind.Type, _ body: (Kind) -> Void) {
    body(unsafeDowncast(operation, to: kind))
  }

  /// The function has returned, in the job that the calling thread runs.
  ///
  /// Other threads may still be in earlier jobs: of an actor that was in use, they go on with what others wait for.
  func note(_ end: End) {
    let entrance = ThreadContext.entrance(into: operation)
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
    startedOperation.store(UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque()), ordering: .relaxed)
    let job = state.withLock { state in
      state.place = place
      return Self.takeFirstJob(of: &state)
    }
    if let job { perform(job, place) }
  }

  /// If the operation has not started, it never will: the task ends without having called the function.
  func abandon() {
    let job = state.withLock { state -> UnownedJob? in
      Self.takeFirstJob(of: &state)
    }
    guard let job else { return }
    abandoned.store(true, ordering: .relaxed)
    job.runSynchronously(on: asUnownedTaskExecutor())
  }

  private static func takeFirstJob(of state: inout State) -> UnownedJob? {
    defer { state.firstJob = nil }
    return state.firstJob
  }

  // MARK: The executor

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    var former: Part?
    let part = state.withLock { state -> Part? in
      guard let place = state.place else {
        state.firstJob = job
        return nil
      }
      let part = Part(job: job, run: self, place: place)
      (former, state.lastPart) = (state.lastPart, part)
      return part
    }
    if let part { submit(part) }
    withExtendedLifetime(former) {}  // Released after the lock.
  }

  private func submit(_ part: Part) {
    guard let queue = part.place.queue else { return WorkerPool.shared.submit(part, count: 1) }
    queue.submit(part, of: part.place.operation)
  }

  /// The operation has become more urgent: a job that waits for a thread may get one of another class.
  func resubmit() { if let part = state.withLock({ $0.lastPart }), !part.isTaken { submit(part) } }

  /// A job, as work for a thread: the first that comes.
  private final class Part: PoolWork {
    private let taken = Atomic<Bool>(false)
    private let job: UnownedJob
    private let run: TaskRun
    let place: Place

    var owner: ObjectIdentifier { place.queue.map { ObjectIdentifier($0) } ?? ObjectIdentifier(self) }

    /// A thread has come.
    ///
    /// Relaxed: it orders nothing but the threads that come.
    var isTaken: Bool { taken.load(ordering: .relaxed) }

    init(job: UnownedJob, run: TaskRun, place: Place) { (self.job, self.run, self.place) = (job, run, place) }

    func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
      guard !taken.exchange(true, ordering: .acquiringAndReleasing) else { return false }
      run.perform(job, place)
      return true
    }
  }

  /// Runs a job of the task, and ends the operation if that was the last.
  private func perform(_ job: UnownedJob, _ place: Place) {
    var entrance: UnsafeRawPointer?
    ThreadContext.run(place.operation, in: place.queue, isShared: true) {
      job.runSynchronously(on: asUnownedTaskExecutor())
      entrance = ThreadContext.entrance(into: place.operation)
    }
    endIfOver(from: entrance)
    withExtendedLifetime(place) {}
  }

  /// Ends the operation if its last job has returned, which has run where the calling thread went into the operation:
  /// nil if that was nowhere.
  private func endIfOver(from entrance: UnsafeRawPointer?) {
    let (end, place, part) = state.withLock { state -> (End?, Place?, Part?) in
      guard state.end != nil, state.lastEntrance == entrance else { return (nil, nil, nil) }
      defer { (state.end, state.place, state.lastPart) = (nil, nil, nil) }
      return (state.end, state.place, state.lastPart)
    }
    guard let end, let operation = place?.operation else { return }
    switch end {
    case .success: break
    case .failure(let error): operation.recordError(error)
    case .cancelled: operation.cancel()
    }
    operation.end()
    withExtendedLifetime((place, part)) {}  // Released after the lock.
  }
}
