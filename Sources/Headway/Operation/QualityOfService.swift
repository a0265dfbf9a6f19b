/// How important work is to the user.
///
/// On Apple platforms, work runs on threads of the quality of service of that name. On Linux, utility and background
/// work runs on threads with a raised nice value, so that other work wins the processor; the other three are alike.
public enum QualityOfService: Int, Sendable, Hashable, CaseIterable {
  /// The user waits for it at this moment: drawing, events.
  case userInteractive = 0x21
  /// The user asked for it and waits.
  case userInitiated = 0x19
  /// The user does not wait, but watches: an import with a progress bar.
  case utility = 0x11
  /// The user does not know of it: tidying up, fetching ahead.
  case background = 0x09
  /// Nothing was said.
  case `default` = -1

  /// From 0, for nothing said, to 4, the most urgent.
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

  /// The one that is meant for work of a task's priority.
  ///
  /// The priority of tasks of which nothing was said is medium.
  init(_ priority: TaskPriority) {
    self =
      switch priority {
      case .background: .background
      case .utility: .utility
      case .high: .userInitiated
      default: priority > .high ? .userInteractive : .default
      }
  }

  /// The priority of a task that does such work; nil if nothing was said.
  ///
  /// The numbers are the same.
  var taskPriority: TaskPriority? { self == .default ? nil : TaskPriority(rawValue: UInt8(rawValue)) }

  /// The class of workers that run such work.
  var workerClass: WorkerClass {
    switch self {
    case .background: .background
    case .utility: .utility
    case .default, .userInitiated, .userInteractive: .normal
    }
  }
}

extension WorkerClass {
  /// Callers of this class raise what they wait for to this level of quality of service; 0 for none.
  var raisingLevel: Int {
    switch self {
    case .normal: QualityOfService.userInitiated.level
    case .utility: QualityOfService.utility.level
    case .background: 0
    }
  }

  /// The class to which an operation of a level of quality of service raises what it waits for; the lowest class if it
  /// raises nothing, because it has no quality of service of its own, or it is a background operation.
  init(raisingLevel level: Int) {
    self =
      level > QualityOfService.utility.level
      ? .normal : level == QualityOfService.utility.level ? .utility : .background
  }
}
