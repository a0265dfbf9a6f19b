/// What the checks of a store's health compare.
///
/// Everything is read by index, and in a bounded number of rows. The extensions contain the checks by subject. Each
/// check returns its findings, worst first: one that is good, or one for each kind, queue or schedule with a problem.
package struct HealthFacts: Sendable {
  let options: JobsHealth.Options
  package let overview: JobsOverview
  package let rates: RecentRates
  let schedules: [ScheduleRecord]
  /// The running jobs that were cancelled; a part of them if many jobs run.
  let cancelled: [JobRecord]
  /// The latest jobs that have failed in the last hour.
  let failed: [JobRecord]
  /// Some jobs that wait for another attempt, with at least one of each kind whose attempts fail.
  let retrying: [JobRecord]
  /// The groups of failed attempts; none if no problem is about errors.
  let errors: [JobErrorGroup]
  /// The number of jobs that wait for another attempt after a muted error, up to the limit.
  let mutedRetryCount: Int
  /// The time of this process.
  let clock: StoreTime
  /// The findings of the store about its database.
  let database: [JobsHealth.Finding]

  /// Jobs are counted up to this number.
  package static let countLimit = 10_000
  /// The maximum number of running jobs that are checked.
  private static let maxRunningCount = 200
  /// The maximum number of failed jobs that are read, and of jobs that wait for another attempt.
  private static let (maxFailedCount, maxRetryingCount) = (20, 20)
  /// The maximum number of findings of one check.
  private static let maxFindingCount = 5

  package var health: JobsHealth {
    JobsHealth(
      findings: workers + queues + kinds + attempts + failures + crashes + retries + waits + growth + room + paused
        + ticks + gaps + cancellation + [clockFinding] + database)
  }

  /// Returns one finding for each of the first few problems, and states in the last one how many others there are.
  ///
  /// - Parameters:
  ///   - problems: The problems, worst first.
  ///   - noun: The subject of a problem, for example `queue`.
  ///   - good: The finding if there is no problem.
  ///   - finding: Returns the finding about a problem.
  /// - Returns: At most ``maxFindingCount`` findings.
  func findings<Problem>(
    _ problems: [Problem], _ noun: String, else good: JobsHealth.Finding, _ finding: (Problem) -> JobsHealth.Finding
  ) -> [JobsHealth.Finding] {
    guard !problems.isEmpty else { return [good] }
    var findings = problems.prefix(Self.maxFindingCount).map(finding)
    let rest = problems.count - findings.count
    if rest > 0 {
      findings[findings.count - 1].text += " The same applies to \(Readable.count(rest, "other \(noun)"))."
    }
    return findings
  }
}

extension HealthFacts {
  /// Reads the facts of a store.
  ///
  /// - Parameters:
  ///   - access: The access to the store.
  ///   - options: The limits beyond which a result is a problem.
  ///   - measuresCommit: Whether to commit a small change, in order to measure how long that takes.
  ///   - reading: The numbers that the caller has just read.
  /// - Throws: ``JobError``.
  package init(
    _ access: JobStoreAccess, _ options: JobsHealth.Options, measuringCommit measuresCommit: Bool,
    _ reading: StoreReading
  ) async throws {
    let store = access.backend
    self.options = options
    (overview, clock) = (reading.overview, reading.clock)
    rates = RecentRates(reading.statistics, areKnown: store.keepsStatistics)
    schedules = try await store.schedules()
    // By number, because a search for records can read all jobs.
    let running = try await store.ids(JobFilter(states: [.running]), Self.maxRunningCount)
    cancelled = try await store.records(running).filter(\.isCancelRequested)
    let begin = overview.time + (.zero - JobsOverview.endingsInterval)
    failed = try await store.records(Array(overview.latestFailures.prefix(Self.maxFailedCount)))
      .filter { $0.finishedTime.map { $0 > begin } ?? false }
    var ids = Set(try await store.ids(JobFilter(states: [.retrying]), Self.maxRetryingCount))
    for failing in rates.failing(options).prefix(Self.maxFindingCount) {
      ids.formUnion(try await store.ids(JobFilter(states: [.retrying], kinds: [failing.kind]), 1))
    }
    retrying = try await store.records(Array(ids))
    errors = failed.isEmpty && ids.isEmpty && rates.failing(options).isEmpty ? [] : try await store.errorGroups(nil)
    let muted = errors.filter { $0.mute != nil }.map(\.id)
    // If many groups are muted, the jobs of each are counted less far.
    let limit = min(Self.countLimit, max(1, 10 * Self.countLimit / max(1, muted.count)))
    let counts = muted.isEmpty ? [:] : try await store.jobCounts(ofErrors: muted, upTo: limit)
    mutedRetryCount = counts.values.reduce(0) { $0 + $1.retrying }
    database = try await store.findings(measuringCommit: measuresCommit)
  }
}

extension JobStoreBackend {
  /// Returns the numbers of some jobs, without reading many others.
  fileprivate func ids(_ filter: JobFilter, _ limit: Int) async throws -> [JobID] {
    try await ids(filter, before: nil, limit: limit).ids
  }

  /// Returns jobs with their records, in one read by number.
  fileprivate func records(_ ids: [JobID]) async throws -> [JobRecord] {
    ids.isEmpty ? [] : try await jobs(JobFilter(ids: ids), after: nil, limit: ids.count)
  }
}
