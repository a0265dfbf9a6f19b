/// The unfinished jobs that an index of a database contains.
@_spi(JobStore) public enum JobPart: CaseIterable, Sendable {
  /// Jobs that wait for other jobs.
  case held
  /// Jobs that wait for a time.
  case scheduled
  /// Waiting jobs without a limit.
  case plain
  /// Waiting jobs with limits.
  case keyed
  /// Waiting jobs whose processes have died.
  case suspect
  /// Running jobs.
  case running

  /// The state of the jobs.
  public var state: JobState {
    switch self {
    case .held: .held
    case .scheduled: .scheduled
    case .plain, .keyed, .suspect: .waiting
    case .running: .running
    }
  }

  /// The condition of the index.
  public var condition: String {
    switch self {
    case .held: "state = 0"
    case .scheduled: "state = 1"
    case .plain: "state = 2 AND crashes = 0 AND limit_key IS NULL"
    case .keyed: "state = 2 AND crashes = 0 AND limit_key IS NOT NULL"
    case .suspect: "state = 2 AND crashes > 0"
    case .running: "state = 3"
    }
  }

  /// The parts with waiting jobs.
  public static let waiting = allCases.filter { $0.state == .waiting }
}
