#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs

/// The rows of jobs: unfinished jobs are in `job`, finished ones in `done`.
enum JobRow {
  /// The columns that both tables have.
  static let common = [
    "id", "queue", "kind", "version", "state", "priority", "position", "deadline", "enqueued", "claimed",
    "first_claimed", "attempt", "crashes", "snoozes", "epoch", "owner", "progress", "progress_text", "settings",
    "history", "payload", "ready",
  ]
  private static let unfinished = [
    "due", "flags", "keep", "unique_key", "limit_key", "slots", "unmet", "weight", "further",
  ]
  static let finished = ["finished", "expires", "reason", "reason_text", "result", "culprit"]
  /// The columns of the table `job`.
  private static let stored = common + unfinished + ["awaits"]

  /// The flag of a running job that its worker must cancel.
  static let cancelRequested: Int64 = 1
  /// The flag of a job that holds its key until it is claimed.
  static let holdsKeyUntilClaim: Int64 = 2
  /// The flag of an unfinished job that others wait for, or have waited for.
  static let hasDependents: Int64 = 4
  /// The flag of a job that has checkpoints or signals.
  static let hasCheckpoints: Int64 = 8

  /// The columns of the table `job` that ``read(_:)`` expects.
  static let unfinishedColumns = list(common + unfinished + noEnd + ["awaits"])
  private static let noEnd = [
    "NULL::timestamptz", "NULL::timestamptz", "NULL", "NULL", "NULL::bytea", "NULL::bigint",
  ]
  /// The number of columns that ``read(_:)`` expects.
  static let columnCount = common.count + unfinished.count + finished.count + 1

  /// Returns the columns of the table `job` with an alias.
  static func columns(of alias: String) -> [String] {
    (common + unfinished).map { "\(alias).\($0)" } + noEnd + ["\(alias).awaits"]
  }

  /// The columns of the table `done` that ``read(_:)`` expects.
  static let finishedColumns = list(
    common + [
      "NULL::timestamptz", "0::bigint", "NULL::bigint", "NULL", "NULL", "NULL::bigint", "0::bigint", "NULL::bigint",
      "NULL",
    ] + finished + ["NULL"])

  /// Inserts new jobs.
  static let insert = insertion(into: "headway.job", stored)
  /// Inserts new jobs, unless other jobs hold their keys.
  static let insertIfUnique =
    insert + " ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING RETURNING id"
  /// Replaces unfinished jobs, or inserts finished jobs that are run again.
  static let put =
    insert + " ON CONFLICT (id) DO UPDATE SET "
    + list(
      stored.dropFirst().map { column in
        column == "flags"
          ? "flags = (job.flags & \(hasCheckpoints)) | excluded.flags"
          : "\(column) = excluded.\(column)"
      })
  /// Inserts finished jobs, or replaces the rows with the same numbers.
  static let putFinished =
    insertion(into: "headway.done", common + finished) + " ON CONFLICT (id) DO UPDATE SET "
    + list((common + finished).dropFirst().map { "\($0) = excluded.\($0)" })

  /// The valid range for the numbers of attempts, claims, crashes and snoozes.
  static let numbers = 0...Int(Int32.max)
  /// The condition that an attempt runs a job, with the parameters of its fence.
  static let isRun = "id = $1 AND attempt = $2 AND epoch = $3 AND owner = $4 AND \(isRunning)"
  /// The condition that a job runs, if the job's number is known.
  ///
  /// The addition keeps the server from using the index of running jobs, which can contain many dead rows.
  static let isRunning = "state + 0 = 3"

  static func list(_ columns: [String]) -> String { columns.joined(separator: ", ") }

  private static func insertion(into table: String, _ columns: [String]) -> String {
    let parameters = columns.indices.map { "$\($0 + 1)" }
    return "INSERT INTO \(table) (\(list(columns))) SELECT * FROM unnest(\(list(parameters)))"
  }

  // MARK: Writing

