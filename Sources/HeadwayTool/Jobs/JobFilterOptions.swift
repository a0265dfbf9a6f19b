#if Jobs
import ArgumentParser
import HeadwayJobs

/// The options that select jobs.
struct JobFilterOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Jobs of this queue. This option can be repeated.", valueName: "name"))
  var queue: [String] = []

  @Option(help: ArgumentHelp("Jobs of this kind. This option can be repeated.", valueName: "name"))
  var kind: [String] = []

  @Option(
    help: ArgumentHelp(
      "Jobs in this state: held, scheduled, waiting, running, succeeded, failed or cancelled. This option can be "
        + "repeated.", valueName: "name"))
  var state: [JobState] = []

  @Option(help: ArgumentHelp("Jobs with this tag.", valueName: "word"))
  var tag: String?

  var isEmpty: Bool { queue.isEmpty && kind.isEmpty && state.isEmpty && tag == nil }

  /// Creates the selection.
  ///
  /// - Parameter ids: The numbers of the jobs; nil for all jobs.
  /// - Returns: The selection.
  func filter(_ ids: [JobID]? = nil) -> JobFilter {
    JobFilter(
      ids: ids, states: state.isEmpty ? nil : Set(state), queues: queue.isEmpty ? nil : Set(queue),
      kinds: kind.isEmpty ? nil : Set(kind.map { JobKind(rawValue: $0) }), tag: tag)
  }
}

/// The jobs that a command changes, selected by their numbers or by options.
struct JobTargets: ParsableArguments {
  @Argument(help: ArgumentHelp("The numbers of the jobs.", valueName: "job"))
  var jobs: [Int64] = []

  @OptionGroup
  var options: JobFilterOptions

  @Flag(help: "All jobs that the command applies to.")
  var all = false

  func validate() throws {
    if jobs.isEmpty, options.isEmpty, !all {
      throw ValidationError("Select the jobs by number, with --queue, --kind, --state or --tag, or with --all.")
    }
    if all, !jobs.isEmpty || !options.isEmpty {
      throw ValidationError("--all: don't combine it with numbers or other options that select jobs.")
    }
  }

  var filter: JobFilter { options.filter(jobs.isEmpty ? nil : ids) }

  private var ids: [JobID] { jobs.map { JobID(rawValue: $0) } }

  /// Checks that all jobs that were selected by number exist.
  func check(_ store: Jobs) async throws {
    for id in ids where try await store.job(id) == nil { throw MissingJob(id: id) }
  }
}
#endif
