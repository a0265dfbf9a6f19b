@_spi(JobStore) extension JobState {
  /// The condition that a job has this state, in SQL.
  public var condition: String { "state = \(rawValue)" }
}

/// Conditions in SQL that include several states.
///
/// A database uses an index of such a condition only for statements that contain the same text.
@_spi(JobStore) public enum JobCondition {
  /// Jobs that are not ready: held, scheduled and retrying jobs.
  public static let isUnready = "state < \(JobState.waiting.rawValue)"
  /// Jobs that wait for a time: scheduled and retrying jobs.
  public static let waitsForTime = "state BETWEEN \(JobState.scheduled.rawValue) AND \(JobState.retrying.rawValue)"
  /// Unfinished jobs that a ``JobChange`` can change, and that can miss their deadline: all jobs that don't run.
  public static let isChangeable = "state < \(JobState.running.rawValue)"
  /// Unfinished jobs that keep the place of a serial key: all except held jobs.
  public static let hasSerialPlace = "state > \(JobState.held.rawValue)"
  /// Finished jobs that have failed or were cancelled.
  public static let isUnsuccessful = "state > \(JobState.succeeded.rawValue)"
}

@_spi(JobStore) extension JobRow {
  /// The numbers of the states of unfinished jobs with their names, for people who read the schema.
  public static let unfinishedStates = names(of: JobState.unfinished)
  /// The numbers of the states of finished jobs with their names.
  public static let finishedStates = names(of: JobState.finished)

  private static func names(of states: Set<JobState>) -> String {
    JobState.allCases.filter(states.contains).map { "\($0.rawValue) \($0.name)" }.joined(separator: ", ")
  }
}
