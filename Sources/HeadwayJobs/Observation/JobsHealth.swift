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

    private var rank: Int { self == .good ? 0 : self == .warning ? 1 : 2 }

    /// Returns whether the left level is better.
    public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }
  }

  /// A check with its result.
  public struct Finding: Hashable, Codable, Sendable {
    /// The severity of the result.
    public var level: Level
    /// The subject of the check, for example `Workers`.
    public var name: String
    /// The result, in sentences.
    public var text: String

    /// Creates a finding.
    ///
    /// - Parameters:
    ///   - level: The severity of the result.
    ///   - name: The subject of the check.
    ///   - text: The result, in sentences.
    @_spi(JobStore) public init(level: Level, name: String, text: String) {
      self.level = level
      self.name = name
      self.text = text
    }
  }

  /// The results of all checks.
  public let findings: [Finding]

  /// Jobs are counted up to this number.
  fileprivate static let countLimit = 10_000
  /// The maximum number of running jobs that are checked.
  fileprivate static let maxRunningCount = 200
  /// How late a tick can be before its delay is a finding.
  private static let lateness = Duration.seconds(60)
  /// The clocks of a store and of this process can differ by this much.
  private static let clockDifference = Duration.seconds(5)
  /// How long a cancelled job can run, from its claim, before its run is a finding.
  private static let cancellation = Duration.seconds(60)
  /// The part of failed jobs that is a finding, and the number of ended jobs that this requires.
  private static let (maxFailedPart, minEndedCount) = (0.1, 10)

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - overview: The current state of the store.
  ///   - schedules: All schedules of the store.
  ///   - cancelled: The running jobs that were cancelled.
  ///   - clock: The time of this process.
  ///   - database: The findings of the store about its database.
  fileprivate init(
    _ overview: JobsOverview, _ schedules: [ScheduleRecord], cancelled: [JobRecord], clock: StoreTime,
    database: [Finding]
  ) {
    findings =
      [
        Self.workers(overview), Self.queues(overview), Self.kinds(overview), Self.paused(overview),
        Self.failures(overview), Self.stuck(cancelled, overview.time), Self.schedules(schedules, overview),
        Self.clock(overview.time, clock),
      ] + database
  }

  /// The level of the worst finding.
  public var level: Level { findings.map(\.level).max() ?? .good }

  private static func workers(_ overview: JobsOverview) -> Finding {
    let workers = overview.snapshot.workers
    let working = workers.count(where: \.isWorking)
    let dead = workers.count { !$0.isAlive }
    let unfinished = overview.snapshot.queues.contains { queue in
      queue.counts.byState.contains { !$0.key.isFinished && $0.value > 0 }
    }
    if working == 0 {
      let text = "No worker is running."
      return Finding(level: unfinished ? .bad : .warning, name: "Workers", text: text)
    }
    if dead > 0 {
      let text = "\(Readable.count(dead, "worker")) died, and the living workers have not yet taken over the jobs."
      return Finding(level: .warning, name: "Workers", text: text)
    }
    return Finding(level: .good, name: "Workers", text: "\(Readable.count(working, "worker")) running.")
  }

  private static func queues(_ overview: JobsOverview) -> Finding {
    let workers = overview.snapshot.workers.filter(\.isWorking)
    let alone = overview.snapshot.queues.filter { queue in
      queue.counts[.waiting] > 0 && !workers.contains { $0.description.serves(queue.name) }
    }
    guard let first = alone.first else {
      return Finding(level: .good, name: "Queues", text: "A worker serves each queue with waiting jobs.")
    }
    let others = alone.count > 1 ? " and \(Readable.count(alone.count - 1, "other queue"))" : ""
    return Finding(
      level: .bad, name: "Queues", text: "Jobs wait in “\(first.name)”\(others), but no worker serves the queue.")
  }

  private static func kinds(_ overview: JobsOverview) -> Finding {
    let workers = overview.snapshot.workers.filter(\.isWorking)
    var unknown: [String] = []
    for queue in overview.snapshot.queues {
      let serving = workers.filter { $0.description.serves(queue.name) }
      guard !serving.isEmpty else { continue }
      for jobs in queue.waiting where !serving.contains(where: { $0.knows(jobs.kind, version: jobs.version) }) {
        unknown.append("“\(jobs.kind)”, version \(jobs.version)")
      }
    }
    guard let first = unknown.first else {
      return Finding(level: .good, name: "Kinds", text: "The workers support the kinds of all waiting jobs.")
    }
    let others = unknown.count > 1 ? " and \(Readable.count(unknown.count - 1, "other kind"))" : ""
    return Finding(
      level: .bad, name: "Kinds", text: "No running worker supports \(first)\(others), so these jobs can't run.")
  }

  private static func paused(_ overview: JobsOverview) -> Finding {
    let paused = overview.snapshot.queues.filter(\.counts.isPaused).map { "“\($0.name)”" }
    return paused.isEmpty
      ? Finding(level: .good, name: "Pauses", text: "No queue is paused.")
      : Finding(level: .warning, name: "Pauses", text: "Paused: \(paused.joined(separator: ", ")).")
  }

  private static func failures(_ overview: JobsOverview) -> Finding {
    let failed = overview.endings.count { $0.state == .failed }
    let part = overview.endings.isEmpty ? 0 : Double(failed) / Double(overview.endings.count)
    let isMuch = overview.endings.count >= minEndedCount && part > maxFailedPart
    let text =
      overview.endings.isEmpty
      ? "No job has ended in the last hour."
      : "\(Readable.percent(part)) of the jobs that ended in the last hour have failed (\(Readable.number(failed)) of "
        + "\(Readable.number(overview.endings.count))\(overview.endings.count >= overview.countLimit ? "+" : ""))."
    return Finding(level: isMuch ? .bad : .good, name: "Failures", text: text)
  }

  private static func stuck(_ cancelled: [JobRecord], _ now: StoreTime) -> Finding {
    let stuck = cancelled.filter { job in
      let time = job.claimedTime ?? job.enqueuedTime
      return job.isCancelRequested && time + cancellation < now
    }
    guard let first = stuck.first else {
      return Finding(level: .good, name: "Cancellation", text: "No cancelled job continues to run.")
    }
    return Finding(
      level: .warning, name: "Cancellation",
      text: "\(Readable.count(stuck.count, "job")) continue\(stuck.count == 1 ? "s" : "") to run after being "
        + "cancelled, for example job \(first.id). Abandon such a job if its code does not return.")
  }

  private static func schedules(_ schedules: [ScheduleRecord], _ overview: JobsOverview) -> Finding {
    let late = schedules.filter { $0.nextTickTime.map { $0 + lateness < overview.time } ?? false }
    guard let first = late.first else {
      return Finding(level: .good, name: "Schedules", text: "No tick of a schedule is late.")
    }
    return Finding(
      level: .bad, name: "Schedules",
      text: "\(Readable.count(late.count, "schedule")) late, for example “\(first.name)”. Workers add the jobs of "
        + "schedules, so check that one is running.")
  }

  private static func clock(_ store: StoreTime, _ own: StoreTime) -> Finding {
    let difference = store < own ? own - store : store - own
    return difference > clockDifference
      ? Finding(
        level: .warning, name: "Clock",
        text: "The store's clock differs from this machine's clock by \(Readable.duration(difference)).")
      : Finding(level: .good, name: "Clock", text: "The store's clock agrees with this machine's clock.")
  }
}

