public import Headway
import Synchronization

/// Runs the jobs of a store in this process.
///
/// ```swift
/// let worker = JobWorker(jobs, kinds: [Resize.self, Publish.self])
/// worker.serve("default", on: OperationQueue(maxConcurrentOperationCount: 4))
/// try await worker.run()
/// ```
///
/// Each attempt of a job is an operation of your queue. The limit, the quality of service, the suspension and the
/// instruments of that queue apply. Several queues of the store can share one operation queue.
///
/// With the trait `Jobs`, a worker is a service of Swift Service Lifecycle. When the service group shuts down, the
/// worker stops claiming jobs, gives back claimed jobs that have not begun, and waits for running jobs.
public final class JobWorker: Sendable {
  let jobs: Jobs
  private let name: String
  private let runners: [JobKind: JobRunner]
  private let gracePeriod: Duration
  private let cancellationPeriod: Duration
  private let clock: WorkerClock
  private let served = Mutex(Served())
  private let current = Mutex(Current())

  /// A queue of the store, and the queue that runs its jobs.
  struct Lane: Sendable {
    let queue: String
    let operationQueue: OperationQueue
  }

  /// A pattern for queues of the store, and a function that returns the operation queue for such a queue.
  struct PatternLane: Sendable {
    let pattern: QueuePattern
    let makeOperationQueue: @Sendable (String) -> OperationQueue
  }

  /// The queues of the store that the worker serves.
  struct Served {
    var lanes: [Lane] = []
    var patterns: [PatternLane] = []

    var isEmpty: Bool { lanes.isEmpty && patterns.isEmpty }
  }

  private struct Current {
    var session: WorkerSession?
    var isStopped = false
  }

  /// Creates a worker.
  ///
  /// - Parameters:
  ///   - jobs: The object for the jobs of a store.
  ///   - kinds: The types of jobs to run. Jobs of other kinds wait for other workers.
  ///   - middleware: Runs around each attempt of all kinds, outside of the middleware of the kind. The first element is
  ///     the outermost.
  ///   - name: The name of the program, for lists of workers.
  ///   - gracePeriod: How long running jobs can continue after the worker begins to stop.
  ///   - cancellationPeriod: How long they then have to respond to their cancellation.
  ///   - clock: The clock that measures pauses and periods.
  /// - Precondition: There is at least one type, each type has its own kind, and no period is negative.
  public init(
    _ jobs: Jobs, kinds: [any Job.Type], middleware: [any JobMiddleware] = [], name: String = "worker",
    gracePeriod: Duration = .seconds(25), cancellationPeriod: Duration = .seconds(3),
    clock: some Clock<Duration> = ContinuousClock()
  ) {
    require(!kinds.isEmpty, "The worker \(name) has no kinds, so it would run nothing: pass the types of its jobs.")
    require(
      gracePeriod >= .zero && cancellationPeriod >= .zero,
      "The worker \(name) has the gracePeriod \(gracePeriod) and the cancellationPeriod \(cancellationPeriod): use "
        + "zero or more.")
    self.jobs = jobs
    self.name = name
    self.gracePeriod = gracePeriod
    self.cancellationPeriod = cancellationPeriod
    self.clock = WorkerClock(clock)
    var runners: [JobKind: JobRunner] = [:]
    for type in kinds {
      let runner = JobRunner(type, middleware: middleware)
      for kind in runner.kinds {
        require(
          !kind.rawValue.isEmpty,
          "The type \(type) has an empty kind. Give it a name: static let kind: JobKind = \"mail\".")
        require(runners[kind] == nil, "Two types of a worker have the kind \(kind): give each type its own kind.")
        runners[kind] = runner
      }
    }
    self.runners = runners
  }

