#if PostgreSQL
import HeadwayJobs

/// The condition of a `JobFilter` in SQL, except for tags and labels, which are part of the encoded settings.
struct JobSelection {
  private let filter: JobFilter
  /// Whether it contains a text that no row can contain.
  let isImpossible: Bool

  /// The number of rows that are read at a time.
  private static let pageSize = 1_000

  init(_ filter: JobFilter) {
    self.filter = filter
    let texts = (filter.queues ?? []).union((filter.kinds ?? []).map(\.rawValue))
    isImpossible = !texts.isEmpty && texts.allSatisfy { $0.utf8.contains(0) }
  }

  /// Returns jobs in the order of their numbers.
  ///
  /// - Parameters:
  ///   - areFinished: Whether to return finished or unfinished jobs.
  ///   - id: Only jobs with greater numbers than this one are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  ///   - locks: Whether to lock the rows.
  ///   - run: Executes a statement.
  ///   - isIncluded: An additional condition. The function can change the job.
  /// - Throws: `PostgresError`, or the error of the condition.
  /// - Returns: The jobs.
  func jobs(
    areFinished: Bool, after id: JobID?, limit: Int, locks: Bool, _ run: (Statement) throws -> QueryResult,
    where isIncluded: (inout JobRecord) throws -> Bool = { _ in true }
  ) throws -> [JobRecord] {
    guard limit > 0, !isImpossible, areFinished || filter.culprit == nil else { return [] }
    var (jobs, last) = ([JobRecord](), id?.rawValue ?? .min)
    while true {
      let page = try run(statement(areFinished: areFinished, after: last, locks: locks))
      for row in page.rows {
        var job = JobRow.read(row)
        last = job.id.rawValue
        guard filter.contains(job), try isIncluded(&job) else { continue }
        jobs.append(job)
        if jobs.count == limit { return jobs }
      }
      if page.count < Self.pageSize { return jobs }
    }
  }

  private func statement(areFinished: Bool, after last: Int64, locks: Bool) -> Statement {
    let (columns, table) =
      areFinished ? (JobRow.finishedColumns, "headway.done") : (JobRow.unfinishedColumns, "headway.job")
    var statement = Statement("", last)
    let condition = addCondition(to: &statement)
    statement.sql =
      "SELECT \(columns) FROM \(table) WHERE id > $1 AND \(condition) ORDER BY id LIMIT \(Self.pageSize)"
      + (locks ? " FOR UPDATE" : "")
    return statement
  }

  /// Adds the parameters of the condition to a statement.
  ///
  /// - Returns: The condition.
  func addCondition(to statement: inout Statement) -> String {
    var conditions = ["true"]
    func add<Value: BinaryValue>(_ column: String, _ values: [Value]?) {
      guard let values else { return }
      statement.add(array: values)
      conditions.append("\(column) = ANY($\(statement.parameters.count))")
    }
    add("id", filter.ids.map { Set($0).map(\.rawValue) })
    add("state", filter.states?.map { Int64($0.rawValue) })
    add("queue", filter.queues?.filter { !$0.utf8.contains(0) })
    add("kind", filter.kinds?.map(\.rawValue).filter { !$0.utf8.contains(0) })
    // Only finished jobs have a culprit.
    add("culprit", filter.culprit.map { [$0.rawValue] })
    func add(_ comparison: String, _ time: StoreTime?) {
      guard let time else { return }
      statement.add(time)
      conditions.append("\(comparison) $\(statement.parameters.count)")
    }
    add("enqueued >=", filter.since)
    add("enqueued <=", filter.until)
    return conditions.joined(separator: " AND ")
  }
}
#endif
