#if Dashboard
import HTTPTypes
import HeadwayJobs

/// A change that a form has requested.
struct DashboardChange {
  /// A change of jobs.
  enum Action: String, CaseIterable {
    case retry
    case runNow = "run-now"
    case cancel, abandon

    /// The states of the jobs that the action changes.
    var states: Set<JobState> {
      switch self {
      case .retry: [.failed, .cancelled]
      // A held job waits for other jobs, even if it is due. Without its time, it would not run now.
      case .runNow: [.scheduled, .retrying]
      case .cancel: JobState.unfinished
      case .abandon: [.running]
      }
    }

    /// Returns the action with its object, such as “Cancel 3 jobs” or “Run all now”.
    func phrase(_ object: String) -> String {
      switch self {
      case .retry: "Retry \(object)"
      case .runNow: "Run \(object) now"
      case .cancel: "Cancel \(object)"
      case .abandon: "Abandon \(object)"
      }
    }

    var pastTense: String {
      switch self {
      case .retry: "Retried"
      case .runNow: "Due now"
      case .cancel: "Cancelled"
      case .abandon: "Abandoned"
      }
    }

    /// A description of the action, for people who confirm it.
    var effect: String {
      switch self {
      case .retry: "The jobs run again, with new attempts. Jobs whose key another job holds remain as they are."
      case .runNow:
        "Scheduled and retrying jobs are due now. They start after the jobs that already wait."
      case .cancel: "Jobs that have not started end immediately. Workers cancel the running ones."
      case .abandon:
        "The jobs are cancelled immediately and taken from their workers, which can no longer write anything for "
          + "them. Their code continues until it returns."
      }
    }

    func applies(to state: JobState?) -> Bool { state.map(states.contains) ?? true }

    /// Returns the jobs of a list that the action changes.
    func filter(_ list: ListFilter, at now: StoreTime) -> JobFilter {
      var filter = list.filter(at: now)
      filter.states = filter.states ?? states
      return filter
    }

    func command(_ filter: JobFilter) -> JobCommand {
      switch self {
      case .retry: .retry(filter)
      case .runNow: .change(filter, .runNow)
      case .cancel: .cancel(filter)
      case .abandon: .abandon(filter)
      }
    }
  }

  private let form: Fields
  private let changes: RunningChanges
  private let redactedKeys: Set<String>

  init(_ form: Fields, _ dashboard: JobsDashboard) {
    (self.form, changes, redactedKeys) = (form, dashboard.changes, dashboard.options.redactedKeys)
  }

  /// Makes the change.
  ///
  /// - Returns: The page that shows the result.
  func perform(on jobs: Jobs) async throws -> String {
    guard let name = form["action"] else { throw Refusal.badForm }
    if let action = Action(rawValue: name) { return try await change(jobs, action) }
    switch name {
    case "change": return try await changeJob(jobs)
    case "pause", "resume", "settings": return try await changeQueue(jobs, name)
    case "mute", "unmute": return try await changeError(jobs, name)
    case "run", "pause-schedule", "resume-schedule": return try await changeSchedule(jobs, name)
    default: throw Refusal.badForm
    }
  }

  private func change(_ jobs: Jobs, _ action: Action) async throws -> String {
    if let number = form.number("id") {
      let id = JobID(rawValue: number)
      let isChanged =
        action == .retry && form["dependents"] != nil
        ? try await jobs.retry(id, withDependents: true)
        : try await jobs.perform(action.command(JobFilter(ids: [id], states: action.states))) > 0
      return Link.to("/job/\(number)", ["done": isChanged ? action.rawValue : "nothing"])
    }
    let list = try ListFilter(form)
    guard list.until != nil, action.applies(to: list.state) else { throw Refusal.badForm }
    let search = ListSearch(jobs, hiding: redactedKeys)
    let name = try await changes.begin(action, action.filter(list, at: jobs.store.now), in: search)
    return Link.to("/jobs", list.listFields + [("change", name)])
  }

