/// The unfinished jobs that an index of a database contains.
@_spi(JobStore) public enum JobPart: CaseIterable, Sendable {
  /// Jobs that wait for other jobs.
  case held
  /// Jobs that wait until they are due.
  case scheduled
  /// Jobs that wait until their next attempt is due.
  case retrying
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
    case .retrying: .retrying
    case .plain, .keyed, .suspect: .waiting
    case .running: .running
    }
  }

  /// The condition of the index.
  public var condition: String {
    switch self {
    case .held, .scheduled, .retrying: "\(JobCondition.isUnready) AND \(state.condition)"
    case .plain: "\(state.condition) AND crashes = 0 AND limit_key IS NULL"
    case .keyed: "\(state.condition) AND crashes = 0 AND limit_key IS NOT NULL"
    case .suspect: "\(state.condition) AND crashes > 0"
    case .running: state.condition
    }
  }

  /// The parts with waiting jobs.
  public static let waiting = allCases.filter { $0.state == .waiting }
  /// The parts with jobs that count for the maximum of their queue.
  public static let pending = allCases.filter(\.state.isPending)
}
