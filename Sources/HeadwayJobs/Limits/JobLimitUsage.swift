import Headway

/// A limit that running jobs use, at one moment.
public struct JobLimitUsage: Hashable, Sendable {
  /// The limit of the running job with the highest number.
  ///
  /// Its weight has no meaning.
  public let limit: JobLimit
  /// The number of running jobs with this limit.
  public private(set) var runningCount: Int
  /// The sum of the weights of these jobs.
  ///
  /// The tokens that the jobs have taken from a rate are not returned when the jobs end, so the next claim can find
  /// fewer tokens than this sum leaves.
  public private(set) var runningWeight: Int

  /// Creates the usage of a limit without running jobs.
  private init(_ limit: JobLimit) {
    (self.limit, runningCount, runningWeight) = (limit, 0, 0)
  }

  /// The maximum sum of the weights of running jobs; nil for a rate, which does not limit running jobs.
  public var maxRunningWeight: Int? { limit.slots.map { max(1, $0) } }

  /// Whether running jobs use all units, so that no other job of the key can begin.
  public var isReached: Bool { maxRunningWeight.map { runningWeight >= $0 } ?? false }

  /// Adds up the limits of running jobs.
  ///
  /// - Parameter jobs: The running jobs, by ascending number.
  /// - Returns: The usage of each limit. Reached limits precede all others. Within each part, limits with more running
  ///   jobs come before limits with fewer.
  static func usages(of jobs: [JobRecord]) -> [JobLimitUsage] {
    var usages: [String: JobLimitUsage] = [:]
    for job in jobs.reversed() {
      for limit in job.settings.limits ?? [] {
        usages[limit.storedKey, default: JobLimitUsage(limit)].add(limit)
      }
    }
    return usages.sorted { left, right in
      let (first, second) = (left.value, right.value)
      if first.isReached != second.isReached { return first.isReached }
      if first.runningCount != second.runningCount { return first.runningCount > second.runningCount }
      return first.limit.key == second.limit.key ? left.key < right.key : first.limit.key < second.limit.key
    }.map(\.value)
  }

  private mutating func add(_ limit: JobLimit) {
    runningCount += 1
    runningWeight += limit.units
  }
}

extension Jobs {
  /// The number of jobs that a store reads at a time.
  private static let limitPageSize = 1_000

  /// Returns the limits that running jobs use, and how many units of each.
  ///
  /// ```swift
  /// for usage in try await jobs.limitUsages() where usage.isReached {
  ///   print("\(usage.limit.key): \(usage.runningCount) jobs run")
  /// }
  /// ```
  ///
  /// A limit that no running job has is not in the list. Settings of queues are in ``Jobs/overview(countingTo:)``.
  ///
  /// - Parameter count: The maximum number of running jobs that are read, by ascending number; positive.
  /// - Returns: The usage of each limit. Reached limits precede all others. Within each part, limits with more running
  ///   jobs come before limits with fewer.
  /// - Throws: ``JobError``.
  /// - Complexity: O(*n*) in the number of running jobs, up to `count`.
  public func limitUsages(readingTo count: Int = 10_000) async throws -> [JobLimitUsage] {
    require(count > 0, "The running jobs of a store are read up to \(count): use a positive number.")
    var running: [JobRecord] = []
    while running.count < count {
      let size = min(Self.limitPageSize, count - running.count)
      let page = try await backend.jobs(JobFilter(states: [.running]), after: running.last?.id, limit: size)
      running += page
      if page.count < size { break }
    }
    return JobLimitUsage.usages(of: running)
  }
}
