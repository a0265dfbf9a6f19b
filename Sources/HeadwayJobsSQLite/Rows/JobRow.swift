#if Jobs
import GRDB
import Headway
@_spi(JobStore) import HeadwayJobs

/// The rows of jobs: unfinished jobs are in `headway_job`, finished ones in `headway_done`.
enum JobRow {
  /// The columns that both tables have.
  private static let common = [
    "id", "queue", "kind", "version", "state", "priority", "position", "deadline", "enqueued", "claimed",
    "first_claimed", "attempt", "crashes", "snoozes", "epoch", "owner", "progress", "progress_text", "settings",
    "history", "payload", "ready",
  ]
  private static let unfinished = [
    "due", "flags", "keep", "unique_key", "limit_key", "slots", "unmet", "weight", "further",
  ]
  private static let finished = ["finished", "expires", "reason", "reason_text", "result", "culprit"]
  /// The columns of `headway_job`.
  private static let stored = common + unfinished + ["awaits"]

  /// The flag of a running job that its worker must cancel.
  static let cancelRequested = 1
  /// The flag of a job that holds its key until it is claimed.
  static let holdsKeyUntilClaim = 2
  /// The flag of an unfinished job that others wait for, or have waited for.
  static let hasDependents = 4
  /// The flag of a job that has checkpoints or signals.
  static let hasCheckpoints = 8

  /// The columns of `headway_job` that ``read(_:)`` expects.
  static let unfinishedColumns = selection(common + unfinished + finished.map { _ in "NULL" } + ["awaits"])
  /// The columns of `headway_done` that ``read(_:)`` expects.
  static let finishedColumns = selection(
    common + ["NULL", "0", "NULL", "NULL", "NULL", "NULL", "0", "NULL", "NULL"] + finished + ["NULL"])
  /// The last column that ``read(_:)`` expects.
  private static let awaitsColumn = Int32(common.count + unfinished.count + finished.count)

  static let insert = insertion("INSERT OR FAIL", into: "headway_job", stored)
  /// Inserts ``batchSize`` jobs, because SQLite opens all indexes for each statement.
  static let insertBatch = insertion("INSERT OR FAIL", into: "headway_job", stored, rowCount: batchSize)
  /// The number of jobs that ``insertBatch`` inserts.
  ///
  /// With four times as many, it is not faster.
  static let batchSize = 32
  static let update =
    "UPDATE headway_job SET "
    + zip(stored, 1...).dropFirst().map { column, index in
      column == "flags" ? "flags = (flags & \(hasCheckpoints)) | ?\(index)" : "\(column) = ?\(index)"
    }.joined(separator: ", ") + " WHERE id = ?1"
  /// Inserts a finished job, or replaces the row with the same number.
  static let insertFinished = insertion("INSERT OR REPLACE", into: "headway_done", common + finished)

  /// Copies an unfinished job that has succeeded to `headway_done`.
  ///
  /// The parameters are the number of the job, the time and the result.
  static let copySucceeded = """
    INSERT INTO headway_done (\((common + finished).joined(separator: ", "))) SELECT \
    \(common.map { $0 == "state" ? "4" : $0 }.joined(separator: ", ")), ?2, ?2 + keep, NULL, NULL, ?3, NULL \
    FROM headway_job WHERE id = ?1
    """
  /// The valid range for the numbers of attempts, claims, crashes and snoozes.
  static let numbers = 0...Int(Int32.max)
  /// The condition that an attempt runs a job, with the parameters of its fence.
  static let isRun = "id = ?1 AND attempt = ?2 AND epoch = ?3 AND owner = ?4 AND state = 3"

  private static func selection(_ columns: [String]) -> String { columns.joined(separator: ", ") }

  private static func insertion(
    _ verb: String, into table: String, _ columns: [String], rowCount: Int = 1
  ) -> String {
    let row = "(\(columns.map { _ in "?" }.joined(separator: ", ")))"
    let rows = Array(repeating: row, count: rowCount).joined(separator: ", ")
    return "\(verb) INTO \(table) (\(columns.joined(separator: ", "))) VALUES \(rows)"
  }

  // MARK: Writing

