import Headway

/// The job rows in a database: unfinished jobs are in one table, and finished jobs in another.
@_spi(JobStore) public enum JobRow {
  /// The columns that both tables have.
  public static let common = [
    "id", "queue", "kind", "version", "state", "priority", "position", "deadline", "enqueued", "claimed",
    "first_claimed", "attempt", "crashes", "snoozes", "epoch", "owner", "progress", "progress_text", "settings",
    "history", "payload", "ready", "error",
  ]
  /// The values of the ``common`` columns of a job that succeeds, which are those of the unfinished job otherwise.
  public static let succeeded = common.map { column in
    switch column {
    case "state": "\(JobState.succeeded.rawValue)"
    case "error": "NULL"
    default: column
    }
  }
  /// The other columns of unfinished jobs.
  public static let unfinished = [
    "due", "flags", "keep", "unique_key", "limit_key", "slots", "unmet", "weight", "further", "awaits",
  ]
  /// The other columns of finished jobs.
  public static let finished = ["finished", "expires", "reason", "reason_text", "result", "culprit"]
  /// The columns of dependencies that ``readEdge(_:)`` expects.
  public static let edge = "dependency, dependent, success, status"

  /// The flag of a running job that its worker must cancel.
  public static let cancelRequested = 1
  /// The flag of a job that holds its key until it is claimed.
  public static let holdsKeyUntilClaim = 2
  /// The flag of an unfinished job that other jobs wait for, or have waited for.
  public static let hasDependents = 4
  /// The flag of a job that has checkpoints or signals.
  public static let hasCheckpoints = 8

  /// The valid range for the numbers of attempts, claims, crashes and snoozes.
  public static let numbers = 0...Int(Int32.max)

  // MARK: Writing

  /// Adds the ``common`` and ``unfinished`` columns of a job.
  public static func writeUnfinished(
    _ job: JobRecord, flags otherFlags: Int = 0, to values: inout some StoredRowWriter
  ) {
    writeCommon(job, to: &values)
    let unique = job.settings.unique
    var flags = otherFlags
    if job.isCancelRequested { flags |= cancelRequested }
    if unique?.scope == .waiting { flags |= holdsKeyUntilClaim }
    if job.hasDependents { flags |= hasDependents }
    values.add(job.dueTime)
    values.add(flags)
    values.add(keep(job.settings))
    values.add(job.holdsKey ? unique?.key : nil)
    let limit = job.settings.firstLimit
    values.add(limit?.storedKey)
    values.add(limit?.slots.map(Int64.init))
    values.add(job.unmetCount)
    values.add(limit.map { Int64($0.units) })
    values.add(job.settings.furtherLimits)
    values.add(job.wait?.stored)
  }

  /// Adds the ``common`` and ``finished`` columns of a job.
  public static func writeFinished(_ job: JobRecord, to values: inout some StoredRowWriter) {
    writeCommon(job, to: &values)
    values.add(job.finishedTime)
    values.add(job.expirationTime)
    values.add(job.reason?.code.rawValue)
    values.add(description: job.reason?.text)
    values.add(job.result?.bytes)
    values.add(job.reason?.culprit?.rawValue)
  }

  private static func writeCommon(_ job: JobRecord, to values: inout some StoredRowWriter) {
    values.add(job.id.rawValue)
    values.add(job.queue)
    values.add(job.kind.rawValue)
    values.add(job.version)
    values.add(job.state.rawValue)
    values.add(job.priority)
    values.add(job.position)
    values.add(job.deadline)
    values.add(job.enqueuedTime)
    values.add(job.claimedTime)
    values.add(job.firstClaimedTime)
    values.add(job.attempt)
    values.add(job.crashCount)
    values.add(job.snoozeCount)
    values.add(job.epoch)
    values.add(job.owner?.rawValue)
    values.add(job.progress?.fraction)
    values.add(description: job.progress?.text)
    values.add(job.settings.stored)
    values.add(job.history.stored)
    values.add(job.payload.bytes)
    values.add(job.readyTime)
    values.add(job.errorGroup?.rawValue)
  }

  /// Adds the number, the attempt, the epoch and the owner of an attempt.
  public static func write(_ fence: JobFence, to values: inout some StoredRowWriter) {
    values.add(fence.id.rawValue)
    values.add(fence.attempt)
    values.add(fence.epoch)
    values.add(fence.owner.rawValue)
  }

  /// Returns how long a job is kept after a success, in microseconds; nil if the success needs ``JobRows/put(_:)``.
  ///
  /// This is the case if SQL can't compute with the duration, or if the job has a limit, so that its end can make
  /// others claimable.
  public static func keep(_ settings: JobSettings) -> Int64? {
    guard settings.limits == nil else { return nil }
    let keep = (settings.retention?.succeeded ?? .seconds(86_400)) / .microseconds(1)
    return (0...1e15).contains(keep) ? Int64(keep) : nil
  }

