/// The queues, workers and failures of a store at one moment.
///
/// ```swift
/// let snapshot = try await jobs.snapshot()
/// for queue in snapshot.queues { print(queue.name, queue.counts[.waiting]) }
/// ```
public struct JobsSnapshot: Hashable, Codable, Sendable {
  /// The parts that a store reads.
  public struct Parts: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Creates a set from its bits.
    ///
    /// - Parameter rawValue: The bits of the parts.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The number of jobs of each queue in each state.
    ///
    /// Reading it takes O(*n*) in the number of jobs.
    public static let counts = Parts(rawValue: 1)
    /// The waiting jobs, by kind and version.
    ///
    /// Reading them takes O(*n*) in the number of waiting jobs.
    public static let waiting = Parts(rawValue: 2)
    /// The workers, and the jobs that they run.
    public static let workers = Parts(rawValue: 4)
    /// The failed jobs by kind.
    ///
    /// Reading them takes O(*n*) in the number of finished jobs.
    public static let failures = Parts(rawValue: 8)
    /// All parts.
    public static let all: Parts = [.counts, .waiting, .workers, .failures]
  }

  /// The time of the snapshot, by the store's clock.
  public var time: StoreTime
  /// The queues that have jobs, are paused, or have settings, ordered by name.
  public var queues: [JobQueueSnapshot]
  /// The workers, ordered by start time.
  public var workers: [JobWorkerSnapshot]
  /// The failed jobs by kind.
  public var failures: [FailedJobs]

  /// Creates a snapshot.
  ///
  /// - Parameters:
  ///   - time: The time of the snapshot, by the store's clock.
  ///   - queues: The queues that have jobs, are paused, or have settings.
  ///   - workers: The registered workers, ordered by start time.
  ///   - failures: The failed jobs by kind.
  @_spi(JobStore) public init(
    time: StoreTime, queues: [JobQueueSnapshot] = [], workers: [JobWorkerSnapshot] = [], failures: [FailedJobs] = []
  ) {
    self.time = time
    self.queues = queues.sorted { $0.name < $1.name }
    self.workers = workers.sorted { $0.id < $1.id }
    self.failures = failures.sorted { $0.kind < $1.kind }
  }

  /// Creates a snapshot from parts that a store has read.
  ///
  /// - Parameters:
  ///   - time: The time of the snapshot, by the store's clock.
  ///   - counts: The counts of the queues, with at least an entry for each paused queue.
  ///   - waiting: The waiting jobs, by queue.
  ///   - workers: The registered workers, ordered by start time.
  ///   - failures: The failed jobs by kind.
  @_spi(JobStore) public init(
    time: StoreTime, counts: [String: JobQueueCounts], waiting: [String: [WaitingJobs]],
    workers: [JobWorkerSnapshot], failures: [FailedJobs]
  ) {
    let queues = Set(counts.keys).union(waiting.keys).map { name in
      JobQueueSnapshot(name: name, counts: counts[name] ?? JobQueueCounts(), waiting: waiting[name] ?? [])
    }
    self.init(time: time, queues: queues, workers: workers, failures: failures)
  }
}

/// A queue of a store at one moment.
public struct JobQueueSnapshot: Hashable, Codable, Sendable {
  /// The name of the queue.
  public var name: String
  /// How many jobs are in each state, and whether the queue is paused.
  public var counts: JobQueueCounts
  /// The waiting jobs by kind and version.
  public var waiting: [WaitingJobs]

  /// Creates a snapshot of a queue.
  ///
  /// - Parameters:
  ///   - name: The name of the queue.
  ///   - counts: How many jobs are in each state, and whether the queue is paused.
  ///   - waiting: The waiting jobs by kind and version.
  @_spi(JobStore) public init(name: String, counts: JobQueueCounts = JobQueueCounts(), waiting: [WaitingJobs] = []) {
    self.name = name
    self.counts = counts
    self.waiting = waiting.sorted { ($0.kind, $0.version) < ($1.kind, $1.version) }
  }

  /// When the oldest waiting job began to wait; nil if no job waits.
  public var oldestWaitStartTime: StoreTime? { waiting.map(\.waitStartTime).min() }
}

/// The waiting jobs of a queue with the same kind and version.
public struct WaitingJobs: Hashable, Codable, Sendable {
  /// The kind.
  public var kind: JobKind
  /// The version of the payloads.
  public var version: Int
  /// The number of jobs.
  public var count: Int
  /// The job that became ready first.
  public var first: JobID
  /// When that job began to wait for a worker.
  public var waitStartTime: StoreTime

