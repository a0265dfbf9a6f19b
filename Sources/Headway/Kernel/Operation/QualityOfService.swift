/// How important work is to the user.
///
/// On Apple platforms, work runs on threads of the quality of service of the same name. On Linux, utility and
/// background work runs on threads with a raised nice value, so other work gets the processor first. The other three
/// are treated in the same way.
public enum QualityOfService: Int, Sendable, Hashable, CaseIterable, Codable {
  /// The user waits for the work at this moment, for example drawing or the handling of events.
  case userInteractive = 0x21
  /// The user started the work and waits for it.
  case userInitiated = 0x19
  /// The user does not wait for the work but watches it, for example an import with a progress bar.
  case utility = 0x11
  /// The user is not aware of the work, for example cleanup or prefetching.
  case background = 0x09
  /// The quality of service is unspecified.
  case `default` = -1

  /// The level, from 0 (unspecified) to 4 (the most urgent).
  var level: Int {
    switch self {
    case .default: 0
    case .background: 1
    case .utility: 2
    case .userInitiated: 3
    case .userInteractive: 4
    }
  }

  init(level: Int) {
    self =
      switch level {
      case 1: .background
      case 2: .utility
      case 3: .userInitiated
      case 4: .userInteractive
      default: .default
      }
  }

  /// Creates the quality of service that matches the priority of a task.
  ///
  /// The default priority of a task is medium, which matches `.default`.
  init(_ priority: TaskPriority) {
    self =
      switch priority {
      case .background: .background
      case .utility: .utility
      case .high: .userInitiated
      default: priority > .high ? .userInteractive : .default
      }
  }

  /// The priority of a task that does such work; nil if the quality of service is unspecified.
  ///
  /// The raw values are the same.
  var taskPriority: TaskPriority? { self == .default ? nil : TaskPriority(rawValue: UInt8(rawValue)) }

  /// The class of workers that runs such work.
  var workerClass: WorkerClass {
    switch self {
    case .background: .background
    case .utility: .utility
    case .default, .userInitiated, .userInteractive: .normal
    }
  }
}

extension WorkerClass {
  /// The level of quality of service that callers of this class raise an operation to when they wait for it; 0 to raise
  /// nothing.
  var raisingLevel: Int {
    switch self {
    case .normal: QualityOfService.userInitiated.level
    case .utility: QualityOfService.utility.level
    case .background: 0
    }
  }

  /// Creates the class that an operation raises others to when it waits for them, from its level of quality of service.
  ///
  /// The result is the lowest class if it raises nothing, because it has no quality of service or is a background
  /// operation.
  init(raisingLevel level: Int) {
    self =
      level > QualityOfService.utility.level
      ? .normal : level == QualityOfService.utility.level ? .utility : .background
  }
}
