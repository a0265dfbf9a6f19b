/// What the checks of a store's health compare.
///
/// Everything is read by index, and in a bounded number of rows. The extensions contain the checks by subject. Each check
/// returns its findings, worst first: one that is good, or one for each kind, queue or schedule with a problem.
package struct HealthFacts: Sendable {
  let options: JobsHealth.Options
  package let overview: JobsOverview
  package let rates: RecentRates
  let schedules: [ScheduleRecord]
  /// The running jobs that were cancelled; a part of them if many jobs run.
  let cancelled: [JobRecord]
  /// The latest jobs that have failed in the last hour.
  let failed: [JobRecord]
  /// Jobs that wait for another attempt, one of each kind with failing attempts.
  let retrying: [JobRecord]
  /// The time of this process.
  let clock: StoreTime
  /// The findings of the store about its database.
  let database: [JobsHealth.Finding]

  /// Jobs are counted up to this number.
  static let countLimit = 10_000
  /// The maximum number of running jobs that are checked.
  private static let maxRunningCount = 200
  /// The maximum number of failed jobs that are read.
  private static let maxFailedCount = 20
  /// The maximum number of findings of one check.
  private static let maxFindingCount = 5

  package init(_ jobs: Jobs, _ options: JobsHealth.Options, measuringCommit measuresCommit: Bool) async throws {
    self.options = options
    overview = try await jobs.overview(countingTo: Self.countLimit)
    rates = RecentRates(try await jobs.statistics(over: .hour))
    schedules = try await jobs.schedules()
    // By number, because a search for records can read all jobs.
    let running = try await jobs.ids(JobFilter(states: [.running]), limit: Self.maxRunningCount).ids
    cancelled = try await jobs.records(running).filter(\.isCancelRequested)
    let failures = overview.endings.lazy.filter { $0.state == .failed }.prefix(Self.maxFailedCount).map(\.id)
    failed = try await jobs.records(Array(failures))
    var ids: [JobID] = []
    for failing in rates.failing(options).prefix(Self.maxFindingCount) {
      ids += try await jobs.ids(JobFilter(states: [.retrying], kinds: [failing.kind]), limit: 1).ids
    }
    retrying = try await jobs.records(ids)
    clock = .now()
    database = try await jobs.backend.findings(measuringCommit: measuresCommit)
  }

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
  func findings<Problem>(
    _ problems: [Problem], _ noun: String, else good: JobsHealth.Finding, _ finding: (Problem) -> JobsHealth.Finding
  ) -> [JobsHealth.Finding] {
    guard !problems.isEmpty else { return [good] }
    var findings = problems.prefix(Self.maxFindingCount).map(finding)
    let rest = problems.count - findings.count
    if rest > 0 { findings[findings.count - 1].text += " The same applies to \(Readable.count(rest, "other \(noun)"))." }
    return findings
  }
}

extension Jobs {
  /// Returns jobs with their records, in one read by number.
  fileprivate func records(_ ids: [JobID]) async throws -> [JobRecord] {
    ids.isEmpty ? [] : try await jobs(JobFilter(ids: ids), limit: ids.count)
  }
}
