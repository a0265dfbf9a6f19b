#if Jobs
import ArgumentParser
import Headway
import HeadwayJobs

struct JobsEditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Change jobs that have not started, or that wait for their next attempt.",
    discussion: """
      The changes apply to the jobs that match when the command begins, in this order: priority, queue, deadline, \
      payload, start. Each change prints a line with the number of jobs that had another value before.

      A time is a date in ISO 8601 format, such as 2026-07-29T08:30:00+02:00, or a duration from now, such as +10m or \
      +1h30m. Dates without an offset are in UTC.
      """)

  @OptionGroup var targets: JobTargets
  @OptionGroup(title: "Changes") var changes: JobEditOptions
  @OptionGroup var options: JobStoreOptions

  func validate() throws {
    if changes.payload != nil, targets.jobs.isEmpty, targets.options.kind.isEmpty {
      throw ValidationError(
        "--new-payload: select the jobs by number or with --kind, because jobs of other kinds can't read the payload.")
    }
  }

  func run() async throws {
    try await options.withStore { _, jobs in
      let (now, filter) = (jobs.store.now, try await targets.filter(in: jobs))
      let edits = changes.edits(at: now)
      try await Self.check(edits, in: jobs)
      // The filter might no longer select the jobs after the first change.
      let selection = try await Self.unstarted(filter, in: jobs)
      for edit in edits {
        let changed = try await selection.apply(edit.change, in: jobs)
        options.show(
          JobsJSON.Edited(change: edit.name, changed: changed),
          ["\(JobText.count(changed, "job")) changed: \(edit.text)."])
      }
    }
  }

  /// Rejects values that the store does not accept, before the first change.
  private static func check(_ edits: [JobEditOptions.Edit], in jobs: Jobs) async throws {
    do {
      // The filter selects no jobs, so only the values are checked.
      for edit in edits { try await jobs.change(JobFilter(ids: []), edit.change) }
    } catch let error as JobError {
      throw UnsuitableValue(error: error)
    }
  }

  /// Finds the jobs that can be changed.
  private static func unstarted(_ filter: JobFilter, in jobs: Jobs) async throws -> JobSelection {
    var (filter, selection, last) = (filter, JobSelection(), JobID?.none)
    filter.states = filter.states?.intersection(JobState.changeable) ?? JobState.changeable
    repeat {
      let page = try await jobs.jobs(filter, after: last)
      for job in page { selection.add(job) }
      last = page.last?.id
    } while last != nil
    return selection
  }
}

/// The new values of jobs.
struct JobEditOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The new priority: veryLow, low, normal, high, or veryHigh.", valueName: "level"))
  var priority: QueuePriority?

  @Option(help: ArgumentHelp("The queue to move the jobs to.", valueName: "queue"))
  var moveTo: String?

  @Option(
    help: ArgumentHelp("The time when jobs that have not started are cancelled.", valueName: "time"),
    transform: JobTime.init)
  var deadline: JobTime?

  @Flag(help: "Remove the deadline.")
  var noDeadline = false

  // JSON can begin with a minus sign.
  @Option(
    name: .customLong("new-payload"), parsing: .unconditional,
    help: ArgumentHelp(
      "The new payload. Each job keeps the version of its payload, so use the format of that version.",
      valueName: "json"),
    transform: JobPayload.init(json:))
  var payload: JobPayload?

  @Option(
    help: ArgumentHelp(
      "The time when the jobs are due. A time in the past makes them due now.", valueName: "time"),
    transform: JobTime.init)
  var start: JobTime?

  func validate() throws {
    if edits(at: .now()).isEmpty {
      throw ValidationError(
        "Specify a change: --priority, --move-to, --deadline, --no-deadline, --new-payload, or --start.")
    }
    if moveTo?.isEmpty == true { throw ValidationError("--move-to '': name the queue.") }
    if deadline != nil, noDeadline { throw ValidationError("--deadline and --no-deadline can't be combined.") }
    let now = StoreTime.now()
    if let time = deadline?.time(at: now), time <= now {
      throw ValidationError("--deadline \(time): use a time in the future. To cancel jobs, use 'headway jobs cancel'.")
    }
  }

  /// A change of jobs, with its name in JSON and a description.
  struct Edit {
    let name: String
    let text: String
    let change: JobChange
  }

  /// The changes, in execution order.
  func edits(at now: StoreTime) -> [Edit] {
    var edits: [Edit] = []
    if let priority {
      edits.append(Edit(name: "priority", text: "priority \(priority.name)", change: .priority(priority)))
    }
    if let moveTo { edits.append(Edit(name: "queue", text: "queue \(moveTo)", change: .queue(moveTo))) }
    if let time = deadline?.time(at: now) {
      edits.append(Edit(name: "deadline", text: "deadline \(time)", change: .deadline(time)))
    }
    if noDeadline { edits.append(Edit(name: "deadline", text: "no deadline", change: .deadline(nil))) }
    if let payload {
      // Each job keeps its version, which replaces this one.
      edits.append(Edit(name: "payload", text: "payload", change: .payload(payload, version: 1)))
    }
    if let time = start?.time(at: now) {
      let text = time > now ? "due \(time)" : "due now"
      edits.append(Edit(name: "start", text: text, change: .dueTime(time)))
    }
    return edits
  }
}

/// The store does not accept a new value, for example because it is too long.
struct UnsuitableValue: Error, CustomStringConvertible {
  let error: JobError

  var description: String { error.context }
}

/// The IDs of jobs, by the version of their payloads.
private struct JobSelection {
  private var ids: [Int: [JobID]] = [:]

  mutating func add(_ job: JobRecord) { ids[job.version, default: []].append(job.id) }

  /// Changes the jobs and returns how many were different before.
  func apply(_ change: JobChange, in jobs: Jobs) async throws -> Int {
    guard case .payload(let payload, _) = change else {
      return try await jobs.change(JobFilter(ids: ids.values.flatMap(\.self)), change)
    }
    var count = 0
    for (version, ids) in ids {
      count += try await jobs.change(JobFilter(ids: ids), .payload(payload, version: version))
    }
    return count
  }
}
#endif