  /// Binds an unfinished job to ``insert`` or ``update``, or to a row of ``insertBatch``.
  static func bindUnfinished(
    _ job: JobRecord, to statement: SQLStatement, row: Int = 0, flags otherFlags: Int = 0
  ) {
    let next = bind(job, to: statement, from: Int32(row * stored.count) + 1)
    let unique = job.settings.unique
    var flags = otherFlags
    if job.isCancelRequested { flags |= cancelRequested }
    if unique?.scope == .waiting { flags |= holdsKeyUntilClaim }
    if job.hasDependents { flags |= hasDependents }
    statement.bind(job.dueTime?.microseconds, at: next)
    statement.bind(flags, at: next + 1)
    statement.bind(keep(job.settings), at: next + 2)
    statement.bind(job.holdsKey ? unique?.key : nil, at: next + 3)
    let limit = job.settings.firstLimit
    statement.bind(limit?.storedKey, at: next + 4)
    statement.bind(limit?.slots.map(Int64.init), at: next + 5)
    statement.bind(job.unmetCount, at: next + 6)
    statement.bind(limit.map { Int64($0.units) }, at: next + 7)
    statement.bind(job.settings.furtherLimits, at: next + 8)
    statement.bind(job.wait?.stored, at: next + 9)
  }

  /// Binds a finished job to ``insertFinished``.
  static func bindFinished(_ job: JobRecord, to statement: SQLStatement) {
    let next = bind(job, to: statement)
    statement.bind(job.finishedTime?.microseconds, at: next)
    statement.bind(job.expirationTime?.microseconds, at: next + 1)
    statement.bind(job.reason?.code.rawValue, at: next + 2)
    statement.bind(job.reason?.text, at: next + 3)
    statement.bind(job.result?.bytes, at: next + 4)
    statement.bind(job.reason?.culprit?.rawValue, at: next + 5)
  }

  static func bind(_ fence: JobFence, to statement: SQLStatement) {
    statement.bind(fence.id.rawValue, at: 1)
    statement.bind(fence.attempt, at: 2)
    statement.bind(fence.epoch, at: 3)
    statement.bind(fence.owner.rawValue, at: 4)
  }

  /// Returns how long a job is kept after a success, in microseconds; nil if the success needs
  /// ``JobTransaction/put(_:)``.
  ///
  /// This is the case if SQL can't compute with the duration, or if the job has a limit, so that its end can make
  /// others claimable.
  private static func keep(_ settings: JobSettings) -> Int64? {
    guard settings.limits == nil else { return nil }
    let keep = (settings.retention?.succeeded ?? .seconds(86_400)) / .microseconds(1)
    return (0...1e15).contains(keep) ? Int64(keep) : nil
  }

  /// Binds the common columns, beginning with a parameter.
  ///
  /// - Returns: The number of the next parameter.
  private static func bind(_ job: JobRecord, to statement: SQLStatement, from first: Int32 = 1) -> Int32 {
    statement.bind(job.id.rawValue, at: first)
    statement.bind(job.queue, at: first + 1)
    statement.bind(job.kind.rawValue, at: first + 2)
    statement.bind(job.version, at: first + 3)
    statement.bind(job.state.rawValue, at: first + 4)
    statement.bind(job.priority, at: first + 5)
    statement.bind(job.position, at: first + 6)
    statement.bind(job.deadline?.microseconds, at: first + 7)
    statement.bind(job.enqueuedTime.microseconds, at: first + 8)
    statement.bind(job.claimedTime?.microseconds, at: first + 9)
    statement.bind(job.firstClaimedTime?.microseconds, at: first + 10)
    statement.bind(job.attempt, at: first + 11)
    statement.bind(job.crashCount, at: first + 12)
    statement.bind(job.snoozeCount, at: first + 13)
    statement.bind(job.epoch, at: first + 14)
    statement.bind(job.owner?.rawValue, at: first + 15)
    statement.bind(job.progress?.fraction, at: first + 16)
    statement.bind(job.progress?.text, at: first + 17)
    statement.bind(job.settings.stored, at: first + 18)
    statement.bind(job.history.stored, at: first + 19)
    statement.bind(job.payload.bytes, at: first + 20)
    statement.bind(job.readyTime.microseconds, at: first + 21)
    return first + 22
  }

  // MARK: Reading

