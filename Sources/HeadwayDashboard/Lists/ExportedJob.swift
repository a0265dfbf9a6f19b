#if Dashboard
import HeadwayJobs

/// A job in a file.
struct ExportedJob {
  private enum Value {
    case number(Int)
    case text(String?)
    case texts([String])
    case time(StoreTime?)
    case payload(JobPayload?)
  }

  private let values: [(name: String, value: Value)]
  private let redactedKeys: Set<String>

  /// Creates the fields of a job.
  ///
  /// - Parameters:
  ///   - job: The job to export.
  ///   - redactedKeys: The keys whose values in payloads and results are replaced.
  init(_ job: JobRecord, hiding redactedKeys: Set<String>) {
    self.redactedKeys = redactedKeys
    let error = job.history.errors.last
    values = zip(
      Self.names,
      [
        .number(Int(job.id.rawValue)), .text(job.state.name), .text(job.kind.rawValue), .text(job.queue),
        .text(job.settings.label), .texts(job.settings.tags ?? []), .number(job.priority), .number(job.attempt),
        .time(job.enqueuedTime), .time(job.dueTime), .time(job.claimedTime), .time(job.finishedTime),
        .text(job.reason?.description), .text(error?.type), .text(error?.text), .payload(job.payload),
        .payload(job.result),
      ] as [Value]
    ).map { ($0, $1) }
  }

  private static let names = [
    "id", "state", "kind", "queue", "label", "tags", "priority", "attempt", "enqueued", "due", "claimed", "finished",
    "reason", "errorType", "error", "payload", "result",
  ]

  /// The bytes of a payload without hidden values, as text if they are.
  private func readable(_ payload: JobPayload) -> (text: String, isJSON: Bool) {
    let bytes = JSONText.withoutSecrets(payload.bytes, hiding: redactedKeys)
    let text = String(validating: bytes, as: UTF8.self)
    return (text ?? JSONText.text(of: bytes, hiding: redactedKeys), text != nil && JSONText.isValid(bytes))
  }

  // MARK: JSON

  /// An object in JSON; members without a value are omitted.
  var json: String {
    let members = values.compactMap { name, value in json(value).map { "\"\(name)\":\($0)" } }
    return "{\(members.joined(separator: ","))}"
  }

  private func json(_ value: Value) -> String? {
    switch value {
    case .number(let number): return "\(number)"
    case .text(let text): return text.map(Self.quoted)
    case .texts(let texts): return texts.isEmpty ? nil : "[\(texts.map(Self.quoted).joined(separator: ","))]"
    case .time(let time): return time.map { "\"\($0)\"" }
    case .payload(let payload):
      guard let (text, isJSON) = payload.map(readable) else { return nil }
      return isJSON ? text : Self.quoted(text)
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case _ where scalar.value < 0x20:
        let number = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - number.count) + number
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  // MARK: CSV

  /// The line with the names of the columns.
  static var csvHeader: String { names.joined(separator: ",") + "\r\n" }

  /// A line of a file with comma-separated values (RFC 4180).
  var csv: String { values.map { cell(csv($0.value)) }.joined(separator: ",") + "\r\n" }

  private func csv(_ value: Value) -> String {
    switch value {
    case .number(let number): "\(number)"
    case .text(let text): Self.harmless(text ?? "")
    case .texts(let texts): Self.harmless(texts.joined(separator: " "))
    case .time(let time): time?.description ?? ""
    case .payload(let payload): payload.map { Self.harmless(readable($0).text) } ?? ""
    }
  }

  /// The characters at the beginning of a formula, also in their wide forms, and the spaces that can precede it.
  private static let formulaStarts = Set("=+-@\t\r\n＝＋－＠".unicodeScalars)

  /// Returns text that a spreadsheet does not execute as a formula.
  private static func harmless(_ text: String) -> String {
    text.unicodeScalars.first.map(formulaStarts.contains) == true ? "'" + text : text
  }

  private func cell(_ text: String) -> String {
    let needsQuotes = text.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
    return needsQuotes ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
  }
}
#endif
