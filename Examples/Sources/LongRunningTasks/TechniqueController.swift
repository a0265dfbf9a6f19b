import Headway

/// What a technique does when its screen appears.
protocol TechniqueController: AnyObject, Sendable {
  /// Hands the tasks over, or runs them. Called on the main queue.
  func viewDidAppear()

  /// The queue with its operations, the first task's first, if it has one.
  var processing: (queue: OperationQueue, operations: [Operation])? { get }

  /// Holds back what has not started, or goes on.
  func setSuspended(_ isSuspended: Bool)
}

extension TechniqueController {
  var processing: (queue: OperationQueue, operations: [Operation])? { nil }

  func setSuspended(_ isSuspended: Bool) { processing?.queue.isSuspended = isSuspended }
}