  /// Makes the changes of the form on the page of a job.
  private func changeJob(_ jobs: Jobs) async throws -> String {
    guard let number = form.number("id"), form["shown"] != nil else { throw Refusal.badForm }
    let id = JobID(rawValue: number)
    func page(_ result: String) -> String { Link.to("/job/\(number)", ["done": result]) }
    guard let job = try await jobs.job(id), JobState.changeable.contains(job.state) else { return page("nothing") }
    let now = jobs.store.now
    let shown = JobForm(job, hiding: redactedKeys, zone: PageZone(named: form["zone"]) ?? .utc)
    guard shown.isShown(in: form) else { return page("nothing") }
    let changes = try shown.changes(in: form, at: now)
    guard !changes.isEmpty else { return page("same") }
    do {
      // All values are checked before the first one is stored. These commands change no jobs.
      for change in changes { try await jobs.change(JobFilter(ids: []), change) }
    } catch let error as JobError {
      throw Refusal(.unprocessableContent, "\(error.context) Nothing was changed.")
    }
    for (index, change) in changes.enumerated() {
      // The job has started or ended.
      guard try await jobs.change(id, change) else { return page(index == 0 ? "nothing" : "part") }
    }
    return page("change")
  }

  // MARK: Queues

  private func changeQueue(_ jobs: Jobs, _ name: String) async throws -> String {
    guard let queue = form["queue"] else { throw Refusal.badForm }
    switch name {
    case "pause": try await jobs.pauseQueue(queue)
    case "resume": try await jobs.resumeQueue(queue)
    default:
      // All values are checked before the first one is stored.
      let (limit, pending) = (try setting("limit", from: 0), try setting("pendingLimit", from: 1))
      let (failures, aging) = (try setting("failureLimit", from: 1), try setting("aging", from: 1))
      let old = try await jobs.snapshot([]).queues.first { $0.name == queue }?.counts.settings ?? JobQueueSettings()
      if limit != old.maxRunningJobCount { try await jobs.changeQueue(queue, .maxRunningJobCount(limit)) }
      if pending != old.maxPendingJobCount { try await jobs.changeQueue(queue, .maxPendingJobCount(pending)) }
      if failures != old.maxFailureCount { try await jobs.changeQueue(queue, .maxFailureCount(failures)) }
      // The form has no fractions of a second.
      if aging.map(Int64.init) != old.agingInterval?.components.seconds {
        try await jobs.changeQueue(queue, .agingInterval(aging.map { .seconds($0) }))
      }
    }
    return Link.to("/queues", ["from": queue, "done": name])
  }

  /// Returns the number of a field; nil if it is empty.
  private func setting(_ name: String, from minimum: Int) throws -> Int? {
    guard let text = form[name] else { return nil }
    guard let value = Int(text), (minimum...1_000_000_000).contains(value) else {
      throw Refusal(
        .unprocessableContent, "“\(text)” is not a number from \(minimum) to 1000000000. Nothing was changed.")
    }
    return value
  }

  // MARK: Errors

  private func changeError(_ jobs: Jobs, _ name: String) async throws -> String {
    guard let id = form["error"].flatMap({ JobErrorGroup.ID($0) }) else { throw Refusal.badForm }
    let isChanged: Bool
    if name == "unmute" {
      isChanged = try await jobs.unmute(id)
    } else if let note = form["note"] {
      isChanged = try await jobs.mute(id, note: note)
    } else {
      throw Refusal(.unprocessableContent, "The note is missing. Nothing was changed.")
    }
    return Link.to("/errors", ["muted": name == "unmute" ? "1" : nil, "done": isChanged ? name : "same-error"])
  }

  // MARK: Schedules

  private func changeSchedule(_ jobs: Jobs, _ name: String) async throws -> String {
    guard let schedule = form["schedule"] else { throw Refusal.badForm }
    switch name {
    case "pause-schedule": try await jobs.pauseSchedule(schedule)
    case "resume-schedule": try await jobs.resumeSchedule(schedule)
    default:
      let id = try await jobs.runSchedule(schedule)
      return Link.to("/job/\(id)", ["done": "run"])
    }
    return Link.to("/schedules", ["from": schedule, "done": name])
  }
}
#endif
