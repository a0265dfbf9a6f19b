#if Dashboard
import HTTPTypes
import HeadwayJobs

/// The filter of the list of jobs, as it appears in a URL or a form.
struct ListFilter {
  var state: JobState?
  var kind: String?
  var queue: String?
  var tag: String?
  var label: String?
  /// Only jobs that were stored at most this long ago.
  var age: Age?
  /// Only jobs that were stored until this time, so that a change affects only the counted jobs.
  var until: StoreTime?

  /// The ages that people can choose.
  enum Age: String, CaseIterable {
    case minutes = "15m"
    case hour = "1h"
    case day = "1d"
    case week = "7d"

    var duration: Duration {
      switch self {
      case .minutes: .seconds(900)
      case .hour: .seconds(3_600)
      case .day: .seconds(86_400)
      case .week: .seconds(604_800)
      }
    }

    var name: String {
      switch self {
      case .minutes: "15 minutes"
      case .hour: "hour"
      case .day: "day"
      case .week: "week"
      }
    }
  }

  init(_ fields: Fields) throws {
    if let name = fields["state"] {
      guard let state = JobState(name: name) else { throw Refusal(.badRequest, "There is no state “\(name)”.") }
      self.state = state
    }
    if let name = fields["age"] {
      guard let age = Age(rawValue: name) else { throw Refusal(.badRequest, "There is no age “\(name)”.") }
      self.age = age
    }
    (kind, queue, tag, label) = (fields["kind"], fields["queue"], fields["tag"], fields["label"])
    until = fields.number("until").map { StoreTime(microseconds: $0) }
  }

  var isEmpty: Bool { fields.allSatisfy { $0.1 == nil } }

  /// The fields of a URL with this filter.
  var fields: [(String, String?)] {
    [
      ("state", state?.name), ("kind", kind), ("queue", queue), ("tag", tag), ("label", label),
      ("age", age?.rawValue), ("until", until.map { "\($0.microseconds)" }),
    ]
  }

  /// Returns the filter of a store.
  func filter(at now: StoreTime) -> JobFilter {
    JobFilter(
      states: state.map { [$0] }, queues: queue.map { [$0] }, kinds: kind.map { [JobKind(rawValue: $0)] }, tag: tag,
      label: label, since: age.map { (until ?? now) + (.zero - $0.duration) }, until: until)
  }

  /// Describes the jobs, for example `failed jobs of the kind “mail”`.
  var description: String {
    var text = "\(state.map { "\($0.name) " } ?? "")jobs"
    if let kind { text += " of the kind “\(kind)”" }
    if let queue { text += " in the queue “\(queue)”" }
    if let tag { text += " with the tag “\(tag)”" }
    if let label { text += " whose label contains “\(label)”" }
    if let age { text += " of the last \(age.name)" }
    return text
  }
}
#endif