  /// Makes the worker run the jobs of a queue of the store.
  ///
  /// Call this function before ``run()`` or ``drain()``. The number of jobs that run at a time is the
  /// `maxConcurrentOperationCount` of the operation queue, or the number of processors if that queue has no limit.
  /// While the operation queue is suspended, no jobs are claimed for it.
  ///
  /// - Parameters:
  ///   - queue: The queue of the store.
  ///   - operationQueue: The queue that runs the jobs.
  /// - Precondition: The worker does not run, has not been run by ``run()``, and does not serve the queue yet. The name
  ///   of the queue is not empty.
  public func serve(_ queue: String = JobOptions.defaultQueue, on operationQueue: OperationQueue) {
    require(!queue.isEmpty, "The worker \(name) serves a queue without a name: name it, or use the default queue.")
    requireNotRunning()
    served.withLock { served in
      require(
        !served.lanes.contains { $0.queue.utf8.elementsEqual(queue.utf8) },
        "The worker already serves the queue \(queue): add each queue once.")
      served.lanes.append(Lane(queue: queue, operationQueue: operationQueue))
    }
  }

  /// Makes the worker run the jobs of all queues of the store whose names match a pattern.
  ///
  /// ```swift
  /// let worker = JobWorker(jobs, kinds: [Resize.self])
  /// worker.serve(matching: "tenant-*", on: OperationQueue(maxConcurrentOperationCount: 8))
  /// try await jobs.enqueue(Resize(path: "photo.jpg"), .queue("tenant-7"))
  /// try await worker.drain()
  /// ```
  ///
  /// A queue that appears while the worker runs is served immediately after its first job is stored, or within a second
  /// if the hint is lost. All queues share the slots of the operation queue and take turns. A queue that has had no
  /// jobs for a minute costs the worker nothing.
  ///
  /// A queue that you serve by name is not served by a pattern. If several patterns match, the first pattern is used.
  ///
  /// - Parameters:
  ///   - pattern: The text that the name must match, which can contain `*`. Each `*` represents any number of
  ///     characters, and all other characters themselves.
  ///   - operationQueue: The queue that runs the jobs.
  /// - Precondition: The worker does not run, has not been run by ``run()``, and does not serve the pattern yet. The
  ///   pattern contains a `*`.
  public func serve(matching pattern: String, on operationQueue: OperationQueue) {
    serve(matching: pattern) { _ in operationQueue }
  }

  /// Makes the worker run the jobs of all queues of the store whose names match a pattern, each with its own slots.
  ///
  /// ```swift
  /// let worker = JobWorker(jobs, kinds: [Resize.self])
  /// worker.serve(matching: "tenant-*") { _ in OperationQueue(maxConcurrentOperationCount: 2) }
  /// try await worker.drain()
  /// ```
  ///
  /// This limit applies to the jobs of this worker. For a limit of all workers, see
  /// ``JobQueueChange/maxRunningJobCount(_:)``.
  ///
  /// - Parameters:
  ///   - pattern: The text that the name must match, which can contain `*`. Each `*` represents any number of
  ///     characters, and all other characters themselves.
  ///   - makeOperationQueue: Returns the operation queue for a queue of the store. It is called when the queue has a
  ///     job, and again if the queue has a job after more than a minute without any. Queues share the slots if the
  ///     function returns the same object for them. It must return quickly.
  /// - Precondition: The worker does not run, has not been run by ``run()``, and does not serve the pattern yet. The
  ///   pattern contains a `*`.
  public func serve(
    matching pattern: String, _ makeOperationQueue: @escaping @Sendable (_ queue: String) -> OperationQueue
  ) {
    require(
      QueuePattern.isPattern(pattern),
      "The worker \(name) serves the pattern \(pattern), which contains no *: call serve(_:on:) for a single queue.")
    requireNotRunning()
    served.withLock { served in
      require(
        !served.patterns.contains { $0.pattern.text == pattern },
        "The worker already serves the pattern \(pattern): add each pattern once.")
      served.patterns.append(PatternLane(pattern: QueuePattern(pattern), makeOperationQueue: makeOperationQueue))
    }
  }

  private func requireNotRunning() {
    require(current.withLock { $0.session == nil }, "The worker already runs: call serve(_:on:) before run().")
  }