extension Jobs {
  /// Checks the store's workers, queues, schedules, clocks and database.
  ///
  /// Use the result for a page about the health of a service, or for an alert. It reads the store by index.
  ///
  /// ```swift
  /// let health = try await jobs.health()
  /// for finding in health.findings where finding.level == .bad { print(finding.text) }
  /// ```
  ///
  /// - Parameter measuresCommit: Whether to commit a small change, in order to measure how long that takes.
  /// - Returns: The results of the checks.
  /// - Throws: ``JobError`` if the store can't be read.
  public func health(measuringCommit measuresCommit: Bool = false) async throws -> JobsHealth {
    // By number, because a search for records can read all jobs.
    let running = try await ids(JobFilter(states: [.running]), limit: JobsHealth.maxRunningCount).ids
    let records = running.isEmpty ? [] : try await jobs(JobFilter(ids: running), limit: running.count)
    return JobsHealth(
      try await overview(countingTo: JobsHealth.countLimit), try await schedules(),
      cancelled: records.filter(\.isCancelRequested), clock: .now(),
      database: try await backend.findings(measuringCommit: measuresCommit))
  }
}

@_spi(JobStore) extension JobStoreBackend {
  /// Returns nothing.
  public func findings(measuringCommit measuresCommit: Bool) async throws -> [JobsHealth.Finding] { [] }
}

@_spi(JobStore) extension JobsHealth.Finding {
  /// Creates a finding without a problem.
  public static func good(_ name: String, _ text: String) -> Self { Self(level: .good, name: name, text: text) }

  /// Creates a finding that needs attention.
  public static func warning(_ name: String, _ text: String) -> Self { Self(level: .warning, name: name, text: text) }

  /// Creates a finding about jobs that wait, fail, or could be lost.
  public static func bad(_ name: String, _ text: String) -> Self { Self(level: .bad, name: name, text: text) }
}

extension JobsHealth.Finding {
  /// A commit that takes longer than this is a finding.
  private static let slowCommit = Duration.milliseconds(100)

  /// Creates the finding about the time of a commit.
  ///
  /// - Parameter time: How long a commit took.
  @_spi(JobStore) public init(commitTook time: Duration) {
    let isSlow = time > Self.slowCommit
    self.init(
      level: isSlow ? .warning : .good, name: "Commit",
      text: "A commit took \(Readable.duration(time)) to become durable."
        + (isSlow ? " Check the disk, or add jobs in batches." : ""))
  }
}
