#if Dashboard
@_spi(JobStore) import HeadwayJobs
import Synchronization

/// The health of a store, which all pages share.
///
/// The checks run at most once at a time and about once per second, no matter how many pages are read.
final class HealthWatch: Sendable {
  /// The result of the checks.
  struct Report: Sendable {
    let health: Result<JobsHealth, any Error>
    let time: ContinuousClock.Instant
    /// How long the checks took.
    let duration: Duration
  }

  /// What a page has read of the store, and when.
  struct Reading: Sendable {
    let store: StoreReading
    /// The number of changes by this dashboard before the page read the store.
    fileprivate let changeCount: Int
  }

  private struct State {
    var report: Report?
    /// The checks that are running; nil if there are none, or if they began before a change.
    var running: Task<Report, Never>?
    /// The number of changes by this dashboard.
    var changeCount = 0
  }

  private let jobs: Jobs
  private let options: JobsHealth.Options
  private let state = Mutex(State())

  /// A report that is older than this is replaced.
  static let freshAge = Duration.seconds(1)
  /// A report that is older than this is not shown.
  static let maxAge = Duration.seconds(5)

  init(_ jobs: Jobs, _ options: JobsHealth.Options) { (self.jobs, self.options) = (jobs, options) }

  /// Reads what a page shows and the checks compare.
  func read() async throws -> Reading {
    let changeCount = state.withLock { $0.changeCount }
    return Reading(store: try await StoreReading(jobs.backend), changeCount: changeCount)
  }

  /// Returns the latest report, and begins new checks if it is not fresh.
  ///
  /// - Parameters:
  ///   - maxAge: The maximum age of the report. If there is no such report, the function waits for the checks.
  ///   - reading: What the page has just read, for new checks. It is not used if this dashboard has changed something
  ///     since.
  /// - Returns: The result of the checks.
  func report(atMost maxAge: Duration = maxAge, using reading: Reading? = nil) async -> Report {
    let (report, task) = state.withLock { state -> (Report?, Task<Report, Never>?) in
      let age = state.report.map { .now - $0.time } ?? Self.maxAge
      if let report = state.report, age < min(Self.freshAge, maxAge) { return (report, nil) }
      let task = state.running ?? check(state.changeCount, reading)
      state.running = task
      return (age < maxAge ? state.report : nil, task)
    }
    if let report { return report }
    guard let task else { return await check(0, nil).value }
    return await task.value
  }

  /// Forgets the report, because this dashboard has changed something.
  func forget() {
    let former = state.withLock { state in
      defer { (state.report, state.running) = (nil, nil) }
      state.changeCount += 1
      return (state.report, state.running)
    }
    withExtendedLifetime(former) {}
  }

  /// Begins the checks.
  private func check(_ changeCount: Int, _ reading: Reading?) -> Task<Report, Never> {
    let reading = reading?.changeCount == changeCount ? reading?.store : nil
    return Task.detached { [self] in
      let start = ContinuousClock.now
      let health: Result<JobsHealth, any Error>
      do {
        let reading = if let reading { reading } else { try await StoreReading(jobs.backend) }
        health = .success(try await jobs.health(options, reading))
      } catch {
        health = .failure(error)
      }
      let report = Report(health: health, time: .now, duration: .now - start)
      let former = state.withLock { state -> Report? in
        guard state.changeCount == changeCount else { return nil }
        defer { (state.report, state.running) = (report, nil) }
        return state.report
      }
      return withExtendedLifetime(former) { report }
    }
  }
}
#endif