  /// Runs jobs until you call ``stop()``, the service group shuts down, or the task is cancelled.
  ///
  /// Then the worker stops claiming jobs, and gives back those that have not begun. Running jobs have the grace period
  /// to finish, unless the task is cancelled. After that, they are cancelled and return to their queues, and their
  /// attempts are not counted. Finally, the worker leaves the store.
  ///
  /// If the store fails while the worker runs, the worker tries again after a pause of up to 30 s. If the store can no
  /// longer be used, for example because its file was deleted, the worker stops.
  ///
  /// - Throws: ``JobError`` if the worker can't register with the store, or if it could not record some endings before
  ///   it had to stop. The jobs of those endings run again. The code is ``JobError/Code/unusableStore`` if the store
  ///   can no longer be used.
  /// - Precondition: The worker does not run, has not been run by this function before, and serves a queue.
  public func run() async throws { try await run(isDraining: false) }

  /// Runs jobs until none of the worker's jobs can run now.
  ///
  /// ```swift
  /// let worker = JobWorker(jobs, kinds: [Resize.self])
  /// worker.serve(on: OperationQueue())
  /// try await jobs.enqueue(Resize(path: "photo.jpg"))
  /// try await worker.drain()
  /// ```
  ///
  /// Use this function in tests, and in programs that run all waiting jobs and then exit, for example at night. The
  /// worker also runs jobs that are added in the meantime, and retries that are due. The result does not depend on
  /// time. The worker stops only when it holds no job, it has recorded all endings, and the store has been advanced. In
  /// addition, the claims that follow must have returned no jobs for any of its queues. Jobs that other clients add to
  /// a queue after its last claim remain in the queue.
  ///
  /// The function does not wait for jobs that are scheduled or retry later, wait for other jobs, are in a paused queue,
  /// have reached a limit, or have a kind that it does not support. If an operation queue is suspended or has a limit
  /// of 0, the worker claims no jobs for it and does not wait for them. Jobs that it has already claimed when the
  /// operation queue is suspended return to the store after a second, so that the function can return. However, the
  /// operation of an ``OperationJob`` without middleware can't be withdrawn. If such a job was claimed before the
  /// suspension, for example ahead, the function waits until the operation queue has run it.
  ///
  /// If other operations or other workers use the slots of an operation queue, the function waits for a free slot until
  /// a claim for it has returned no jobs.
  ///
  /// After the function has returned, you can call it again, or call ``run()``. If you call ``stop()``, the service
  /// group shuts down, or the task is cancelled, the worker stops as in ``run()``, even if there are further jobs.
  /// After a call of ``stop()``, the function returns immediately.
  ///
  /// - Throws: ``JobError`` in the same cases as ``run()``.
  /// - Precondition: The worker does not run, has not been run by ``run()`` before, and serves a queue.
  public func drain() async throws { try await run(isDraining: true) }

  /// Runs jobs like ``drain()`` but claims a job only when it has a free slot for it.
  ///
  /// - Throws: ``JobError`` in the same cases as ``run()``.
  package func drainWithoutClaimingAhead() async throws { try await run(isDraining: true, claimsAhead: false) }

  private func run(isDraining: Bool, claimsAhead: Bool = true) async throws {
    let served = served.withLock { $0 }
    require(!served.isEmpty, "The worker serves no queue: call serve(_:on:) before run().")
    let session = WorkerSession(
      jobs: jobs, name: name, served: served, runners: runners, gracePeriod: gracePeriod,
      cancellationPeriod: cancellationPeriod, clock: clock, isDraining: isDraining, claimsAhead: claimsAhead)
    let isStopped = current.withLock { current in
      require(current.session == nil, "The worker already runs, or has run: create another one.")
      current.session = session
      return current.isStopped
    }
    defer { if isDraining { current.withLock { $0.session = nil } } }
    if isStopped { return }
    try await withTaskCancellationHandler {
      try await runUntilShutdown(session)
    } onCancel: {
      session.stop(isImmediate: true)
    }
  }

  /// Stops the worker.
  ///
  /// ``run()`` or ``drain()`` returns when the worker has stopped. A stopped worker can't run again.
  public func stop() {
    let session = current.withLock { current in
      current.isStopped = true
      return current.session
    }
    session?.stop(isImmediate: false)
  }
}
