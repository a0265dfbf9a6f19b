import Headway

/// The queues, workers, failures and latest endings of a store, with numbers that are counted up to a limit.
///
/// ``Jobs/snapshot(_:)`` counts all jobs. An overview counts only up to a limit, so reading it takes about the same
/// time for any number of jobs.
public struct JobsOverview: Hashable, Sendable {
  /// The limit.
  ///
  /// A number above the limit only means that there are more jobs.
  public var countLimit: Int
  /// The queues with the numbers of unfinished jobs, the workers, and the failures by kind.
  ///
  /// If more jobs have failed than ``countLimit``, the failures by kind contain only those with the highest numbers.
  public var snapshot: JobsSnapshot
  /// The number of failed jobs.
  public var failedCount: Int
  /// The number of cancelled jobs.
  public var cancelledCount: Int
  /// The jobs that have ended in the last hour, latest first; at most ``countLimit``.
  public var endings: [EndedJob]
  /// The jobs that failed last, latest first; at most ``maxLatestFailureCount``.
  ///
  /// They are chosen from the ``endings`` and the failed jobs with the highest numbers, up to ``countLimit`` of each.
  public var latestFailures: [JobID]

  /// The maximum number of ``latestFailures``.
  public static let maxLatestFailureCount = 300
  /// How long ago the oldest of the ``endings`` can be.
  public static let endingsInterval = Duration.seconds(3_600)

  /// Creates an overview.
  ///
  /// - Parameters:
  ///   - countLimit: The limit of the numbers.
  ///   - snapshot: The queues with the numbers of unfinished jobs, the workers, and the failures by kind.
  ///   - failedCount: The number of failed jobs.
  ///   - cancelledCount: The number of cancelled jobs.
  ///   - endings: The jobs that have ended in the last hour, latest first.
  ///   - latestFailures: The jobs that failed last, latest first.
  @_spi(JobStore) public init(
    countLimit: Int, snapshot: JobsSnapshot, failedCount: Int = 0, cancelledCount: Int = 0, endings: [EndedJob] = [],
    latestFailures: [JobID] = []
  ) {
    self.countLimit = countLimit
    self.snapshot = snapshot
    self.failedCount = failedCount
    self.cancelledCount = cancelledCount
    self.endings = endings
    self.latestFailures = latestFailures
  }

  /// Adds failures to the failures of the last hour and updates the latest failure of each kind.
  ///
  /// - Parameter failures: Failed jobs with the times when they ended, in any order.
  @_spi(JobStore) public mutating func noteFailures(_ failures: [(id: JobID, finished: StoreTime)]) {
    let failed = endings.filter { $0.state == .failed }
    var times = Dictionary(uniqueKeysWithValues: failed.map { ($0.id, $0.finishedTime) })
    for (id, finished) in failures { times[id] = finished }
    let latest = times.sorted { ($0.value, $0.key) > ($1.value, $1.key) }
    latestFailures = latest.prefix(Self.maxLatestFailureCount).map(\.key)
    var kinds = Set<JobKind>()
    for job in failed where kinds.insert(job.kind).inserted {
      guard let index = snapshot.failures.firstIndex(where: { $0.kind == job.kind }) else {
        let count = failed.count { $0.kind == job.kind }
        snapshot.failures.append(FailedJobs(kind: job.kind, count: count, last: job.id, time: job.finishedTime))
        continue
      }
      if snapshot.failures[index].time < job.finishedTime {
        (snapshot.failures[index].last, snapshot.failures[index].time) = (job.id, job.finishedTime)
      }
    }
    snapshot.failures.sort { $0.kind < $1.kind }
  }

  /// The time of the overview, by the store's clock.
  public var time: StoreTime { snapshot.time }
}

/// The end of a job, and how long the job waited and ran.
public struct EndedJob: Hashable, Sendable {
  /// The ID of the job.
  public var id: JobID
  /// The kind of the job.
  public var kind: JobKind
  /// The queue of the job.
  public var queue: String
  /// The final state.
  public var state: JobState
  /// When the job ended.
  public var finishedTime: StoreTime
  /// How long the job waited for a worker before its last attempt; nil if it never ran.
  public var waitDuration: Duration?
  /// How long the last attempt took; nil if the job never ran.
  public var runDuration: Duration?

  /// Creates a summary of a job that has ended; nil if the job has not ended.
  ///
  /// - Parameter job: A job in any state.
  @_spi(JobStore) public init?(_ job: JobRecord) {
    guard job.state.isFinished, let finished = job.finishedTime else { return nil }
    self.init(
      id: job.id, kind: job.kind, queue: job.queue, state: job.state, ready: job.readyTime, claimed: job.claimedTime,
      finished: finished)
  }

  /// Creates a summary from the parts of a job.
  ///
  /// - Parameters:
  ///   - id: The ID of the job.
  ///   - kind: The kind of the job.
  ///   - queue: The queue of the job.
  ///   - state: The final state of the job.
  ///   - ready: When the job took its place in the queue.
  ///   - claimed: When the job was last claimed; nil if it never ran.
  ///   - finished: When the job ended.
  @_spi(JobStore) public init(
    id: JobID, kind: JobKind, queue: String, state: JobState, ready: StoreTime, claimed: StoreTime?,
    finished: StoreTime
  ) {
    self.id = id
    self.kind = kind
    self.queue = queue
    self.state = state
    self.finishedTime = finished
    waitDuration = claimed.map { max(.zero, $0 - ready) }
    runDuration = claimed.map { max(.zero, finished - $0) }
  }
}

@_spi(JobStore) extension JobStoreBackend {
  /// Returns the queues, workers, failures and latest endings.
  ///
  /// - Parameter limit: Jobs are counted up to this number.
  /// - Returns: The current state of the store.
  /// - Throws: ``JobError``.
  /// - Complexity: O(*n*) in the number of jobs. Stores with many jobs have their own implementation.
  public func overview(countingTo limit: Int) async throws -> JobsOverview {
    var snapshot = try await snapshot(.all)
    var (failed, cancelled) = (0, 0)
    for index in snapshot.queues.indices {
      var counts = snapshot.queues[index].counts
      failed += counts[.failed]
      cancelled += counts[.cancelled]
      counts.byState = counts.byState.filter { !$0.key.isFinished }
      snapshot.queues[index].counts = counts
    }
    snapshot.queues.removeAll { $0.counts == JobQueueCounts() }
    let finished = try await jobs(
      JobFilter(states: JobState.finished), after: nil, limit: .max)
    let begin = snapshot.time + (.zero - JobsOverview.endingsInterval)
    let endings = finished.compactMap(EndedJob.init).filter { $0.finishedTime > begin }
    var overview = JobsOverview(
      countLimit: limit, snapshot: snapshot, failedCount: failed, cancelledCount: cancelled,
      endings: Array(endings.sorted { ($0.finishedTime, $0.id) > ($1.finishedTime, $1.id) }.prefix(limit)))
    overview.noteFailures(
      finished.compactMap { job in job.state == .failed ? job.finishedTime.map { (job.id, $0) } : nil })
    return overview
  }
}

extension Jobs {
  /// Returns the store's queues, workers, failures and latest endings, and counts only up to a limit.
  ///
  /// - Parameter limit: Jobs are counted up to this number, which is positive. A number above it only means that there
  ///   are more jobs.
  /// - Returns: The current state of the store.
  /// - Throws: ``JobError``.
  public func overview(countingTo limit: Int = 10_000) async throws -> JobsOverview {
    require(limit > 0, "The jobs of a store are counted up to \(limit): use a positive number.")
    return try await backend.overview(countingTo: limit)
  }
}
