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
      "Jobs in this state: held, scheduled, retrying, waiting, running, succeeded, failed, or cancelled. This option "
        + "can be repeated.", valueName: "name"))
  var state: [JobState] = []

  @Option(help: ArgumentHelp("Jobs with this tag.", valueName: "word"))
  var tag: String?

  @Option(help: ArgumentHelp("Jobs whose label contains this text (case-sensitive).", valueName: "text"))
  var label: String?

  // JSON can begin with a minus sign.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Jobs whose payload contains this text (case-sensitive).", valueName: "text"))
  var payload: String?

  // Durations can begin with a minus sign.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Jobs that were stored at or after this time: a date in ISO 8601 format, in UTC if it has no offset, or a "
        + "duration before now, such as -2h.", valueName: "time"),
    transform: JobTime.init)
  var since: JobTime?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Jobs that were stored at or before this time.", valueName: "time"), transform: JobTime.init)
  var until: JobTime?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Jobs that ended at or after this time.", valueName: "time"), transform: JobTime.init)
  var endedSince: JobTime?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Jobs that ended at or before this time.", valueName: "time"), transform: JobTime.init)
  var endedUntil: JobTime?

  @Option(
    help: ArgumentHelp(
      "Jobs whose last attempt failed with this error. 'headway jobs errors' lists the errors.", valueName: "error"))
  var errorGroup: JobErrorGroup.ID?

  func validate() throws {
    // Every job contains an empty string, for example if a variable of the shell is not set.
    for (name, text) in [("label", label), ("payload", payload)] where text?.isEmpty == true {
      throw ValidationError("--\(name) '': use at least one character.")
    }
  }

  var isEmpty: Bool {
    queue.isEmpty && kind.isEmpty && state.isEmpty && tag == nil && label == nil && payload == nil && since == nil
      && until == nil && endedSince == nil && endedUntil == nil && errorGroup == nil
  }

  /// Creates the selection.
  ///
  /// - Parameters:
  ///   - ids: The IDs of the jobs; nil for all jobs.
  ///   - now: The time of the store's clock.
  /// - Returns: A filter with the conditions of the options.
  func filter(_ ids: [JobID]? = nil, at now: StoreTime) -> JobFilter {
    JobFilter(
      ids: ids, states: state.isEmpty ? nil : Set(state), queues: queue.isEmpty ? nil : Set(queue),
      kinds: kind.isEmpty ? nil : Set(kind.map { JobKind(rawValue: $0) }), tag: tag, label: label,
      payload: payload, since: since?.time(at: now), until: until?.time(at: now),
      endedSince: endedSince?.time(at: now), endedUntil: endedUntil?.time(at: now),
      errorGroup: errorGroup)
  }
}

/// The jobs that a command changes, selected by their numbers or by options.
struct JobTargets: ParsableArguments {
  @Argument(help: ArgumentHelp("The job numbers.", valueName: "job"))
  var jobs: [Int64] = []

  @OptionGroup
  var options: JobFilterOptions

  @Flag(help: "All jobs that the command applies to.")
  var all = false

  func validate() throws {
    if jobs.isEmpty, options.isEmpty, !all {
      throw ValidationError(
        "Select the jobs by number, with --queue, --kind, --state, --tag, --label, --payload, --since, --until, "
          + "--ended-since, --ended-until, or --error-group, or with --all.")
    }
    if all, !jobs.isEmpty || !options.isEmpty {
      throw ValidationError("--all can't be combined with numbers or with other options that select jobs.")
    }
  }

  /// Creates the selection, after checking that all jobs that were selected by number exist.
  ///
  /// - Parameter store: The jobs of the store.
  /// - Returns: A filter with the conditions of the options.
  /// - Throws: `MissingJob`, or an error of the store.
  func filter(in store: Jobs) async throws -> JobFilter {
    for id in ids where try await store.job(id) == nil { throw MissingJob(id: id) }
    return options.filter(jobs.isEmpty ? nil : ids, at: store.store.now)
  }

  private var ids: [JobID] { jobs.map { JobID(rawValue: $0) } }
}
#endif
