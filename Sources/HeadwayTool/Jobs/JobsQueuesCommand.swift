#if Jobs
import ArgumentParser
import HeadwayJobs

/// The commands for the queues of a store.
struct JobsQueuesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queues", abstract: "List, pause, and resume queues, change their settings, and list limits.",
    discussion: "Without a subcommand, the queues are listed.",
    subcommands: [
      JobsQueuesListCommand.self, ChangeByNameCommand<SetQueue>.self, ChangeByNameCommand<PauseQueue>.self,
      ChangeByNameCommand<ResumeQueue>.self, JobsLimitsCommand.self,
    ], defaultSubcommand: JobsQueuesListCommand.self)
}

struct JobsQueuesListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the queues, with their unfinished jobs and their settings.",
    discussion: """
      Queues are listed if they have unfinished jobs or settings, or are paused. Jobs are counted up to \(countLimit), \
      or less far if many queues have many jobs. 'headway jobs status' counts all jobs.
      """)

  private static let countLimit = 10_000
  private static let states = JobState.allCases.filter { !$0.isFinished }

  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let overview = try await jobs.overview(countingTo: Self.countLimit)
      guard !options.json else {
        for queue in overview.snapshot.queues {
          let object = JobsJSON.Queue(queue, counting: Self.states, at: overview.time)
          StandardStream.output.writeLine(JSONEvent.line(object))
        }
        return
      }
      let titles =
        ["queue"] + Self.states.map(\.name) + ["max running", "max pending", "max failures", "aging", ""]
      let rows = overview.snapshot.queues.map { Self.row($0, overview) }
      for line in rows.isEmpty ? ["No queues."] : JobText.table(titles, rows) {
        StandardStream.output.writeLine(line)
      }
    }
  }

  private static func row(_ queue: JobQueueSnapshot, _ overview: JobsOverview) -> [String] {
    let (counts, settings) = (queue.counts, queue.counts.settings)
    let numbers = states.map { state in
      let count = overview.count(of: state, in: queue)
      return "\(count.isExact ? "" : "> ")\(count.count)"
    }
    let maxima = [settings.maxRunningJobCount, settings.maxPendingJobCount, settings.maxFailureCount]
    let aging = settings.agingInterval.map(JobText.duration)
    let failures = counts.failureCount == 0 ? "" : "\(JobText.count(counts.failureCount, "failure")) in a row"
    let notes = [counts.isPaused ? "paused" : "", failures].filter { !$0.isEmpty }
    return [queue.name] + numbers + maxima.map { $0.map { "\($0)" } ?? "-" } + [aging ?? "-"]
      + [notes.joined(separator: ", ")]
  }
}

/// A change of queues.
protocol QueueChange: ChangeByName {}

extension QueueChange {
  static var help: String { "The names of the queues." }
}

struct PauseQueue: QueueChange {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Stop all workers from claiming jobs of queues.",
    discussion: "Running jobs continue, and jobs can still be added.")

  func apply(to name: String, in jobs: Jobs, onChange: (JobsJSON.ChangedByName, String) -> Void) async throws {
    let changed = try await jobs.perform(.setPaused(queue: name, true))
    onChange(
      JobsJSON.ChangedByName(queue: name, change: "pause", changed: changed),
      "The queue \(name) \(changed > 0 ? "is paused" : "was already paused").")
  }
}

struct ResumeQueue: QueueChange {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Let workers claim jobs of paused queues again.")

  func apply(to name: String, in jobs: Jobs, onChange: (JobsJSON.ChangedByName, String) -> Void) async throws {
    let changed = try await jobs.perform(.setPaused(queue: name, false))
    onChange(
      JobsJSON.ChangedByName(queue: name, change: "resume", changed: changed),
      "The queue \(name) \(changed > 0 ? "is resumed" : "was not paused").")
  }
}

