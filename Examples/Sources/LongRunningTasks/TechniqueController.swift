import Headway

/// The actions of a technique when its screen appears.
protocol TechniqueController: AnyObject, Sendable {
  /// Submits the tasks, or runs them.
  ///
  /// Called on the main queue.
  func viewDidAppear()

  /// The queue with its operations, in task order.
  ///
  /// Nil if the technique has no operation queue.
  var processing: (queue: OperationQueue, operations: [Operation])? { get }

  /// Suspends tasks that have not started, or resumes them.
  func setSuspended(_ isSuspended: Bool)
}

extension TechniqueController {
  var processing: (queue: OperationQueue, operations: [Operation])? { nil }

  func setSuspended(_ isSuspended: Bool) { processing?.queue.isSuspended = isSuspended }
}
