#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs

/// The rows of new jobs, and of schedules that have added jobs, which are written together.
struct NewRows {
  /// The numbers of the next jobs.
  typealias Numbers = (id: JobID, position: Int64)

  private(set) var jobs: [JobRecord] = []
  /// The jobs that were cancelled when they were added.
  private(set) var finishedJobs: [JobRecord] = []
  var edges: [JobEdge] = []
  /// Unfinished jobs that have dependents from now on.
  var dependencies: Set<JobID> = []
  var schedules: [ScheduleRecord] = []
  /// Numbers for further jobs, in descending order.
  var numbers: [Numbers] = []
  private var size = 0

  /// The number of rows, and the size of the payloads, that one statement writes.
  private static let maxCount = 1_000
  private static let maxSize = 1_024 * 1_024

  var isEmpty: Bool {
    jobs.isEmpty && finishedJobs.isEmpty && edges.isEmpty && dependencies.isEmpty && schedules.isEmpty
  }

  var isFull: Bool {
    max(jobs.count, finishedJobs.count, edges.count, schedules.count) >= Self.maxCount || size >= Self.maxSize
  }

  mutating func add(_ job: JobRecord) {
    if job.state.isFinished { finishedJobs.append(job) } else { jobs.append(job) }
    size += job.payload.bytes.count
  }

  /// Removes the rows, but not the numbers.
  mutating func takeAll() -> NewRows {
    let rows = self
    self = NewRows()
    numbers = rows.numbers
    return rows
  }
}

extension JobTransaction {
  /// Reserves numbers for jobs that will be added, finds the holders of their keys, and takes free timed keys.
  ///
  /// If another transaction takes another key that was free, inserting the job is a conflict, and this transaction is
  /// repeated.
  func willAdd(_ new: [NewJob]) throws {
    try drawNumbers(new.count)
    // If several jobs have the same key, the effect of each job depends on the jobs before it.
    let counts = Dictionary(new.compactMap(\.settings.unique).map { ($0.key, 1) }, uniquingKeysWith: +)
    let single = zip(new, newRows.numbers.reversed()).compactMap { job, numbers in
      job.settings.unique.flatMap { counts[$0.key] == 1 ? (unique: $0, id: numbers.id) : nil }
    }
    guard isRepeatable, single.count > 1 else { return }
    try findHolders(of: single.map(\.unique))
    try takeTimedKeys(single)
  }

  /// Finds the holders of keys that are held by the state of a job.
  func findHolders(of uniques: [UniqueKey]) throws {
    let keys = uniques.filter(\.isHeldByState).map(\.key)
    guard !keys.isEmpty else { return }
    var find = statement("SELECT unique_key, id FROM headway.job WHERE unique_key = ANY($1)")
    find.add(array: keys)
    for key in keys { preparedKeys.updateValue(nil, forKey: key) }
    for row in try run(find).rows { preparedKeys.updateValue(row.id(1), forKey: row.text(0)) }
  }

  /// Takes free timed keys for jobs that will be added, and finds the holders of the other keys.
  private func takeTimedKeys(_ jobs: [(unique: UniqueKey, id: JobID)]) throws {
    // In the same order in all transactions.
    let rows = jobs.compactMap { unique, id in unique.duration.map { (key: unique.key, id: id, until: now + $0) } }
      .sorted { $0.key < $1.key }
    guard !rows.isEmpty else { return }
    var take = statement(Self.takeKeys)
    take.add(array: rows.map(\.key))
    take.add(array: rows.map(\.id.rawValue))
    take.add(array: rows.map(\.until))
    take.add(now)
    for row in try run(take).rows { preparedTimedKeys.updateValue(nil, forKey: row.text(0)) }
    let held = rows.map(\.key).filter { preparedTimedKeys[$0] == nil }
    guard !held.isEmpty else { return }
    var find = statement("SELECT key, job FROM headway.key WHERE key = ANY($1) AND until > $2")
    find.add(array: held)
    find.add(now)
    for row in try run(find).rows { preparedTimedKeys.updateValue(row.id(1), forKey: row.text(0)) }
  }

  /// Takes keys for a time, unless other jobs hold them.
  static let takeKeys = """
    INSERT INTO headway.key AS k (key, job, until)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::timestamptz[])
    ON CONFLICT (key) DO UPDATE SET job = excluded.job, until = excluded.until WHERE k.until <= $4 RETURNING key
    """

  /// Returns the numbers of the next job.
  func nextNumbers() throws -> NewRows.Numbers {
    if newRows.numbers.isEmpty { try drawNumbers(1) }
    guard let numbers = newRows.numbers.popLast() else { throw Conflict() }
    return numbers
  }

  private func drawNumbers(_ count: Int) throws {
    guard count > newRows.numbers.count else { return }
    let drawn = try run(
      "SELECT nextval('headway.job_number'), nextval('headway.position') FROM generate_series(1, $1)", count)
    newRows.numbers = drawn.rows.reversed().map { ($0.id(0), $0.int64(1)) }
  }

  /// Writes the new rows if there are many, so that no request takes long.
  func writeNewRowsIfFull() throws {
    guard newRows.isFull else { return }
    writeNewRowsLater()
    _ = try session.run([])
  }

  /// Writes the new rows together with the next statement.
  func writeNewRowsLater() {
    guard !newRows.isEmpty else { return }
    let rows = newRows.takeAll()
    if !rows.jobs.isEmpty {
      var insert = statement(JobSQL.insert)
      JobRow.addUnfinished(rows.jobs, to: &insert)
      session.runLater(insert)
    }
    if !rows.finishedJobs.isEmpty {
      var insert = statement(JobSQL.putFinished)
      JobRow.addFinished(rows.finishedJobs, to: &insert)
      session.runLater(insert)
    }
    if !rows.edges.isEmpty {
      var insert = statement(
        """
        INSERT INTO headway.edge (dependency, dependent, success, status) SELECT * FROM unnest($1, $2, $3, $4)
        """)
      insert.add(array: rows.edges.map(\.dependency.rawValue))
      insert.add(array: rows.edges.map(\.dependent.rawValue))
      insert.add(array: rows.edges.map { $0.requirement == .success })
      insert.add(array: rows.edges.map(\.status.rawValue))
      session.runLater(insert)
    }
    if !rows.dependencies.isEmpty {
      var update = statement("UPDATE headway.job SET flags = flags | \(JobRow.hasDependents) WHERE id = ANY($1)")
      update.add(array: rows.dependencies.map(\.rawValue).sorted())
      session.runLater(update)
    }
    if !rows.schedules.isEmpty {
      var update = statement(RowSQL.putTicks)
      ScheduleRow.addTicks(of: rows.schedules, to: &update)
      session.runLater(update)
    }
  }
}
#endif
