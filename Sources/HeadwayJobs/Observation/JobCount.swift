import Headway

/// The number of jobs that match a filter, as far as a bounded search has counted them.
public struct JobCount: Hashable, Sendable {
  /// The number of jobs that were counted.
  public var count: Int
  /// Whether there are no further jobs.
  ///
  /// If not, there might be more: the search has reached its limit, or has ended before it has examined all jobs.
  public var isExact: Bool

  /// Creates a number of jobs.
  ///
  /// - Parameters:
  ///   - count: The number of jobs that were counted.
  ///   - isExact: Whether there are no further jobs.
  public init(_ count: Int, isExact: Bool) {
    self.count = count
    self.isExact = isExact
  }
}

extension Jobs {
  /// Counts jobs up to a limit, without reading many other jobs.
  ///
  /// ```swift
  /// let retrying = try await jobs.count(JobFilter(states: [.retrying]))
  /// print("\(retrying.count)\(retrying.isExact ? "" : " or more") jobs retry.")
  /// ```
  ///
  /// - Parameters:
  ///   - filter: The jobs to count.
  ///   - limit: The number at which the search ends; positive.
  /// - Returns: The number of jobs, at most `limit`. A search that finds few jobs among many others also ends early.
  ///   The number can then be too small, and is not exact.
  /// - Throws: ``JobError``.
  /// - Complexity: O(*n*) in the limit. A store with many jobs also examines a limited number of other jobs.
  public func count(_ filter: JobFilter = .all, upTo limit: Int = 10_000) async throws -> JobCount {
    require(limit > 0, "Jobs are counted up to \(limit): use a positive number.")
    let page = try await backend.ids(filter, before: nil, limit: limit)
    return JobCount(page.ids.count, isExact: page.next == nil)
  }
}
