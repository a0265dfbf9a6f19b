#if Jobs
import ArgumentParser
import HeadwayJobs

/// A change of queues or schedules that a command selects by name, with the options of the change.
protocol ChangeByName: ParsableArguments {
  static var configuration: CommandConfiguration { get }
  /// The help for the names.
  static var help: String { get }

  /// Makes the change.
  ///
  /// - Parameters:
  ///   - name: The name of the queue or schedule.
  ///   - jobs: The jobs of the store.
  ///   - onChange: Called after each part of the change, with the object and the sentence to print.
  /// - Throws: `JobError`.
  func apply(to name: String, in jobs: Jobs, onChange: (JobsJSON.ChangedByName, String) -> Void) async throws
}

/// The command that makes such a change.
struct ChangeByNameCommand<Change: ChangeByName>: AsyncParsableCommand {
  static var configuration: CommandConfiguration { Change.configuration }

  @Argument(help: ArgumentHelp(Change.help, valueName: "name"))
  var names: [String]

  @OptionGroup var change: Change
  @OptionGroup var options: JobStoreOptions

  func validate() throws {
    // Before any queue or schedule is changed.
    for name in names {
      if name.isEmpty { throw ValidationError("<name> '': use the name of a queue or schedule.") }
      let length = name.utf8.count
      guard length <= NameLength.name else {
        throw ValidationError(
          "<name> '\(name.prefix(20))…': the name has \(length) bytes, but at most \(NameLength.name) are possible.")
      }
    }
  }

  func run() async throws {
    try await options.withStore { _, jobs in
      for name in names {
        try await change.apply(to: name, in: jobs) { changed, sentence in options.show(changed, [sentence]) }
      }
    }
  }
}

extension JobsJSON {
  /// A queue or schedule that a command has changed.
  struct ChangedByName: Encodable {
    var queue: String?
    var schedule: String?
    let change: String
    /// 1 if the queue has changed, and 0 if it already had the value.
    var changed: Int?
    /// The job that a schedule has added.
    var job: Int64?
    /// The number of jobs that a schedule has added for past ticks.
    var added: Int?
  }
}
#endif
