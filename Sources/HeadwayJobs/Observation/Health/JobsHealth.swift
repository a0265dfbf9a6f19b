/// The health of a store and its workers, as the results of checks.
public struct JobsHealth: Hashable, Codable, Sendable {
  /// The severity of a finding.
  public enum Level: String, CaseIterable, Codable, Comparable, Sendable {
    /// There is no problem.
    case good
    /// Jobs run, but the problem needs attention soon.
    case warning
    /// Jobs wait or fail, or could be lost.
    case bad

    /// The position in the order from good to bad: 0, 1, or 2.
    public var rank: Int { self == .good ? 0 : self == .warning ? 1 : 2 }

    /// Returns whether the left level is better.
    public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }
  }

  /// The results of all checks.
  public let findings: [Finding]

  /// Creates a report.
  ///
  /// - Parameter findings: The results of all checks.
  @_spi(JobStore) public init(findings: [Finding]) { self.findings = findings }

  /// The level of the worst finding.
  public var level: Level { findings.map(\.level).max() ?? .good }

  /// The findings that are not good, worst first.
  public var problems: [Finding] {
    Level.allCases.reversed().filter { $0 > .good }.flatMap { level in findings.filter { $0.level == level } }
  }
}

extension Jobs {
  /// Checks the store's workers, queues, attempts, schedules, clocks and database.
  ///
  /// Use the result for a page about the health of a service, or for an alert. It reads the store by index, and counts
  /// only up to a limit.
  ///
  /// ```swift
  /// let health = try await jobs.health()
  /// for problem in health.problems { print(problem.text) }
  /// ```
  ///
  /// - Parameters:
  ///   - options: The limits beyond which a result is a problem.
  ///   - measuresCommit: Whether to commit a small change, in order to measure how long that takes.
  /// - Returns: The results of the checks.
  /// - Throws: ``JobError`` if the store can't be read.
  /// - Precondition: The part in the options is from 0 to 1, and no value is negative.
  public func health(
    _ options: JobsHealth.Options = JobsHealth.Options(), measuringCommit measuresCommit: Bool = false
  ) async throws -> JobsHealth {
    options.check()
    let reading = try await StoreReading(backend)
    return try await HealthFacts(store.access, options, measuringCommit: measuresCommit, reading).health
  }

  /// Returns the results of the checks, with numbers that the caller has just read.
  package func health(_ options: JobsHealth.Options, _ reading: StoreReading) async throws -> JobsHealth {
    options.check()
    return try await HealthFacts(store.access, options, measuringCommit: false, reading).health
  }
}

@_spi(JobStore) extension JobStoreBackend {
  /// Returns nothing.
  public func findings(measuringCommit measuresCommit: Bool) async throws -> [JobsHealth.Finding] { [] }
}
