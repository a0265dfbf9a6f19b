#if Dashboard
import HTTPTypes
import HeadwayJobs

/// The filter of the list of jobs, as it appears in a URL or a form.
///
/// The URL of a list is its saved view: it contains the whole filter, and its times are in UTC.
struct ListFilter {
  /// Only these jobs: the rows that a person has selected; nil for all jobs.
  var ids: [JobID]?
  var state: JobState?
  var kind: String?
  var queue: String?
  var tag: String?
  var label: String?
  /// A string that the shown payload contains.
  var payload: String?
  /// The group of the last error of the jobs.
  var error: JobErrorGroup.ID?
  /// Only jobs that were stored at most this long ago.
  var age: Age?
  /// When the jobs were stored.
  var enqueued = Interval("enqueued")
  /// When the jobs ended.
  var ended = Interval("ended")
  /// Only jobs that were stored until this time, so that a change affects only the counted jobs.
  var until: StoreTime?

  /// The maximum number of rows that a person can select.
  static let maxSelectedCount = 200

  /// The times between two fields of the form.
  struct Interval {
    /// The beginning of the names of the fields.
    let name: String
    var start: StoreTime?
    var end: StoreTime?

    init(_ name: String) { self.name = name }

    /// Reads the fields, whose times are in UTC or in the time zone of the form.
    mutating func read(_ fields: Fields) throws {
      let zone = PageZone(named: fields["zone"]) ?? .utc
      func time(_ end: String) throws -> StoreTime? {
        guard let text = fields["\(name)-\(end)"] else { return nil }
        guard let time = zone.time(text) else {
          throw Refusal(.badRequest, "“\(text)” is not a time such as 2030-01-31T18:30.")
        }
        return time
      }
      (start, end) = (try time("from"), try time("to"))
    }

    var isEmpty: Bool { start == nil && end == nil }

    /// The fields of a URL.
    var fields: [(String, String?)] {
      [("\(name)-from", start), ("\(name)-to", end)].map { name, time in
        (name, time.map { PageZone.utc.field($0) + "Z" })
      }
    }

    /// Describes the interval with the times of the page's time zone.
    var description: String {
      let zone = PageZone.current
      let parts = [start.map { "from \(zone.text($0))" }, end.map { "until \(zone.text($0))" }].compactMap(\.self)
      return isEmpty ? "" : ", \(name) \(parts.joined(separator: " ")) (\(zone.name))"
    }
  }

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
    if let text = fields["error"] {
      guard let id = JobErrorGroup.ID(text) else {
        throw Refusal(.badRequest, "“\(text)” is not the ID of an error group.")
      }
      error = id
    }
    (kind, queue, tag, label) = (fields["kind"], fields["queue"], fields["tag"], fields["label"])
    payload = fields["payload"]
    try enqueued.read(fields)
    try ended.read(fields)
    until = fields.number("until").map { StoreTime(microseconds: $0) }
    guard fields["selected"] != nil else { return }
    // Without a selected row, the list contains no job.
    let numbers = fields.numbers("job")
    guard numbers.count <= Self.maxSelectedCount else {
      throw Refusal(.badRequest, "Select at most \(Self.maxSelectedCount) jobs. Nothing was changed.")
    }
    ids = numbers.map { JobID(rawValue: $0) }
  }

  var isEmpty: Bool { fields.allSatisfy { $0.1 == nil } }

  /// The fields of a URL with this filter.
  var fields: [(String, String?)] {
    let conditions: [(String, String?)] = [
      ("state", state?.name), ("kind", kind), ("queue", queue), ("tag", tag), ("label", label), ("payload", payload),
      ("error", error?.description), ("age", age?.rawValue),
    ]
    let selection: [(String, String?)] = ids.map { ids in [("selected", "1")] + ids.map { ("job", "\($0)") } } ?? []
    let end: [(String, String?)] = [("until", until.map { "\($0.microseconds)" })]
    return conditions + enqueued.fields + ended.fields + end + selection
  }

  /// The fields of the URL of the list, without the selection and the time of a change.
  var listFields: [(String, String?)] {
    var list = self
    (list.ids, list.until) = (nil, nil)
    return list.fields
  }

  /// Returns the filter of a store.
  func filter(at now: StoreTime) -> JobFilter {
    let begin = age.map { (until ?? now) + (.zero - $0.duration) }
    var filter = JobFilter(
      ids: ids, states: state.map { [$0] }, queues: queue.map { [$0] }, kinds: kind.map { [JobKind(rawValue: $0)] },
      tag: tag, label: label, payload: payload, since: [begin, enqueued.start].compactMap(\.self).max(),
      until: [until, enqueued.end].compactMap(\.self).min())
    (filter.endedSince, filter.endedUntil, filter.errorGroup) = (ended.start, ended.end, error)
    return filter
  }

  /// Describes the jobs, for example “failed jobs of the kind “mail””.
  var description: String {
    if let ids, !ids.isEmpty {
      return (ids.count == 1 ? "job " : "the jobs ") + ids.map(\.description).joined(separator: ", ")
    }
    var text = "\(state.map { "\($0.name) " } ?? "")jobs"
    if let kind { text += " of the kind “\(kind)”" }
    if let queue { text += " in the queue “\(queue)”" }
    if let tag { text += " with the tag “\(tag)”" }
    if let label { text += " whose label contains “\(label)”" }
    if let payload { text += " whose payload contains “\(payload)”" }
    if let error { text += " with the last error \(error)" }
    if let age { text += " of the last \(age.name)" }
    return text + enqueued.description + ended.description
  }
}
#endif