  /// Adds unfinished jobs to a statement.
  static func addUnfinished(_ jobs: [JobRecord], to statement: inout Statement, flags otherFlags: Int64 = 0) {
    addCommon(jobs, to: &statement)
    statement.add(array: jobs.map(\.dueTime))
    statement.add(array: jobs.map { flags(of: $0) | otherFlags })
    statement.add(array: jobs.map { keep($0.settings) })
    statement.add(array: jobs.map { $0.holdsKey ? $0.settings.unique?.key : nil })
    statement.add(array: jobs.map { $0.settings.firstLimit?.storedKey })
    statement.add(array: jobs.map { $0.settings.firstLimit?.slots.map(Int64.init) })
    statement.add(array: jobs.map(\.unmetCount))
    statement.add(array: jobs.map { $0.settings.firstLimit.map { Int64($0.units) } })
    statement.add(array: jobs.map(\.settings.furtherLimits))
    statement.add(array: jobs.map { $0.wait?.stored })
  }

  static func flags(of job: JobRecord) -> Int64 {
    var flags: Int64 = 0
    if job.isCancelRequested { flags |= cancelRequested }
    if job.settings.unique?.scope == .waiting { flags |= holdsKeyUntilClaim }
    if job.hasDependents { flags |= hasDependents }
    return flags
  }

  /// Adds finished jobs to a statement.
  static func addFinished(_ jobs: [JobRecord], to statement: inout Statement) {
    addCommon(jobs, to: &statement)
    statement.add(array: jobs.map(\.finishedTime))
    statement.add(array: jobs.map(\.expirationTime))
    statement.add(array: jobs.map { $0.reason?.code.rawValue })
    statement.add(array: jobs.map { $0.reason?.text.withoutNull })
    statement.add(array: jobs.map { $0.result?.bytes })
    statement.add(array: jobs.map { $0.reason?.culprit?.rawValue })
  }

  static func add(_ fence: JobFence, to statement: inout Statement) {
    statement.add(fence.id.rawValue)
    statement.add(fence.attempt)
    statement.add(fence.epoch)
    statement.add(fence.owner.rawValue)
  }

  /// Returns how long a job is kept after a success, in microseconds; nil if the success needs
  /// ``JobTransaction/put(_:)``.
  ///
  /// This is the case if SQL can't compute with the duration, or if the job has a limit, so that its end can make
  /// others claimable.
  static func keep(_ settings: JobSettings) -> Int64? {
    guard settings.limits == nil else { return nil }
    let keep = (settings.retention?.succeeded ?? .seconds(86_400)) / .microseconds(1)
    return (0...1e15).contains(keep) ? Int64(keep) : nil
  }

  private static func addCommon(_ jobs: [JobRecord], to statement: inout Statement) {
    statement.add(array: jobs.map(\.id.rawValue))
    statement.add(array: jobs.map(\.queue))
    statement.add(array: jobs.map(\.kind.rawValue))
    statement.add(array: jobs.map(\.version))
    statement.add(array: jobs.map(\.state.rawValue))
    statement.add(array: jobs.map(\.priority))
    statement.add(array: jobs.map(\.position))
    statement.add(array: jobs.map(\.deadline))
    statement.add(array: jobs.map(\.enqueuedTime))
    statement.add(array: jobs.map(\.claimedTime))
    statement.add(array: jobs.map(\.firstClaimedTime))
    statement.add(array: jobs.map(\.attempt))
    statement.add(array: jobs.map(\.crashCount))
    statement.add(array: jobs.map(\.snoozeCount))
    statement.add(array: jobs.map(\.epoch))
    statement.add(array: jobs.map { $0.owner?.rawValue })
    statement.add(array: jobs.map { $0.progress?.fraction })
    statement.add(array: jobs.map { $0.progress?.text?.withoutNull })
    statement.add(array: jobs.map(\.settings.stored))
    statement.add(array: jobs.map(\.history.stored))
    statement.add(array: jobs.map(\.payload.bytes))
    statement.add(array: jobs.map(\.readyTime))
  }

