import Headway

/// A page of the IDs of jobs, newest first.
public struct JobIDPage: Hashable, Sendable {
  /// The IDs, in descending order.
  public var ids: [JobID]
  /// Where the next page begins: pass it as the parameter `before`; nil if there are no further jobs.
  public var next: JobID?

  /// Creates a page.
  ///
  /// - Parameters:
  ///   - ids: The IDs, in descending order.
  ///   - next: Where the next page begins; nil if there are no further jobs.
  @_spi(JobStore) public init(ids: [JobID], next: JobID? = nil) {
    self.ids = ids
    self.next = next
  }

  /// Creates a page from the results of searches in several tables.
  ///
  /// - Parameters:
  ///   - pages: The result of each search. Each has all jobs of its table down to its `next`.
  ///   - limit: The maximum number of jobs.
  @_spi(JobStore) public init(merging pages: [JobIDPage], limit: Int) {
    // Below this number, a search has not found everything.
    let end = pages.compactMap(\.next).max()
    let found = pages.flatMap(\.ids).sorted(by: >).filter { id in end.map { id >= $0 } ?? true }
    ids = Array(found.prefix(limit))
    next = found.count > limit ? ids.last : end
  }
}

@_spi(JobStore) extension JobStoreBackend {
  /// Returns the IDs of jobs, newest first.
  ///
  /// - Parameters:
  ///   - filter: The jobs to find.
  ///   - id: Only jobs with smaller IDs are returned; nil for all.
  ///   - limit: The maximum number of jobs.
  /// - Returns: The IDs, in descending order.
  /// - Throws: ``JobError``.
  /// - Complexity: O(*n*) in the number of jobs that match the filter. Stores with many jobs have their own
  ///   implementation.
  public func ids(_ filter: JobFilter, before id: JobID?, limit: Int) async throws -> JobIDPage {
    let all = try await jobs(filter, after: nil, limit: .max).map(\.id)
    let found = all.filter { number in id.map { number < $0 } ?? true }
    return JobIDPage(merging: [JobIDPage(ids: found)], limit: limit)
  }
}

extension Jobs {
  /// Returns the IDs of jobs, newest first, without reading many other jobs.
  ///
  /// ```swift
  /// var end: JobID?
  /// repeat {
  ///   let page = try await jobs.ids(JobFilter(states: [.failed]), before: end)
  ///   print(page.ids)
  ///   end = page.next
  /// } while end != nil
  /// ```
  ///
  /// - Parameters:
  ///   - filter: The jobs to find.
  ///   - id: Only jobs with smaller IDs are returned; nil for all.
  ///   - limit: The maximum number of jobs; positive.
  /// - Returns: The IDs, in descending order. A page can have fewer than `limit` IDs, or none, even if there are more
  ///   jobs: ``JobIDPage/next`` continues the search.
  /// - Throws: ``JobError``.
  public func ids(
    _ filter: JobFilter = .all, before id: JobID? = nil, limit: Int = 1_000
  ) async throws -> JobIDPage {
    require(limit > 0, "Job numbers are read with the limit \(limit): use a positive number.")
    return try await backend.ids(filter, before: id, limit: limit)
  }
}
