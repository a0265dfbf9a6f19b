import Headway

/// The queues, workers and latest endings of a store, with numbers that are counted up to a limit.
///
/// ``Jobs/snapshot(_:)`` counts all jobs. An overview counts only up to a limit, so reading it takes about the same
/// time for any number of jobs.
public struct JobsOverview: Hashable, Sendable {
  /// The limit.
  ///
  /// A number above the limit only means that there are more jobs.
  public var countLimit: Int
  /// The limits of the numbers of one queue, by state.
  ///
  /// If many queues have many jobs in a state, the jobs of each of these queues are counted less far, so that reading
  /// all queues takes a limited time. A state without a limit has ``countLimit``. See ``count(of:in:)``.
  public var queueCountLimits: [JobState: Int]
  /// The queues with the numbers of unfinished jobs, and the workers.
  ///
  /// It contains no ``JobsSnapshot/failures``: see ``Jobs/errorGroups(areMuted:limit:)``. If more jobs wait than
  /// ``countLimit``, the numbers by kind are those of the jobs that were read. If the queues have thousands of kinds,
  /// versions and priorities in total, some kinds of a queue can be missing.
  public var snapshot: JobsSnapshot
  /// The number of failed jobs.
  public var failedCount: Int
  /// The number of cancelled jobs.
  public var cancelledCount: Int
  /// The jobs that have ended in the last hour, latest first; at most ``countLimit`` and ``maxEndingCount``.
  public var endings: [EndedJob]
  /// The jobs that failed last, latest first; at most ``maxLatestFailureCount``.
  ///
  /// They are chosen from the ``endings`` and as many failed jobs with the highest numbers.
  public var latestFailures: [JobID]

  /// The maximum number of ``latestFailures``.
  public static let maxLatestFailureCount = 300
  /// The maximum number of ``endings``.
  public static let maxEndingCount = 1_000
  /// How long ago the oldest of the ``endings`` can be.
  public static let endingsInterval = Duration.seconds(3_600)

  /// Creates an overview.
  ///
  /// - Parameters:
  ///   - countLimit: The limit of the numbers.
  ///   - queueCountLimits: The limits of the numbers of one queue, by state; empty if they are the same.
  ///   - snapshot: The queues with the numbers of unfinished jobs, and the workers.
  ///   - failedCount: The number of failed jobs.
  ///   - cancelledCount: The number of cancelled jobs.
  ///   - endings: The jobs that have ended in the last hour, latest first.
  ///   - latestFailures: The jobs that failed last, latest first.
  @_spi(JobStore) public init(
    countLimit: Int, queueCountLimits: [JobState: Int] = [:], snapshot: JobsSnapshot, failedCount: Int = 0,
    cancelledCount: Int = 0, endings: [EndedJob] = [], latestFailures: [JobID] = []
  ) {
    self.countLimit = countLimit
    self.queueCountLimits = queueCountLimits
    self.snapshot = snapshot
    self.failedCount = failedCount
    self.cancelledCount = cancelledCount
    self.endings = endings
    self.latestFailures = latestFailures
  }

  /// Chooses the latest failures from the failures of the last hour and others.
  ///
  /// - Parameter failures: Failed jobs with the times when they ended, in any order.
  @_spi(JobStore) public mutating func noteFailures(_ failures: [(id: JobID, finished: StoreTime)]) {
    let failed = endings.filter { $0.state == .failed }
    var times = Dictionary(uniqueKeysWithValues: failed.map { ($0.id, $0.finishedTime) })
    for (id, finished) in failures { times[id] = finished }
    let latest = times.sorted { ($0.value, $0.key) > ($1.value, $1.key) }
    latestFailures = latest.prefix(Self.maxLatestFailureCount).map(\.key)
  }

  /// The time of the overview, by the store's clock.
  public var time: StoreTime { snapshot.time }

  // MARK: Numbers

  /// Returns the number of unfinished jobs in a state, in one queue.
  ///
  /// - Parameters:
  ///   - state: The state of the jobs.
  ///   - queue: The queue in the ``snapshot``.
  /// - Returns: The number, which is not exact if it was counted only up to the limit of the state.
  public func count(of state: JobState, in queue: JobQueueSnapshot) -> JobCount {
    JobCount(queue.counts[state], upTo: queueCountLimits[state] ?? countLimit)
  }

  /// Returns the number of unfinished jobs in a state, in all queues.
  ///
  /// - Parameter state: The state of the jobs.
  /// - Returns: The number, at most ``countLimit``. It is not exact if there are more jobs, or if the jobs of a queue
  ///   were counted only up to the limit of the state.
  public func count(of state: JobState) -> JobCount {
    var count = JobCount(0, isExact: true)
    for queue in snapshot.queues {
      let part = self.count(of: state, in: queue)
      count = JobCount(count.count + part.count, isExact: count.isExact && part.isExact)
    }
    return JobCount(min(count.count, countLimit), isExact: count.isExact && count.count <= countLimit)
  }
}

extension JobCount {
  /// Creates a number from one that was counted to at most the number after a limit.
  fileprivate init(_ count: Int, upTo limit: Int) { self.init(min(count, limit), isExact: count <= limit) }
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
    var snapshot = try await snapshot([.counts, .waiting, .workers])
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
    let maxCount = min(limit, JobsOverview.maxEndingCount)
    var overview = JobsOverview(
      countLimit: limit, snapshot: snapshot, failedCount: failed, cancelledCount: cancelled,
      endings: Array(endings.sorted { ($0.finishedTime, $0.id) > ($1.finishedTime, $1.id) }.prefix(maxCount)))
    overview.noteFailures(
      finished.compactMap { job in job.state == .failed ? job.finishedTime.map { (job.id, $0) } : nil })
    return overview
  }
}

extension Jobs {
  /// Returns the store's queues, workers and latest endings, and counts only up to a limit.
  ///
  /// ```swift
  /// let overview = try await jobs.overview()
  /// for queue in overview.snapshot.queues { print(queue.name, overview.count(of: .waiting, in: queue).count) }
  /// ```
  ///
  /// - Parameter limit: Jobs are counted up to this number, which is positive. A number above it only means that there
  ///   are more jobs. The jobs of a queue are counted less far if many queues have many jobs: see
  ///   ``JobsOverview/queueCountLimits``.
  /// - Returns: The current state of the store.
  /// - Throws: ``JobError``.
  public func overview(countingTo limit: Int = 10_000) async throws -> JobsOverview {
    require(limit > 0, "The jobs of a store are counted up to \(limit): use a positive number.")
    return try await backend.overview(countingTo: limit)
  }
}
