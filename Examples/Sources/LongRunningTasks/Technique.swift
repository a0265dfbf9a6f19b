/// A way of running long tasks, of the seven that the sample LongRunningTasks compares.
public enum Technique: String, CaseIterable, Sendable, Hashable {
  /// One task after another on the main thread, which does nothing else meanwhile.
  case main
  /// A thread of its own for each task.
  case background
  /// An operation queue that runs the tasks at the same time.
  case concurrent
  /// An operation queue in which each task waits for the one before it.
  case serial
  /// Operations of a class of their own, which look whether they were cancelled.
  case custom
  /// A dispatch queue that runs the tasks, and the items of each, at the same time.
  case dispatchConcurrent = "dispatch-concurrent"
  /// A dispatch queue that runs one task after another.
  case dispatchSerial = "dispatch-serial"

  /// What the log calls it.
  public var logName: String {
    switch self {
    case .main: "Main"
    case .background: "Background"
    case .concurrent: "OpQ Concurrent"
    case .serial: "OpQ Serial"
    case .custom: "OpQ Custom"
    case .dispatchConcurrent: "DispQ Concurrent"
    case .dispatchSerial: "DispQ Serial"
    }
  }

  /// What people read.
  public var title: String {
    switch self {
    case .main: "Main thread"
    case .background: "Threads in the background"
    case .concurrent: "Operation queue, concurrent"
    case .serial: "Operation queue, serial"
    case .custom: "Custom operations"
    case .dispatchConcurrent: "Dispatch queue, concurrent"
    case .dispatchSerial: "Dispatch queue, serial"
    }
  }

  /// What can be done to its tasks once they have been handed over; cancelling works with each.
  public var controls: Set<Control> {
    switch self {
    case .main, .background, .dispatchConcurrent: []
    case .dispatchSerial: [.suspension]
    case .concurrent, .serial, .custom: [.suspension, .limit, .priority, .dependency]
    }
  }

  /// Something that can be done to tasks that have been handed over.
  public enum Control: String, CaseIterable, Sendable, Hashable {
    /// Holding back what has not started.
    case suspension
    /// Changing how many run at the same time.
    case limit
    /// Changing which of those that wait comes first.
    case priority
    /// Making one that waits wait for another.
    case dependency
  }

  func makeController(_ screen: Screen) -> any TechniqueController {
    switch self {
    case .main: ICFMainThreadLongRunningTaskViewController(screen)
    case .background: ICFPerformBackgroundViewController(screen)
    case .concurrent: ICFOperationQueueConcurrentViewController(screen)
    case .serial: ICFOperationQueueSerialViewController(screen)
    case .custom: ICFOperationQueueCustomViewController(screen)
    case .dispatchConcurrent: ICFDispatchQueueConcurrentViewController(screen)
    case .dispatchSerial: ICFDispatchQueueSerialViewController(screen)
    }
  }
}
