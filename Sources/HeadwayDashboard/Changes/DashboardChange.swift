#if Dashboard
import HTTPTypes
import HeadwayJobs

/// A change that a form has requested.
struct DashboardChange {
  /// A change of jobs.
  enum Action: String, CaseIterable {
    case retry, cancel, abandon

    /// The states of the jobs that the action changes.
    var states: Set<JobState> {
      switch self {
      case .retry: [.failed, .cancelled]
      case .cancel: [.held, .scheduled, .waiting, .running]
      case .abandon: [.running]
      }
    }

    var verb: String {
      switch self {
      case .retry: "Retry"
      case .cancel: "Cancel"
      case .abandon: "Abandon"
      }
    }

    var pastTense: String {
      switch self {
      case .retry: "Retried"
      case .cancel: "Cancelled"
      case .abandon: "Abandoned"
      }
    }

    /// A description of the action, for people who confirm it.
    var effect: String {
      switch self {
      case .retry: "The jobs run again, with new attempts. Jobs whose key another job holds remain as they are."
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
      case .cancel: .cancel(filter)
      case .abandon: .abandon(filter)
      }
    }
  }

  private let form: Fields
  private let changes: RunningChanges

  init(_ form: Fields, _ changes: RunningChanges) { (self.form, self.changes) = (form, changes) }

  /// Makes the change.
  ///
  /// - Returns: The page that shows the result.
  func perform(on jobs: Jobs) async throws -> String {
    guard let name = form["action"] else { throw Refusal.badForm }
    if let action = Action(rawValue: name) { return try await change(jobs, action) }
    switch name {
    case "pause", "resume", "settings": return try await changeQueue(jobs, name)
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
        : try await jobs.perform(action.command(.id(id))) > 0
      return Link.to("/job/\(number)", ["done": isChanged ? action.rawValue : "nothing"])
    }
    let list = try ListFilter(form)
    guard list.until != nil else { throw Refusal.badForm }
    let name = try await changes.begin(action, action.filter(list, at: jobs.store.now), on: jobs)
    return Link.to("/jobs", list.fields.filter { $0.0 != "until" } + [("change", name)])
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
    return Link.to("/queues", ["done": name])
  }

  /// Returns the number of a field; nil if it is empty.
  private func setting(_ name: String, from minimum: Int) throws -> Int? {
    guard let text = form[name] else { return nil }
    guard let value = Int(text), (minimum...1_000_000_000).contains(value) else {
      throw Refusal(
        .unprocessableContent, "‘\(text)’ is not a number from \(minimum) to 1000000000. Nothing was changed.")
    }
    return value
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
    return Link.to("/schedules", ["done": name])
  }
}
#endif