  /// Reads a job.
  ///
  /// A damaged job must not prevent others from being read, so ``JobRecord/damage`` describes the parts that can't be
  /// read.
  static func read(_ row: SQLStatement) -> JobRecord {
    var damage: [String] = []
    func readable<Value>(_ name: String, or substitute: Value, _ read: () throws -> Value) -> Value {
      do {
        return try read()
      } catch {
        damage.append("its \(name) can't be read: \(error)")
        return substitute
      }
    }
    func number(_ name: String, _ column: Int32) -> Int {
      let value = row.int(column)
      if numbers.contains(value) { return value }
      damage.append("its \(name) is \(value)")
      return 0
    }
    func time(_ column: Int32) -> StoreTime? {
      row.isNull(column) ? nil : StoreTime(microseconds: row.int64(column))
    }
    let state = JobState(rawValue: row.int(4)) ?? (row.isNull(31) ? .held : .failed)
    if state.rawValue != row.int(4) { damage.append("its state is \(row.int(4))") }
    var job = JobRecord(
      id: JobID(rawValue: row.int64(0)), queue: row.text(1), kind: JobKind(rawValue: row.text(2)),
      version: row.int(3), payload: JobPayload(bytes: row.bytes(20)), state: state, priority: row.int(5),
      enqueuedTime: StoreTime(microseconds: row.int64(8)),
      settings: row.isNull(18)
        ? JobSettings() : readable("options", or: JobSettings()) { try JobSettings(stored: row.bytes(18)) })
    job.position = row.int64(6)
    job.deadline = time(7)
    job.claimedTime = time(9)
    job.firstClaimedTime = time(10)
    job.attempt = number("attempt", 11)
    job.crashCount = number("number of crashes", 12)
    job.snoozeCount = number("number of snoozes", 13)
    job.epoch = number("number of claims", 14)
    job.owner = row.isNull(15) ? nil : WorkerID(rawValue: row.int64(15))
    if !row.isNull(16) {
      job.progress = JobProgress(fraction: row.double(16), text: row.isNull(17) ? nil : row.text(17))
    }
    if !row.isNull(19) {
      job.history = readable("history", or: JobHistory()) { try JobHistory(stored: row.bytes(19)) }
    }
    job.readyTime = StoreTime(microseconds: row.int64(21))
    job.dueTime = time(22)
    job.isCancelRequested = row.int(23) & cancelRequested != 0
    job.hasDependents = row.int(23) & hasDependents != 0
    job.holdsKey = uniqueKey(row) != nil
    job.unmetCount = row.int(28)
    job.finishedTime = time(31)
    job.expirationTime = time(32)
    if !row.isNull(33) {
      let culprit = row.isNull(36) ? nil : JobID(rawValue: row.int64(36))
      // A newer release might have other reasons.
      job.reason =
        JobEndReason.Code(rawValue: row.text(33)).map { JobEndReason($0, row.text(34), culprit: culprit) }
        ?? JobEndReason(state == .cancelled ? .cancelled : .failed, "\(row.text(33)): \(row.text(34))")
    }
    if !row.isNull(35) { job.result = JobPayload(bytes: row.bytes(35)) }
    if !row.isNull(awaitsColumn) { job.wait = JobWait(stored: row.text(awaitsColumn)) }
    if !damage.isEmpty { job.damage = damage.joined(separator: "; ") }
    return job
  }

  /// The key that an unfinished job holds.
  static func uniqueKey(_ row: SQLStatement) -> String? { row.isNull(25) ? nil : row.text(25) }

  // MARK: Checkpoints

  static func checkpoint(_ name: String, of id: JobID, _ database: Database) throws -> JobPayload? {
    let statement = try SQLStatement("SELECT value FROM headway_checkpoint WHERE job = ?1 AND name = ?2", database)
    defer { statement.reset() }
    statement.bind(id.rawValue, at: 1)
    statement.bind(name, at: 2)
    return try statement.step() ? JobPayload(bytes: statement.bytes(0)) : nil
  }

  // MARK: Edges

  /// The columns that ``readEdge(_:)`` expects.
  static let edgeColumns = "dependency, dependent, success, status"

  static func readEdge(_ row: SQLStatement) throws -> JobEdge {
    let (dependency, dependent) = (JobID(rawValue: row.int64(0)), JobID(rawValue: row.int64(1)))
    guard let status = JobEdge.Status(rawValue: row.int(3)) else {
      throw JobError(
        .storeFailed, "A dependency of job \(dependent) has the unknown status \(row.int(3)). Update this program.")
    }
    return JobEdge(
      dependency: dependency, dependent: dependent, requirement: row.int(2) == 0 ? .completion : .success,
      status: status)
  }

  /// Returns the condition that unfinished jobs depend on a job, so that they might read its result.
  ///
  /// - Parameter id: The SQL expression for the number of the job.
  /// - Returns: The condition.
  static func isNeeded(_ id: String) -> String {
    """
    EXISTS (SELECT 1 FROM headway_edge JOIN headway_job ON headway_job.id = dependent WHERE dependency = \(id))
    """
  }
}
#endif
