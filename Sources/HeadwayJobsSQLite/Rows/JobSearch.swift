#if Jobs
import GRDB
@_spi(JobStore) import HeadwayJobs

/// Finds the newest jobs of a filter, and reads a limited number of rows.
///
/// If few jobs have the requested states, indexes find them. Otherwise, rows are read in the order of their numbers, up
/// to ``maxRowCount``.
struct JobSearch {
  private let selection: JobSelection
  private let id: JobID?
  private let limit: Int
  private let database: Database

  /// The maximum number of rows that a search reads from a table or an index.
  private var maxRowCount: Int { filter.payload == nil ? 20_000 : 2_000 }
  /// The maximum number of jobs that are found by an index that does not have the order of their numbers.
  private var fewCount: Int { filter.payload == nil ? 5_000 : 1_000 }

  init(_ filter: JobFilter, before id: JobID?, limit: Int, _ database: Database) throws {
    selection = try JobSelection(filter)
    (self.id, self.limit, self.database) = (id, limit, database)
  }

  private var filter: JobFilter { selection.filter }

  func page() throws -> JobIDPage {
    guard limit > 0 else { return JobIDPage(ids: [], next: id) }
    if filter.ids != nil || filter.culprit != nil { return try selectedPage() }
    return JobIDPage(merging: try [unfinished()].compactMap(\.self) + finished(), limit: limit)
  }

  /// Finds jobs by their numbers or their culprit, which have indexes.
  private func selectedPage() throws -> JobIDPage {
    let found = try [false, true].flatMap { areFinished in
      try selection.jobs(areFinished: areFinished, after: nil, limit: .max, database).map(\.id)
    }
    let before = found.filter { number in id.map { number < $0 } ?? true }
    return JobIDPage(merging: [JobIDPage(ids: before)], limit: limit)
  }

  // MARK: Unfinished jobs

  /// The conditions of the indexes that contain the unfinished jobs of each state.
  static let parts: [(state: JobState, condition: String)] = [
    (.held, "state = 0"), (.scheduled, "state = 1"), (.waiting, "state = 2 AND crashes = 0 AND limit_key IS NULL"),
    (.waiting, "state = 2 AND crashes = 0 AND limit_key NOT NULL"), (.waiting, "state = 2 AND crashes > 0"),
    (.running, "state = 3"),
  ]

  private func unfinished() throws -> JobIDPage? {
    let parts = Self.parts.filter { filter.states?.contains($0.state) != false }.map(\.condition)
    guard !parts.isEmpty else { return nil }
    // If most jobs have the states, the newest ones are found soon.
    guard parts.count < Self.parts.count || filter.queues != nil, let ids = try few(parts) else {
      return try scan("headway_job")
    }
    return JobIDPage(merging: [JobIDPage(ids: ids)], limit: limit)
  }

  /// Finds the jobs by the indexes; returns nil if there are too many in the queues and states.
  private func few(_ parts: [String]) throws -> [JobID]? {
    let queues: [String?] = filter.queues.map { $0.sorted() } ?? [nil]
    var (found, count) = ([(condition: String, queue: String?)](), 0)
    for condition in parts {
      for queue in queues {
        let number = try self.count(condition, queue)
        count += number
        if count > fewCount { return nil }
        if number > 0 { found.append((condition, queue)) }
      }
    }
    return try found.flatMap { try ids($0.condition, $0.queue) }
  }

  private func count(_ condition: String, _ queue: String?) throws -> Int {
    let rows = try SQLStatement(
      """
      SELECT count(*) FROM (SELECT 1 FROM headway_job WHERE \(condition) \(queue == nil ? "" : "AND queue = ?1")
      LIMIT \(fewCount + 1))
      """, database)
    defer { rows.reset() }
    if let queue { rows.bind(queue, at: 1) }
    return try rows.step() ? rows.int(0) : 0
  }

  private func ids(_ condition: String, _ queue: String?) throws -> [JobID] {
    let rows = try SQLStatement(
      """
      SELECT id, \(matches), \(settings) FROM headway_job
      WHERE \(condition) AND id < ?\(parameter) \(queue == nil ? "" : "AND queue = ?\(parameter + 1)")
      """, database)
    selection.bind(to: rows)
    rows.bind(id?.rawValue ?? .max, at: Int32(parameter))
    if let queue { rows.bind(queue, at: Int32(parameter + 1)) }
    var ids: [JobID] = []
    try rows.forEachRow { if isMatch($0) { ids.append(JobID(rawValue: $0.int64(0))) } }
    return ids
  }

  // MARK: Finished jobs

  private func finished() throws -> [JobIDPage] {
    let states = Set([.succeeded, .failed, .cancelled] as [JobState]).filter { filter.states?.contains($0) != false }
    if states.contains(.succeeded) { return [try scan("headway_done")] }
    return try states.map { try scan("headway_done", where: "state > 4 AND state = \($0.rawValue)") }
  }

  // MARK: Rows

  /// Reads rows in the order of their numbers, newest first.
  private func scan(_ table: String, where condition: String = "true") throws -> JobIDPage {
    let rows = try SQLStatement(
      """
      SELECT id, \(matches), \(settings) FROM \(table) WHERE \(condition) AND id < ?\(parameter)
      ORDER BY id DESC LIMIT \(maxRowCount)
      """, database)
    defer { rows.reset() }
    selection.bind(to: rows)
    rows.bind(id?.rawValue ?? .max, at: Int32(parameter))
    var (page, count) = (JobIDPage(ids: []), 0)
    while try rows.step() {
      count += 1
      let number = JobID(rawValue: rows.int64(0))
      if isMatch(rows) { page.ids.append(number) }
      if page.ids.count > limit || count == maxRowCount {
        page.next = number
        break
      }
    }
    return page
  }

  private var parameter: Int { selection.nextParameter }

  /// Whether the row meets the condition, as SQL.
  private var matches: String { "(\(selection.condition)) IS TRUE" }

  /// The encoded settings, if the filter needs them, as SQL.
  private var settings: String { needsSettings ? "settings" : "NULL" }

  private var needsSettings: Bool { filter.tag != nil || filter.label != nil }

  private func isMatch(_ row: SQLStatement) -> Bool {
    guard row.int(1) != 0 else { return false }
    guard needsSettings else { return true }
    return (try? JobSettings(stored: row.isNull(2) ? nil : row.bytes(2))).map(filter.matchesText) ?? false
  }
}
#endif
