#if Dashboard
import HeadwayJobs

/// Finds the jobs of a list, newest first.
///
/// A search by payload finds only text that a page shows. Otherwise, a person could guess hidden values letter by
/// letter. Where a page of jobs ends does not depend on hidden values either.
struct ListSearch: Sendable {
  let jobs: Jobs
  let redactedKeys: Set<String>

  /// The number of jobs whose payloads are compared together.
  private static let payloadPageSize = 100

  init(_ jobs: Jobs, hiding redactedKeys: Set<String>) { (self.jobs, self.redactedKeys) = (jobs, redactedKeys) }

  /// Returns the next jobs, and where the jobs after them begin.
  ///
  /// - Parameters:
  ///   - filter: The jobs to find.
  ///   - id: Only jobs with smaller IDs are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  /// - Throws: ``JobError``.
  /// - Returns: The jobs; nil for the next ones if there are no further jobs.
  func page(_ filter: JobFilter, before id: JobID? = nil, limit: Int) async throws -> (jobs: [JobRecord], next: JobID?)
  {
    guard let text = filter.payload else {
      let page = try await jobs.ids(filter, before: id, limit: limit)
      return (try await records(page.ids), page.next)
    }
    // The store also finds hidden values. With a limit, it would stop after a number of them.
    let page = try await jobs.ids(filter, before: id, limit: .max)
    var (shown, rest) = ([JobRecord](), page.ids[...])
    while !rest.isEmpty, shown.count <= limit {
      let ids = Array(rest.prefix(Self.payloadPageSize))
      rest = rest.dropFirst(ids.count)
      shown += try await records(ids).filter { shows(text, $0) }
    }
    guard shown.count > limit else { return (shown, page.next) }
    return (Array(shown.prefix(limit)), shown[limit - 1].id)
  }

  /// Returns jobs, newest first, except deleted ones.
  private func records(_ ids: [JobID]) async throws -> [JobRecord] {
    guard !ids.isEmpty else { return [] }
    return try await jobs.jobs(JobFilter(ids: ids), limit: ids.count).sorted { $0.id > $1.id }
  }

  private func shows(_ text: String, _ job: JobRecord) -> Bool {
    JSONText.withoutSecrets(job.payload.bytes, hiding: redactedKeys).contains(text.utf8)
  }

  /// Counts the jobs of a filter, up to a limit.
  func count(_ filter: JobFilter, upTo limit: Int) async throws -> JobCount {
    guard filter.payload != nil else { return try await jobs.count(filter, upTo: limit) }
    let page = try await page(filter, limit: Self.payloadPageSize)
    return JobCount(page.jobs.count, isExact: page.next == nil)
  }

  /// Returns a filter without a condition for payloads that selects the same jobs.
  func resolved(_ filter: JobFilter) async throws -> JobFilter {
    guard filter.payload != nil else { return filter }
    var (ids, end) = ([JobID](), JobID?.none)
    repeat {
      let page = try await page(filter, before: end, limit: Self.payloadPageSize)
      ids += page.jobs.map(\.id)
      end = page.next
    } while end != nil
    var resolved = filter
    (resolved.ids, resolved.payload) = (ids, nil)
    return resolved
  }
}
#endif
