#if Jobs
import ArgumentParser
import HeadwayJobs

/// The commands for the error groups of a store.
struct JobsErrorsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "errors", abstract: "List the errors of failed attempts, and mute them.",
    discussion: """
      Without a subcommand, the errors are listed. Attempts count as the same error if the kind of the job, the type \
      of the error, and its text without numbers and quotes are equal. To select the jobs of an error in other \
      commands, use --error-group with the ID of the error.
      """,
    subcommands: [
      JobsErrorsListCommand.self, ChangeErrorsCommand<MuteErrors>.self, ChangeErrorsCommand<UnmuteErrors>.self,
    ], defaultSubcommand: JobsErrorsListCommand.self)
}

struct JobsErrorsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the errors that are not muted, latest first.",
    discussion: "Jobs that retry, and jobs that have failed, are counted up to \(JobErrorGroup.maxJobCount).")

  @Flag(help: "List the muted errors instead.")
  var muted = false

  @Option(help: ArgumentHelp("The maximum number of errors to list.", valueName: "count"))
  var limit = 50

  @OptionGroup var options: JobStoreOptions

  func validate() throws {
    guard limit > 0 else { throw ValidationError("--limit \(limit): use 1 or more.") }
  }

  func run() async throws {
    try await options.withStore { _, jobs in
      let found = try await jobs.errorGroups(areMuted: muted, limit: limit == .max ? limit : limit + 1)
      let listed = found.prefix(limit)
      guard !options.json else {
        for group in listed { StandardStream.output.writeLine(JSONEvent.line(JobsJSON.ErrorGroup(group))) }
        return
      }
      guard !listed.isEmpty else { return StandardStream.output.writeLine(muted ? "No muted errors." : "No errors.") }
      let now = jobs.store.now
      let titles = ["error", "kind", "attempts", "24 h", "retrying", "failed", "last seen", ""]
      for line in JobText.table(titles, listed.map { Self.row($0, at: now) }) { StandardStream.output.writeLine(line) }
      if found.count > limit { StandardStream.output.writeLine("There are more errors. Use --limit to list them.") }
    }
  }

  private static func row(_ group: JobErrorGroup, at now: StoreTime) -> [String] {
    func number(_ count: Int) -> String {
      count > JobErrorGroup.maxJobCount ? "> \(JobErrorGroup.maxJobCount)" : "\(count)"
    }
    let text = [group.type, group.text].filter { !$0.isEmpty }.joined(separator: ": ")
    return [
      "\(group.id)", group.kind.rawValue, "\(group.count)", "\(group.hourlyCounts.reduce(0, +))",
      number(group.retryingCount), number(group.failedCount), "\(JobText.duration(now - group.lastSeenTime)) ago",
      text + (group.mute.map { "; muted\($0.author.map { " by \($0)" } ?? ""): \(line($0.note))" } ?? ""),
    ]
  }

  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}

/// A change of error groups that a command selects by ID, with the options of the change.
protocol ErrorChange: ParsableArguments {
  static var configuration: CommandConfiguration { get }
  /// The name of the change in JSON.
  static var name: String { get }

  /// Makes the change.
  ///
  /// - Parameters:
  ///   - id: The ID of the group.
  ///   - jobs: The jobs of the store.
  /// - Returns: Whether the group was changed, and the sentence to print.
  /// - Throws: `JobError`.
  func apply(to id: JobErrorGroup.ID, in jobs: Jobs) async throws -> (isChanged: Bool, sentence: String)
}

/// The command that makes such a change.
struct ChangeErrorsCommand<Change: ErrorChange>: AsyncParsableCommand {
  static var configuration: CommandConfiguration { Change.configuration }

  @Argument(help: ArgumentHelp("The IDs of the errors.", valueName: "error"))
  var ids: [JobErrorGroup.ID]

  @OptionGroup var change: Change
  @OptionGroup var options: JobStoreOptions

  func run() async throws {
    try await options.withStore { _, jobs in
      for id in ids where try await jobs.errorGroup(id) == nil { throw MissingErrorGroup(id: id) }
      for id in ids {
        let (isChanged, sentence) = try await change.apply(to: id, in: jobs)
        options.show(
          JobsJSON.ChangedError(error: "\(id)", change: Change.name, changed: isChanged ? 1 : 0), [sentence])
      }
    }
  }
}

struct MuteErrors: ErrorChange {
  static let configuration = CommandConfiguration(
    commandName: "mute", abstract: "Mute errors, with a note for other people.",
    discussion: "Attempts that fail with a muted error are counted, but they raise no alarm.")
  static let name = "mute"

  @Option(help: ArgumentHelp("Why people can ignore the errors.", valueName: "text"))
  var note: String

  func validate() throws {
    let (length, maximum) = (note.utf8.count, JobErrorGroup.Mute.maxNoteLength)
    if note.isEmpty { throw ValidationError("--note '': use at least one character.") }
    guard length <= maximum else {
      throw ValidationError("--note has \(length) bytes, but at most \(maximum) are possible.")
    }
  }

  func apply(to id: JobErrorGroup.ID, in jobs: Jobs) async throws -> (isChanged: Bool, sentence: String) {
    let isChanged = try await jobs.mute(id, note: note)
    return (isChanged, "The error \(id) \(isChanged ? "is muted" : "was already muted with this note").")
  }
}

struct UnmuteErrors: ErrorChange {
  static let configuration = CommandConfiguration(
    commandName: "unmute", abstract: "End the mute of errors, so that they raise alarms again.")
  static let name = "unmute"

  func apply(to id: JobErrorGroup.ID, in jobs: Jobs) async throws -> (isChanged: Bool, sentence: String) {
    let isChanged = try await jobs.unmute(id)
    return (isChanged, "The error \(id) \(isChanged ? "is no longer muted" : "was not muted").")
  }
}

/// An error group that the user has specified does not exist.
struct MissingErrorGroup: Error, CustomStringConvertible {
  let id: JobErrorGroup.ID

  var description: String { "The store has no error \(id): it was deleted or never occurred." }
}

extension JobsJSON {
  /// A group of failed attempts.
  struct ErrorGroup: Encodable {
    struct Mute: Encodable {
      let note: String
      let author: String?
      let time: String
    }

    let id: String
    let kind: String
    let type: String
    let text: String
    let attempts: Int
    /// The attempts of the last hours, oldest first.
    let hours: [Int]
    let retrying: Int
    let failed: Int
    let first: String
    let last: String
    let lastJob: Int64
    let mute: Mute?

    init(_ group: JobErrorGroup) {
      (id, kind, type, text) = (group.id.description, group.kind.rawValue, group.type, group.text)
      (attempts, hours) = (group.count, group.hourlyCounts)
      (retrying, failed) = (group.retryingCount, group.failedCount)
      (first, last, lastJob) = (group.firstSeenTime.description, group.lastSeenTime.description, group.lastJob.rawValue)
      mute = group.mute.map { Mute(note: $0.note, author: $0.author, time: $0.time.description) }
    }
  }

  /// An error group that a command has changed.
  struct ChangedError: Encodable {
    let error: String
    let change: String
    /// 1 if the group has changed, and 0 otherwise.
    let changed: Int
  }
}
#endif