  // MARK: Reading

  /// Reads a job.
  ///
  /// A damaged job must not prevent others from being read, so ``JobRecord/damage`` describes the parts that can't be
  /// read.
  static func read(_ row: ResultRow) -> JobRecord {
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
    let isFinished = !row.isNull(31)
    let state = JobState(rawValue: row.int(4)) ?? (isFinished ? .failed : .held)
    if state.rawValue != row.int(4) { damage.append("its state is \(row.int(4))") }
    var job = JobRecord(
      id: row.id(0), queue: row.text(1), kind: JobKind(rawValue: row.text(2)), version: row.int(3),
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
    job.owner = row.optional(15) { WorkerID(rawValue: row.int64($0)) }
    if !row.isNull(16) { job.progress = JobProgress(fraction: row.double(16), text: row.optional(17, row.text)) }
    if !row.isNull(19) {
      job.history = readable("history", or: JobHistory()) { try JobHistory(stored: row.bytes(19)) }
    }
    job.readyTime = row.time(21)
    job.dueTime = row.optional(22, row.time)
    job.isCancelRequested = row.int64(23) & cancelRequested != 0
    job.hasDependents = row.int64(23) & hasDependents != 0
    job.holdsKey = uniqueKey(row) != nil
    job.unmetCount = row.int(28)
    job.finishedTime = row.optional(31, row.time)
    job.expirationTime = row.optional(32, row.time)
    if !row.isNull(33) {
      let culprit = row.optional(36, row.id)
      // A newer release might have other reasons.
      job.reason =
        JobEndReason.Code(rawValue: row.text(33)).map { JobEndReason($0, row.text(34), culprit: culprit) }
        ?? JobEndReason(state == .cancelled ? .cancelled : .failed, "\(row.text(33)): \(row.text(34))")
    }
    if !row.isNull(35) { job.result = JobPayload(bytes: row.bytes(35)) }
    // The last column.
    job.wait = row.optional(columnCount - 1, row.text).flatMap { JobWait(stored: $0) }
    if !damage.isEmpty { job.damage = damage.joined(separator: "; ") }
    return job
  }

  /// The first limit of an unfinished job, and the group of its other limits.
  static func limit(_ row: ResultRow) -> (limit: ClaimLimit, group: String)? {
    guard !row.isNull(26) else { return nil }
    let limit = ClaimLimit(key: row.text(26), slots: row.optional(27, row.int), weight: row.optional(29, row.int) ?? 1)
    return (limit, row.optional(30, row.text) ?? JobSettings.noFurtherLimits)
  }

  /// The key that an unfinished job holds.
  static func uniqueKey(_ row: ResultRow) -> String? { row.optional(25, row.text) }

  // MARK: Edges

  /// The columns that ``readEdge(_:)`` expects.
  static let edgeColumns = "dependency, dependent, success, status"

  static func readEdge(_ row: ResultRow) throws -> JobEdge {
    guard let status = JobEdge.Status(rawValue: row.int(3)) else {
      throw JobError(
        .storeFailed, "A dependency of job \(row.id(1)) has the unknown status \(row.int(3)). Update this program.")
    }
    return JobEdge(
      dependency: row.id(0), dependent: row.id(1), requirement: row.bool(2) ? .success : .completion, status: status)
  }

  /// Returns the condition that unfinished jobs depend on a job, so that they might read its result.
  static func isNeeded(_ id: String) -> String {
    "EXISTS (SELECT FROM headway.edge e JOIN headway.job j ON j.id = e.dependent WHERE e.dependency = \(id))"
  }
}

extension String {
  /// The text with a visible character instead of each null character, which PostgreSQL can't store.
  ///
  /// Only descriptions are changed. Names and keys with null characters are refused.
  var withoutNull: String {
    utf8.contains(0) ? split(separator: "\0", omittingEmptySubsequences: false).joined(separator: "\u{2400}") : self
  }
}
#endif