  /// Creates a summary of waiting jobs.
  ///
  /// - Parameters:
  ///   - kind: The kind of the jobs.
  ///   - version: The version of the payloads.
  ///   - count: The number of jobs.
  ///   - first: The job that became ready first.
  ///   - waitStartTime: When that job began to wait for a worker.
  @_spi(JobStore) public init(kind: JobKind, version: Int, count: Int, first: JobID, waitStartTime: StoreTime) {
    self.kind = kind
    self.version = version
    self.count = count
    self.first = first
    self.waitStartTime = waitStartTime
  }
}

/// A worker at one moment.
public struct JobWorkerSnapshot: Hashable, Codable, Sendable {
  /// The identity of the worker.
  public var id: WorkerID
  /// The description that the worker has stored.
  public var description: WorkerDescription
  /// When the worker started.
  public var startTime: StoreTime
  /// Whether the worker's process is alive.
  ///
  /// If not, another worker returns its jobs to their queues.
  public var isAlive: Bool
  /// Whether the worker has stopped while code of its jobs still runs.
  public var isStopped: Bool
  /// The jobs that the worker has claimed, ordered by ID.
  public var running: [RunningJob]

  /// Creates a snapshot of a worker.
  ///
  /// - Parameters:
  ///   - id: The identity of the worker.
  ///   - description: The description that the worker has stored.
  ///   - startTime: When the worker started.
  ///   - isAlive: Whether the worker's process is alive.
  ///   - isStopped: Whether the worker has stopped while code of its jobs still runs.
  ///   - running: The jobs that the worker has claimed.
  @_spi(JobStore) public init(
    id: WorkerID, description: WorkerDescription, startTime: StoreTime, isAlive: Bool = true, isStopped: Bool = false,
    running: [RunningJob] = []
  ) {
    self.id = id
    self.description = description
    self.startTime = startTime
    self.isAlive = isAlive
    self.isStopped = isStopped
    self.running = running.sorted { $0.id < $1.id }
  }

  /// Whether the worker claims jobs.
  public var isWorking: Bool { isAlive && !isStopped }

  /// Returns whether the worker can run jobs of a kind and version.
  ///
  /// - Parameters:
  ///   - kind: The kind of the job.
  ///   - version: The version of the payload.
  /// - Returns: Whether the worker supports the kind, in this version or a newer one.
  public func knows(_ kind: JobKind, version: Int) -> Bool { description.kinds[kind].map { version <= $0 } ?? false }
}

/// A job that a worker has claimed.
public struct RunningJob: Hashable, Codable, Sendable {
  /// The ID of the job.
  public var id: JobID
  /// The kind of the job.
  public var kind: JobKind
  /// The queue of the job.
  public var queue: String
  /// The number of the attempt.
  public var attempt: Int
  /// When the worker claimed the job.
  public var claimedTime: StoreTime
  /// The progress of the job; nil if it has stored none.
  public var progress: JobProgress?

  /// Creates a summary of a running job; nil if the job does not run.
  ///
  /// - Parameter job: A job in any state.
  @_spi(JobStore) public init?(_ job: JobRecord) {
    guard job.state == .running, let claimedTime = job.claimedTime else { return nil }
    self.init(
      id: job.id, kind: job.kind, queue: job.queue, attempt: job.attempt, claimedTime: claimedTime,
      progress: job.progress)
  }

  /// Creates a summary from its parts.
  ///
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - kind: The kind of the job.
  ///   - queue: The queue of the job.
  ///   - attempt: The number of the attempt.
  ///   - claimedTime: When the worker claimed the job.
  ///   - progress: The progress of the job; nil if it has stored none.
  @_spi(JobStore) public init(
    id: JobID, kind: JobKind, queue: String, attempt: Int, claimedTime: StoreTime, progress: JobProgress? = nil
  ) {
    self.id = id
    self.kind = kind
    self.queue = queue
    self.attempt = attempt
    self.claimedTime = claimedTime
    self.progress = progress
  }
}

/// The failed jobs of one kind.
public struct FailedJobs: Hashable, Codable, Sendable {
  /// The kind.
  public var kind: JobKind
  /// The number of jobs.
  public var count: Int
  /// The job that failed last.
  public var last: JobID
  /// When that job failed.
  public var time: StoreTime

  /// Creates a summary of failed jobs.
  ///
  /// - Parameters:
  ///   - kind: The kind of the jobs.
  ///   - count: The number of jobs.
  ///   - last: The job that failed last.
  ///   - time: When that job failed.
  @_spi(JobStore) public init(kind: JobKind, count: Int, last: JobID, time: StoreTime) {
    self.kind = kind
    self.count = count
    self.last = last
    self.time = time
  }
}
