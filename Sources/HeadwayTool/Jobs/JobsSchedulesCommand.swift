#if Jobs
import ArgumentParser
@_spi(JobStore) import HeadwayJobs

/// The commands for the schedules of a store.
struct JobsSchedulesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schedules", abstract: "List, pause, resume, run, backfill, and delete schedules.",
    discussion: """
      Without a subcommand, the schedules are listed. Programs define schedules when they start. If a program defines \
      a paused schedule again, the schedule remains paused.
      """,
    subcommands: [
      JobsSchedulesListCommand.self, ChangeByNameCommand<PauseSchedule>.self,
      ChangeByNameCommand<ResumeSchedule>.self, ChangeByNameCommand<RunSchedule>.self,
      ChangeByNameCommand<BackfillSchedule>.self, ChangeByNameCommand<DeleteSchedule>.self,
    ], defaultSubcommand: JobsSchedulesListCommand.self)
}

struct JobsSchedulesListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the schedules, with their next ticks and last jobs.")

  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      let schedules = try await jobs.schedules()
      guard !options.json else {
        for schedule in schedules { StandardStream.output.writeLine(JSONEvent.line(JobsJSON.Schedule(schedule))) }
        return
      }
      let rows = schedules.map { schedule in
        let definition = schedule.definition
        return [
          schedule.name, definition.schedule.description, definition.job.kind.rawValue, definition.job.queue,
          schedule.nextTickTime?.description ?? "-", schedule.lastTickTime?.description ?? "-",
          schedule.lastJob?.description ?? "-", schedule.isPaused ? "paused" : "",
        ]
      }
      let titles = ["schedule", "times", "kind", "queue", "next", "last", "job", ""]
      for line in rows.isEmpty ? ["No schedules."] : JobText.table(titles, rows) {
        StandardStream.output.writeLine(line)
      }
    }
  }
}

/// A change of schedules.
protocol ScheduleChange: ChangeByName {}

extension ScheduleChange {
  static var help: String { "The names of the schedules." }
}

struct PauseSchedule: ScheduleChange {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Stop schedules from adding jobs.",
    discussion: "Ticks during the pause add no jobs. After you resume the schedule, you can add them with backfill.")

  func apply(to name: String, in jobs: Jobs, onChange: (JobsJSON.ChangedByName, String) -> Void) async throws {
    try await jobs.pauseSchedule(name)
    onChange(JobsJSON.ChangedByName(schedule: name, change: "pause"), "The schedule \(name) is paused.")
  }
}

struct ResumeSchedule: ScheduleChange {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Let paused schedules add jobs again, from now on.")

  func apply(to name: String, in jobs: Jobs, onChange: (JobsJSON.ChangedByName, String) -> Void) async throws {
    try await jobs.resumeSchedule(name)
    onChange(JobsJSON.ChangedByName(schedule: name, change: "resume"), "The schedule \(name) is resumed.")
  }
}

struct RunSchedule: ScheduleChange {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Add the jobs of schedules now, in addition to their ticks.",
    discussion: """
      A job is added even if the schedule is paused, or its last job has not ended. If another job holds the job's \
      unique key, the command prints that job instead.
      """)

  func apply(to name: String, in jobs: Jobs, onChange: (JobsJSON.ChangedByName, String) -> Void) async throws {
    let id = try await jobs.runSchedule(name)
    onChange(
      JobsJSON.ChangedByName(schedule: name, change: "run", job: id.rawValue),
      "The job of the schedule \(name) is job \(id).")
  }
}

struct BackfillSchedule: ScheduleChange {
  static let configuration = CommandConfiguration(
    commandName: "backfill", abstract: "Add the missing jobs of past ticks.",
    discussion: """
      Ticks have no job if they occurred before a program defined the schedule, during a pause, or while no \
      worker was running. If you repeat the command, no job is added twice.
      """)

  // Durations can begin with a minus sign.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The beginning of the period: a date in ISO 8601 format, in UTC if it has no offset, or a duration before now, "
        + "such as -7d.", valueName: "time"), transform: JobTime.init)
  var since: JobTime

  @Option(
    parsing: .unconditional, help: ArgumentHelp("The end of the period; now by default.", valueName: "time"),
    transform: JobTime.init)
  var until: JobTime?

  func validate() throws {
    let now = StoreTime.now()
    let (start, end) = (since.time(at: now), until?.time(at: now) ?? now)
    guard start <= end else {
      throw ValidationError("--since \(start) is later than --until \(end): swap the times.")
    }
  }

  func apply(to name: String, in jobs: Jobs, onChange: (JobsJSON.ChangedByName, String) -> Void) async throws {
    let now = jobs.store.now
    let (start, end) = (since.time(at: now), until?.time(at: now) ?? now)
    let count = try await jobs.backfill(name, from: start.date, to: max(start, end).date)
    onChange(
      JobsJSON.ChangedByName(schedule: name, change: "backfill", added: count),
      "The schedule \(name) has added \(JobText.count(count, "job")).")
  }
}

struct DeleteSchedule: ScheduleChange {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete schedules. Their jobs remain.",
    discussion: "If a program defines the schedule when it starts, the schedule is added again.")

  func apply(to name: String, in jobs: Jobs, onChange: (JobsJSON.ChangedByName, String) -> Void) async throws {
    guard try await jobs.removeSchedule(name) else {
      throw JobError(.unknownSchedule, "The store has no schedule with the name \(name).")
    }
    onChange(JobsJSON.ChangedByName(schedule: name, change: "delete"), "The schedule \(name) is deleted.")
  }
}

extension JobsJSON {
  /// A schedule.
  struct Schedule: Encodable {
    let name: String
    let times: String
    let kind: String
    let version: Int
    let queue: String
    let missed: String
    let missedLimit: Int?
    let overlap: String
    let jitterSeconds: Double?
    let isPaused: Bool
    let next: String?
    let lastTick: String?
    let lastJob: Int64?

    init(_ schedule: ScheduleRecord) {
      let definition = schedule.definition
      (name, times) = (schedule.name, definition.schedule.description)
      (kind, version) = (definition.job.kind.rawValue, definition.job.version)
      queue = definition.job.queue
      (missed, missedLimit) =
        switch definition.missed {
        case .latest: ("latest", nil)
        case .none: ("none", nil)
        case .all(let limit): ("all", limit)
        }
      overlap = "\(definition.overlap)"
      jitterSeconds = definition.jitter > .zero ? definition.jitter / .seconds(1) : nil
      (isPaused, next) = (schedule.isPaused, schedule.nextTickTime?.description)
      (lastTick, lastJob) = (schedule.lastTickTime?.description, schedule.lastJob?.rawValue)
    }
  }
}
#endif
