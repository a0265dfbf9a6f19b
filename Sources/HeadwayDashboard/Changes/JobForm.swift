#if Dashboard
import HTTPTypes
import Headway
import HeadwayJobs

/// The form for changing a job that has not started, or that waits for its next attempt.
///
/// The values of the form are what a browser sends if a person has edited nothing. A field that was sent with another
/// value is a change. The stored value is not compared, because some values can't be shown exactly: times have no
/// fractions of a second, and names have no control characters.
struct JobForm {
  private static let priorities: [(name: String, priority: Headway.Operation.QueuePriority)] = [
    ("very low", .veryLow), ("low", .low), ("normal", .normal), ("high", .high), ("very high", .veryHigh),
  ]

  private let job: JobRecord
  /// The time zone of the times in the form.
  private let zone: PageZone
  private let priority: Headway.Operation.QueuePriority
  private let queue: String
  private let start: String
  private let deadline: String
  /// Readable JSON; nil if the payload can't be edited.
  private let payload: String?

  init(_ job: JobRecord, hiding redactedKeys: Set<String>, zone: PageZone) {
    (self.job, self.zone) = (job, zone)
    priority = Headway.Operation.QueuePriority(roundingTowardNormal: job.priority)
    queue = Self.line(job.queue)
    start = job.dueTime.map(zone.field) ?? ""
    deadline = job.deadline.map(zone.field) ?? ""
    // Text with hidden values, shortened text, and text that describes other payloads are not JSON.
    let text = Self.escaped(JSONText.text(of: job.payload.bytes, hiding: redactedKeys))
    payload = JSONText.isValid(Array(text.utf8)) ? text : nil
  }

  /// The values of the template.
  var view: View {
    [
      "version": version, "zone": zone.name, "queue": queue, "start": start, "deadline": deadline,
      "hasDeadline": job.deadline != nil, "hasPayload": payload != nil, "payload": payload ?? "",
      "payloadVersion": payloadVersion,
      "isHidden": !JobState.changeable.contains(job.state),
      "priorities": Self.priorities.map { ["name": $0.name, "isChosen": $0.priority == priority] as View },
    ]
  }

  /// A text that differs if the stored values have changed since the form was shown.
  ///
  /// Each process computes the same text. A payload that can't be edited is not part of it, because a person could
  /// guess hidden values until the text is the same.
  var version: String {
    let times = [job.dueTime, job.deadline].map { $0.map { "\($0.microseconds)" } ?? "" }
    let texts = ["\(job.priority)", job.queue, job.kind.rawValue, "\(job.version)"] + times
    return Self.hash(of: texts.flatMap { Array($0.utf8) + [0] } + (payload == nil ? [] : job.payload.bytes))
  }

  /// A text that differs if the payload has changed since a person began to edit it.
  ///
  /// A live page shows the new ``version`` of a job, but keeps the text that the person has typed.
  private var payloadVersion: String { payload == nil ? "" : Self.hash(of: job.payload.bytes) }

  /// Returns whether the stored values are those that the form has shown.
  func isShown(in fields: Fields) -> Bool {
    fields["shown"] == version && fields["payload-shown"].map { $0 == payloadVersion } ?? true
  }

  /// The hash function FNV-1a.
  private static func hash(of bytes: [UInt8]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 16)
  }

  // MARK: Reading

  /// Returns the changes that a person has requested.
  ///
  /// Make them in this order.
  ///
  /// - Throws: A ``Refusal`` if a value is not valid.
  func changes(in fields: Fields, at now: StoreTime) throws -> [JobChange] {
    guard let name = fields["priority"], let newQueue = fields["queue"] else { throw Refusal.badForm }
    guard let newPriority = Self.priorities.first(where: { $0.name == name })?.priority else {
      throw Self.refusal(of: name, "a priority")
    }
    var changes: [JobChange] = []
    if let change = try payloadChange(in: fields) { changes.append(change) }
    if fields["no-deadline"] != nil {
      if job.deadline != nil { changes.append(.deadline(nil)) }
    } else if let time = try time(fields["deadline"], unlike: deadline) {
      guard time > now else { throw Self.refusal(of: fields["deadline"] ?? "", "in the future") }
      changes.append(.deadline(time))
    }
    if newPriority != priority { changes.append(.priority(newPriority)) }
    if !newQueue.utf8.elementsEqual(queue.utf8) { changes.append(.queue(newQueue)) }
    if let time = try time(fields["start"], unlike: start) {
      // The job must not start before the other changes have taken effect.
      if time > now {
        changes.insert(.dueTime(time), at: 0)
      } else if job.dueTime != nil {
        changes.append(.runNow)
      }
    }
    return changes
  }

  private func payloadChange(in fields: Fields) throws -> JobChange? {
    guard let payload else {
      guard fields["payload"] == nil else { throw Refusal.badForm }
      return nil
    }
    guard let text = fields["payload"] else { throw Refusal.badForm }
    let bytes = Array(text.utf8)
    guard JSONText.isValid(bytes) else { throw Self.refusal(of: Readable.line(text), "JSON") }
    // The browser has changed the line endings.
    let compact = JSONText.compact(bytes)
    guard compact != JSONText.compact(Array(payload.utf8)) else { return nil }
    return .payload(JobPayload(bytes: compact), version: job.version)
  }

  /// Returns the time of a field; nil if the field is empty, or shows the same second.
  private func time(_ text: String?, unlike shown: String) throws -> StoreTime? {
    guard let text else { return nil }
    guard let time = zone.time(text) else { throw Self.refusal(of: text, "a time such as 2030-01-31T18:30") }
    return zone.field(time) == shown ? nil : time
  }

  private static func refusal(of value: String, _ expected: String) -> Refusal {
    Refusal(.unprocessableContent, "“\(value)” is not \(expected). Nothing was changed.")
  }

  // MARK: Showing

  /// Returns a name as a browser sends it from a field with one line.
  private static func line(_ name: String) -> String {
    var line = ""
    for scalar in name.unicodeScalars where scalar != "\n" && scalar != "\r" {
      line.unicodeScalars.append(PageText.isReplaced(scalar) ? "\u{FFFD}" : scalar)
    }
    return line
  }

  /// Returns JSON after escaping characters that a page can't show.
  private static func escaped(_ json: String) -> String {
    var text = ""
    for scalar in json.unicodeScalars {
      if PageText.isReplaced(scalar) {
        let number = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - number.count) + number
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
#endif