  // MARK: Reading

  /// Reads a job.
  ///
  /// A damaged job must not prevent others from being read, so ``JobRecord/damage`` describes the parts that can't be
  /// read.
  ///
  /// - Parameter row: A row with the ``common``, ``unfinished`` and ``finished`` columns. Columns that the table does
  ///   not have are null.
  /// - Returns: The job that the row contains.
  public static func read(_ row: some StoredRow) -> JobRecord {
    var damage: [String] = []
    func readable<Value>(_ name: String, or substitute: Value, _ read: () throws -> Value) -> Value {
      do {
        return try read()
      } catch {
        damage.append("its \(name) can't be read: \(error)")
        return substitute
      }
    }
    func number(_ name: String, _ column: Int) -> Int {
      let value = row.int(column)
      if numbers.contains(value) { return value }
      damage.append("its \(name) is \(value)")
      return 0
    }
    let state = JobState(rawValue: row.int(4)) ?? (row.isNull(33) ? .held : .failed)
    if state.rawValue != row.int(4) { damage.append("its state is \(row.int(4))") }
    var job = JobRecord(
      id: row.id(0), queue: row.text(1), kind: row.kind(2), version: row.int(3),
      payload: JobPayload(bytes: row.bytes(20)), state: state, priority: row.int(5), enqueuedTime: row.time(8),
      settings: row.isNull(18)
        ? JobSettings() : readable("options", or: JobSettings()) { try JobSettings(stored: row.bytes(18)) })
    job.position = row.int64(6)
    job.deadline = row.optional(7, row.time)
    job.claimedTime = row.optional(9, row.time)
    job.firstClaimedTime = row.optional(10, row.time)
    job.attempt = number("attempt", 11)
    job.crashCount = number("number of crashes", 12)
    job.snoozeCount = number("number of snoozes", 13)
    job.epoch = number("number of claims", 14)
    job.owner = row.optional(15, row.worker)
    job.progress = progress(row, at: 16)
    if !row.isNull(19) {
      job.history = readable("history", or: JobHistory()) { try JobHistory(stored: row.bytes(19)) }
    }
    job.readyTime = row.time(21)
    job.errorGroup = row.optional(22) { JobErrorGroup.ID(rawValue: row.int64($0)) }
    job.dueTime = row.optional(23, row.time)
    job.isCancelRequested = row.int(24) & cancelRequested != 0
    job.hasDependents = row.int(24) & hasDependents != 0
    job.holdsKey = !row.isNull(26)
    job.unmetCount = row.int(29)
    job.wait = row.optional(32, row.text).flatMap { JobWait(stored: $0) }
    job.finishedTime = row.optional(33, row.time)
    job.expirationTime = row.optional(34, row.time)
    if !row.isNull(35) {
      // A newer release might have other reasons.
      job.reason =
        JobEndReason.Code(rawValue: row.text(35)).map {
          JobEndReason($0, row.text(36), culprit: row.optional(38, row.id))
        }
        ?? JobEndReason(state == .cancelled ? .cancelled : .failed, "\(row.text(35)): \(row.text(36))")
    }
    job.result = row.optional(37) { JobPayload(bytes: row.bytes($0)) }
    if !damage.isEmpty { job.damage = damage.joined(separator: "; ") }
    return job
  }

  /// Reads the progress of a job from two columns.
  static func progress(_ row: some StoredRow, at column: Int) -> JobProgress? {
    row.optional(column) { JobProgress(fraction: row.double($0), text: row.optional($0 + 1, row.text)) }
  }

  /// The key that an unfinished job holds.
  public static func uniqueKey(_ row: some StoredRow) -> String? { row.optional(26, row.text) }

  /// The first limit of an unfinished job, and the group of its other limits.
  public static func limit(_ row: some StoredRow) -> (limit: ClaimLimit, group: String)? {
    guard !row.isNull(27) else { return nil }
    let limit = ClaimLimit(key: row.text(27), slots: row.optional(28, row.int), weight: row.optional(30, row.int) ?? 1)
    return (limit, row.optional(31, row.text) ?? JobSettings.noFurtherLimits)
  }

  /// Reads a dependency.
  ///
  /// - Throws: ``JobError`` if a newer release has stored an unknown status.
  public static func readEdge(_ row: some StoredRow) throws -> JobEdge {
    guard let status = JobEdge.Status(rawValue: row.int(3)) else {
      throw JobError(
        .storeFailed, "A dependency of job \(row.id(1)) has the unknown status \(row.int(3)). Update this program.")
    }
    return JobEdge(
      dependency: row.id(0), dependent: row.id(1), requirement: row.bool(2) ? .success : .completion, status: status)
  }
}
