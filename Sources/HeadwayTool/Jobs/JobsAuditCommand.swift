#if Jobs
import ArgumentParser
import HeadwayJobs

struct JobsAuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit", abstract: "List the changes that people have made, newest first.",
    discussion: """
      Each change by the dashboard or by these commands is recorded with its author, its selection, the number of \
      changed jobs, and the values before and after. Records are kept for 90 days. Programs can also name the author \
      of a change; their other changes are not recorded.
      """)

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The maximum number of changes to list.", valueName: "number"))
  var limit = 100

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("List only changes whose numbers are smaller than this number.", valueName: "change"))
  var before: Int64?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("List only changes of this single job.", valueName: "job"))
  var job: Int64?

  @OptionGroup var options: JobStoreOptions

  func validate() throws {
    guard limit > 0 else { throw ValidationError("--limit \(limit): use 1 or more.") }
  }

  func run() async throws {
    try await options.withStore { _, jobs in
      // Reads one more change than the limit, to find out whether there are more.
      let found = try await jobs.changes(
        of: job.map { JobID(rawValue: $0) }, before: before, limit: limit == .max ? limit : limit + 1)
      let listed = found.prefix(limit)
      guard !options.json else {
        for change in listed { StandardStream.output.writeLine(JSONEvent.line(JobsJSON.Audited(change))) }
        return
      }
      guard let end = listed.last else { return StandardStream.output.writeLine("No changes.") }
      for change in listed {
        StandardStream.output.writeLine("\(change.number)  \(change.time)  \(change.author) \(change.text)")
        for value in change.values { StandardStream.output.writeLine("    \(Self.line(value))") }
      }
      if found.count > limit {
        StandardStream.output.writeLine("There are more changes: use --before \(end.number).")
      }
    }
  }

  /// Returns a property with its values, on one line.
  private static func line(_ value: JobsChangeRecord.Value) -> String {
    func text(_ values: [String]) -> String { values.isEmpty ? "none" : JobsChangeRecord.text(of: values) }
    let line = value.before.isEmpty ? text(value.after) : "\(text(value.before)) -> \(text(value.after))"
    return "\(value.name): \(line)".split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}

extension JobsJSON {
  /// A change by a person.
  struct Audited: Encodable {
    /// The conditions that the changed jobs met.
    struct Selection: Encodable {
      let ids: [Int64]?
      let states: [String]?
      let queues: [String]?
      let kinds: [String]?
      let tag: String?
      let culprit: Int64?
      let label: String?
      let payload: String?
      let since: String?
      let until: String?
      let endedSince: String?
      let endedUntil: String?
      let errorGroup: String?

      init(_ filter: JobFilter) {
        ids = filter.ids?.map(\.rawValue)
        states = filter.states?.map(\.name).sorted()
        queues = filter.queues?.sorted()
        kinds = filter.kinds?.map(\.rawValue).sorted()
        (tag, culprit, label, payload) = (filter.tag, filter.culprit?.rawValue, filter.label, filter.payload)
        (since, until) = (filter.since?.description, filter.until?.description)
        (endedSince, endedUntil) = (filter.endedSince?.description, filter.endedUntil?.description)
        errorGroup = filter.errorGroup?.description
      }
    }

    struct Value: Encodable {
      let name: String
      let before: [String]
      let after: [String]
    }

    let number: Int64
    let time: String
    let author: String
    let action: String
    let text: String
    let count: Int
    var selection: Selection?
    var queue: String?
    var schedule: String?
    var errorGroup: String?
    let jobs: [Int64]
    let values: [Value]

    init(_ change: JobsChangeRecord) {
      (number, time, author) = (change.number, change.time.description, change.author)
      (action, text, count) = (change.action.rawValue, change.text, change.count)
      jobs = change.ids.map(\.rawValue)
      values = change.values.map { Value(name: $0.name, before: $0.before, after: $0.after) }
      switch change.subject {
      case .jobs(let filter): selection = Selection(filter)
      case .queue(let name): queue = name
      case .schedule(let name): schedule = name
      case .errorGroup(let name): errorGroup = name
      case .store: break
      }
    }
  }
}
#endif
