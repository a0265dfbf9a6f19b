/// One of the seven ways to run long tasks that the sample LongRunningTasks compares.
public enum Technique: String, CaseIterable, Sendable, Hashable {
  /// One task after another on the main thread, which does nothing else in that time.
  case main
  /// A separate thread for each task.
  case background
  /// An operation queue that runs the tasks at the same time.
  case concurrent
  /// An operation queue with tasks that wait for the previous one.
  case serial
  /// Operations of a custom class, which check whether they were cancelled.
  case custom
  /// A dispatch queue that runs the tasks, and the items of each, at the same time.
  case dispatchConcurrent = "dispatch-concurrent"
  /// A dispatch queue that runs one task after another.
  case dispatchSerial = "dispatch-serial"

  /// The name of the technique in the log.
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

  /// The name of the technique for people.
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

  /// The controls that apply to its tasks after they have been submitted.
  ///
  /// Cancelling works with every technique.
  public var controls: Set<Control> {
    switch self {
    case .main, .background, .dispatchConcurrent: []
    case .dispatchSerial: [.suspension]
    case .concurrent, .serial, .custom: [.suspension, .limit, .priority, .dependency]
    }
  }

  /// A control for tasks that have been submitted.
  public enum Control: String, CaseIterable, Sendable, Hashable {
    /// Suspending tasks that have not started.
    case suspension
    /// Changing how many tasks run at the same time.
    case limit
    /// Changing the priority of a waiting task.
    case priority
    /// Making a waiting task depend on another.
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