struct SetQueue: QueueChange {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Change settings of queues, for all workers and programs.",
    discussion: "The value none removes a setting. Settings without an option remain as they are.")

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The maximum number of running jobs. With 0, no job is started.", valueName: "count"),
    transform: { try QueueSetting.count($0, from: 0) })
  var maxRunning: QueueSetting<Int>?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "A queue with this many scheduled, retrying and waiting jobs is full, so enqueueing waits or fails.",
      valueName: "count"),
    transform: { try QueueSetting.count($0, from: 1) })
  var maxPending: QueueSetting<Int>?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("A queue is paused after this many failures in a row.", valueName: "count"),
    transform: { try QueueSetting.count($0, from: 1) })
  var maxFailures: QueueSetting<Int>?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Waiting jobs rise by one priority after each interval, such as 10m or 1h30m.", valueName: "duration"),
    transform: QueueSetting.init(duration:))
  var aging: QueueSetting<Duration>?

  func validate() throws {
    if changes.isEmpty {
      throw ValidationError("Specify a setting: --max-running, --max-pending, --max-failures, or --aging.")
    }
  }

  func apply(to name: String, in jobs: Jobs, onChange: (JobsJSON.ChangedByName, String) -> Void) async throws {
    for (change, setting, text) in changes {
      let changed = try await jobs.perform(.configure(queue: name, change))
      onChange(
        JobsJSON.ChangedByName(queue: name, change: setting, changed: changed), "The queue \(name) has \(text).")
    }
  }

  /// The changes, each with the setting's name in JSON and a description.
  private var changes: [(change: JobQueueChange, setting: String, text: String)] {
    var changes: [(change: JobQueueChange, setting: String, text: String)] = []
    if let maxRunning {
      let text = maxRunning.value.map { "at most \(JobText.count($0, "running job"))" }
      changes.append(
        (.maxRunningJobCount(maxRunning.value), "maxRunningJobCount", text ?? "any number of running jobs"))
    }
    if let maxPending {
      let text = maxPending.value.map { "room for \(JobText.count($0, "pending job"))" }
      changes.append((.maxPendingJobCount(maxPending.value), "maxPendingJobCount", text ?? "room for all pending jobs"))
    }
    if let maxFailures {
      let text = maxFailures.value.map { "a pause after \(JobText.count($0, "failure")) in a row" }
      changes.append((.maxFailureCount(maxFailures.value), "maxFailureCount", text ?? "no pause after failures"))
    }
    if let aging {
      let text = aging.value.map { "priorities that rise every \(JobText.duration($0))" }
      changes.append((.agingInterval(aging.value), "agingInterval", text ?? "priorities that don't rise"))
    }
    return changes
  }
}

/// The value of an option for a setting of a queue; nil to remove the setting.
struct QueueSetting<Value: Sendable>: Sendable {
  let value: Value?
}

extension QueueSetting<Int> {
  /// Reads the value of an option.
  ///
  /// - Parameters:
  ///   - text: A number, or `none`.
  ///   - minimum: The smallest number that is accepted.
  /// - Returns: The setting, whose value is nil for `none`.
  /// - Throws: `ValidationError` with the accepted numbers.
  static func count(_ text: String, from minimum: Int) throws -> QueueSetting {
    if text == "none" { return QueueSetting(value: nil) }
    guard let count = Int(text), (minimum...1_000_000_000).contains(count) else {
      throw ValidationError("use \(minimum) to 1000000000, or none.")
    }
    return QueueSetting(value: count)
  }
}

extension QueueSetting<Duration> {
  /// Reads the value of an option.
  ///
  /// - Parameter text: A duration, or `none`.
  /// - Throws: `ValidationError` with the accepted forms.
  init(duration text: String) throws {
    if text == "none" {
      self.init(value: nil)
    } else if let duration = JobTime.duration("+\(text)"), duration > .zero {
      self.init(value: duration)
    } else {
      throw ValidationError("use a duration, such as 90s, 10m or 1h30m, or none.")
    }
  }
}
#endif
