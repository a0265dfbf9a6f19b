/// The waiting jobs of a store in an SQL database, for one claim.
@_spi(JobStore) public protocol SQLClaimSource: ClaimSource where Failure == any Error {
  /// The type of the transaction.
  associatedtype Rows: SQLJobRows

  /// The transaction of the claim.
  var transaction: Rows { get }
  /// The claim.
  var claim: JobClaim { get }
  /// The queue of the claim.
  var queue: JobQueueRecord { get }
}

@_spi(JobStore) extension SQLClaimSource {
  /// Whether waiting raises the priority of jobs.
  public var isAging: Bool { queue.settings.agingInterval != nil }

  /// The time of the store's clock.
  public var now: StoreTime { transaction.now }

  /// Returns the first job of a serial key that has not ended.
  public func firstJob(ofSerialKey key: String) throws -> JobID? { try transaction.firstJob(ofSerialKey: key) }

  /// Returns the bucket of a key; nil if it is full.
  public func bucket(ofKey key: String) throws -> RateBucket? { try transaction.bucket(ofKey: key) }

  /// Stores a bucket and notes whether a job waits for its tokens.
  public func keep(_ bucket: RateBucket, ofKey key: String, isAwaited: Bool) throws {
    try transaction.keep(bucket, ofKey: key, isAwaited: isAwaited)
  }

  /// Stores which key is next, for the next claim.
  public func keep(_ turn: KeyTurn, level: Int) throws {
    try transaction.keep(turn, of: claim.queue, level: level)
  }
}

@_spi(JobStore) extension SQLJobRows {
  /// Changes a job for a claim, unless the job can't be claimed because it is damaged.
  ///
  /// - Returns: True if the job is claimed. Otherwise, write the job, so that it fails.
  public func claim(_ job: inout JobRecord, by worker: WorkerID) -> Bool {
    if max(job.epoch, job.attempt) == JobRow.numbers.upperBound { job.damage = "it was claimed too often" }
    guard job.damage == nil else { return false }
    JobTransitions.claim(&job, by: worker, at: now)
    return true
  }

  /// Returns the claimed jobs, and notes that the claim might have made room for other jobs in its queue.
  public func noteClaimed(_ jobs: [JobRecord], of claim: JobClaim, in queue: JobQueueRecord) -> [JobRecord] {
    if !jobs.isEmpty, queue.settings.maxPendingJobCount != nil { hints.queuesWithRoom.insert(claim.queue) }
    return jobs
  }
}
