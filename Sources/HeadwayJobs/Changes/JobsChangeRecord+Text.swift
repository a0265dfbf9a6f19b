extension JobsChangeRecord {
  /// The change in words, without its author, for example “cancelled 12 jobs: state failed, kind mail”.
  package var text: String {
    switch action {
    case .cancel: "cancelled \(object)"
    case .abandon: "abandoned \(object)"
    case .retry: "ran \(object) again"
    case .delete: "deleted \(object)"
    case .change: "changed \(object)"
    case .signal: "sent a signal to \(object)"
    case .pauseQueue: "paused \(object)"
    case .resumeQueue: "resumed \(object)"
    case .configureQueue: "changed the settings of \(object)"
    case .prune: "deleted \(Readable.count(count, "expired job"))"
    case .setSchedule: "set \(object)"
    case .pauseSchedule: "paused \(object)"
    case .resumeSchedule: "resumed \(object)"
    case .runSchedule: "added a job of \(object)"
    case .backfillSchedule: "added \(Readable.count(count, "job")) of past ticks of \(object)"
    case .removeSchedule: "deleted \(object)"
    case .muteErrors: "muted \(object)"
    case .unmuteErrors: "unmuted \(object)"
    default: "\(action)"
    }
  }

  /// Whether ``count`` is a number of jobs.
  package var isOfJobs: Bool {
    if case .jobs = subject { true } else { action == .prune || action == .backfillSchedule }
  }

  private var object: String {
    switch subject {
    case .jobs(let filter):
      if let job { return "job \(job)" }
      let conditions = filter.conditions
      return Readable.count(count, "job") + (conditions.isEmpty ? "" : ": \(conditions.joined(separator: ", "))")
    case .queue(let name): return "the queue \(name)"
    case .schedule(let name): return "the schedule \(name)"
    case .errorGroup(let id): return "the error \(id)"
    case .store: return "the store"
    }
  }

  /// Returns different values of a property as one text.
  package static func text(of values: [String]) -> String {
    values.joined(separator: ", ") + (values.count == maxValueCount ? ", …" : "")
  }
}

extension JobsChangeRecord.Value {
  /// Whether the values are payloads, which can contain secrets.
  package var isPayload: Bool { name == "payload" || name == "value" }
}

extension JobFilter {
  /// The conditions in words, for people.
  fileprivate var conditions: [String] {
    func list(_ name: String, _ values: some Sequence<String>) -> String {
      "\(name) \(values.sorted().joined(separator: " or "))"
    }
    return [
      ids.map { _ in "selected by number" },
      states.map { list("state", $0.map(\.name)) },
      kinds.map { list("kind", $0.map(\.rawValue)) },
      queues.map { list("queue", $0) },
      tag.map { "tag \($0)" },
      culprit.map { "cancelled because of job \($0)" },
      label.map { "label with ‘\($0)’" },
      payload.map { "payload with ‘\($0)’" },
      since.map { "stored since \($0)" },
      until.map { "stored until \($0)" },
      endedSince.map { "ended since \($0)" },
      endedUntil.map { "ended until \($0)" },
      errorGroup.map { "last error \($0)" },
    ].compactMap(\.self)
  }
}
