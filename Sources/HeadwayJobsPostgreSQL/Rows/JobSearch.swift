#if PostgreSQL
@_spi(JobStore) import HeadwayJobs

/// Finds the newest jobs of a filter, and reads a limited number of rows.
///
/// If few jobs have the requested states, indexes find them. Otherwise, rows are read in the order of their numbers, up
/// to ``maxRowCount``.
struct JobSearch {
  private let reader: JobReader
  private let filter: JobFilter
  private let selection: JobSelection
  private let id: JobID?
  private let limit: Int

  /// The maximum number of rows that a search reads from a table or an index.
  private var maxRowCount: Int { filter.payload == nil ? 20_000 : 2_000 }
  /// The maximum number of jobs that are found by an index that does not have the order of their numbers.
  private var fewCount: Int { filter.payload == nil ? 5_000 : 1_000 }

  init(_ reader: JobReader, _ filter: JobFilter, before id: JobID?, limit: Int) {
    (self.reader, self.filter, self.id, self.limit) = (reader, filter, id, limit)
    selection = JobSelection(filter)
  }

  func page() throws -> JobIDPage {
    guard limit > 0, !selection.isImpossible else { return JobIDPage(ids: [], next: limit > 0 ? nil : id) }
    reader.avoidTableScans()
    if filter.ids != nil || filter.culprit != nil { return try selectedPage() }
    return JobIDPage(merging: try [unfinished()].compactMap(\.self) + finished(), limit: limit)
  }

  /// Finds jobs by their numbers or their culprit, which have indexes.
  private func selectedPage() throws -> JobIDPage {
    let found = try reader.jobs(filter, after: nil, limit: .max).map(\.id)
    let before = found.filter { number in id.map { number < $0 } ?? true }
    return JobIDPage(merging: [JobIDPage(ids: before)], limit: limit)
  }

  private func unfinished() throws -> JobIDPage? {
    let parts = JobPart.all.filter { filter.states?.contains($0.state) != false }
    guard !parts.isEmpty else { return nil }
    // If most jobs have the states, the newest ones are found soon.
    guard parts.count < JobPart.all.count || filter.queues != nil, let ids = try few(parts) else {
      return try scan("headway.job")
    }
    return JobIDPage(merging: [JobIDPage(ids: ids)], limit: limit)
  }

  /// Finds the jobs by the indexes; returns nil if there are too many in the queues and states.
  private func few(_ parts: [JobPart]) throws -> [JobID]? {
    var statement = Statement("")
    let condition = selection.addCondition(to: &statement)
    statement.add(id?.rawValue ?? .max)
    let end = statement.parameters.count
    var queues = "true"
    if let names = filter.queues {
      statement.add(array: names.filter { !$0.utf8.contains(0) })
      queues = "queue = ANY($\(statement.parameters.count))"
    }
    let selects = parts.map { part in
      """
      (SELECT \(columns) FROM headway.job WHERE \(part.condition) AND \(queues) LIMIT \(fewCount + 1))
      """
    }
    statement.sql = """
      WITH few AS MATERIALIZED (\(selects.joined(separator: " UNION ALL ")))
      SELECT id, settings, (SELECT count(*) FROM few) FROM few WHERE \(condition) AND id < $\(end)
      UNION ALL SELECT NULL, NULL, (SELECT count(*) FROM few)
      """
    let rows = try reader.run(statement).rows
    guard let count = rows.last?.int(2), count <= fewCount else { return nil }
    return rows.dropLast().filter(selection.isMatch).map { $0.id(0) }
  }

  private func finished() throws -> [JobIDPage] {
    let states = Set([.succeeded, .failed, .cancelled] as [JobState]).filter { filter.states?.contains($0) != false }
    if states.contains(.succeeded) { return [try scan("headway.done")] }
    return try states.map { try scan("headway.done", where: "state > 4 AND state = \($0.rawValue)") }
  }

  /// Reads rows in the order of their numbers, newest first.
  private func scan(_ table: String, where part: String = "true") throws -> JobIDPage {
    let window = "FROM \(table) WHERE \(part) AND id < $1 ORDER BY id DESC LIMIT \(maxRowCount)"
    let ends = try reader.run(
      Statement("SELECT min(id), count(*) FROM (SELECT id \(window)) seen", id?.rawValue ?? .max)
    ).first
    guard let ends, !ends.isNull(0) else { return JobIDPage(ids: []) }
    var statement = Statement("", id?.rawValue ?? .max)
    let condition = selection.addCondition(to: &statement)
    // The texts of a filter are compared here, so any number of rows might be needed.
    let maximum = filter.needsSettings ? "" : "LIMIT \(limit + 1)"
    statement.sql = """
      SELECT id, settings FROM (SELECT \(columns) \(window)) seen WHERE \(condition) ORDER BY id DESC \(maximum)
      """
    var found: [JobID] = []
    for row in try reader.run(statement).rows where found.count <= limit && selection.isMatch(row) {
      found.append(row.id(0))
    }
    let isFull = ends.int(1) == maxRowCount
    return JobIDPage(ids: found, next: found.count > limit ? found.last : isFull ? ends.id(0) : nil)
  }

  /// The columns that the condition reads.
  private var columns: String {
    "id, queue, kind, state, enqueued, settings" + (filter.payload == nil ? "" : ", payload")
  }
}
#endif
