/// Finds the newest jobs that match a filter and reads a limited number of rows.
///
/// If few jobs have the requested states, or have ended in the requested time, indexes find them. Otherwise, rows are
/// read in ID order, up to ``JobSelection/maxRowCount``.
struct JobSearch<Reader: StoreReader> {
  private let selection: JobSelection<Reader>
  private let id: JobID?
  private let limit: Int

  /// The maximum number of jobs that are found by an index that does not have the order of their numbers.
  private var fewCount: Int { filter.payload == nil ? 5_000 : 1_000 }
  private var filter: JobFilter { selection.filter }
  private var reader: Reader { selection.reader }
  private var end: Int64 { id?.rawValue ?? .max }

  init(_ filter: JobFilter, before id: JobID?, limit: Int, _ reader: Reader) {
    (selection, self.id, self.limit) = (JobSelection(filter, reader), id, limit)
  }

  func page() throws -> JobIDPage {
    guard limit > 0, !selection.isEmpty else { return JobIDPage(ids: [], next: limit > 0 ? nil : id) }
    reader.preferIndexes()
    if selection.isIndexed {
      let found = try selection.all().map(\.id).filter { $0.rawValue < end }
      return JobIDPage(merging: [JobIDPage(ids: found)], limit: limit)
    }
    if filter.errorGroup != nil { return JobIDPage(merging: try selection.tables.map(scan), limit: limit) }
    return JobIDPage(merging: try [unfinished()].compactMap(\.self) + finished(), limit: limit)
  }

  private func unfinished() throws -> JobIDPage? {
    guard let table = selection.unfinishedTable else { return nil }
    let parts = JobPart.allCases.filter { selection.unfinishedStates.contains($0.state) }
    // If most jobs of the table have the states, the newest ones are found soon.
    let isSoon = parts.count == JobPart.allCases.count || parts == [.retrying]
    guard !isSoon || filter.queues != nil else { return try scan(table) }
    var statement = StoreStatement("")
    let queues = JobSelection(JobFilter(queues: filter.queues), reader).addCondition(to: &statement, for: table)
    return try few(parts.map { "\($0.condition) AND \(queues)" }, of: table, &statement) ?? scan(table)
  }

  private func finished() throws -> [JobIDPage] {
    if filter.hasEndTime {
      var statement = StoreStatement("")
      let time = selection.addEndTime(to: &statement).joined(separator: " AND ")
      if let page = try few([time], of: .finished, &statement) { return [page] }
    }
    return try selection.finishedTables.map { try scan($0) }
  }

  /// Finds the jobs by the indexes of the parts of a table; returns nil if the parts have too many jobs.
  private func few(
    _ parts: [String], of table: SearchSQL.Table, _ statement: inout StoreStatement
  ) throws -> JobIDPage? {
    let condition = selection.addCondition(to: &statement, for: table)
    let end = statement.add(.integer(end))
    // The columns that the condition reads.
    let columns = "id, queue, kind, state, enqueued, settings" + (table.areFinished ? ", finished" : "")
    statement.sql = SearchSQL.few(
      parts, of: table, columns + (filter.payload == nil ? "" : ", payload"),
      limit: statement.add(.number(fewCount + 1)), where: "\(condition) AND id < \(end)")
    var (ids, count) = ([JobID](), 0)
    try reader.forEachRow(statement) { row in
      count = row.int(2)
      if !row.isNull(0), selection.isMatch(row) { ids.append(row.id(0)) }
    }
    return count > fewCount ? nil : JobIDPage(merging: [JobIDPage(ids: ids)], limit: limit)
  }

  /// Reads rows ordered by ID, newest first.
  private func scan(_ table: SearchSQL.Table) throws -> JobIDPage {
    let maxRowCount = selection.maxRowCount
    let window = StoreStatement(SearchSQL.windowBefore(table), .integer(end), .number(maxRowCount))
    guard let ends = try reader.rows(window, { (last: $0.optional(0, $0.int64), count: $0.int(1)) }).first,
      let last = ends.last
    else { return JobIDPage(ids: []) }
    // The strings of a filter are compared here, so any number of rows might be needed.
    let maximum = selection.needsSettings ? maxRowCount : min(limit, maxRowCount) + 1
    var statement = StoreStatement("", .integer(end), .integer(last), .number(maximum))
    let condition = selection.addCondition(to: &statement, for: table)
    statement.sql = SearchSQL.newest(selection.needsSettings ? "id, settings" : "id", table, where: condition)
    var found: [JobID] = []
    try reader.forEachRow(statement) { row in
      if found.count <= limit, selection.isMatch(row) { found.append(row.id(0)) }
    }
    let next = ends.count == maxRowCount ? JobID(rawValue: last) : nil
    return JobIDPage(ids: found, next: found.count > limit ? found.last : next)
  }
}
