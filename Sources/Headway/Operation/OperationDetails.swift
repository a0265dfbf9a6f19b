/// The rare parts of an operation, in an object of their own so that most operations do not pay for them.
///
/// Protected by the lock of the operation's links.
final class OperationDetails {
  var name: String?
  var completionBlock: (@Sendable () -> Void)?
  /// The blocks of a block operation but the first, until they are taken for running.
  var otherBlocks: [ThrowingBlock] = []
  var error: (any Error)?
  var progress: OperationProgress?
  /// Those who wait for the end, notifying included.
  var waiters = WaiterList()
  /// Those who wait for no more than that dependents are released and the queue is left.
  var settlingWaiters = WaiterList()
  var threadPriority = 0.5
  /// Made with the first observer; emptied at the end.
  var observers: ObserverList?
  /// In the order of registering; emptied when called, and at the end.
  var cancellationHandlers: [@Sendable () -> Void] = []
  /// The dependents that require this operation to succeed; emptied at the end.
  var successDependents: [WeakOperation] = []
  /// Counts how often `isReady` was asked because an override may have changed its answer.
  var readinessInquiries: UInt64 = 0
  /// What this operation, executing, is blocked on in ``Operation/waitUntilFinished()``.
  weak var waitsFor: Operation?
  /// What it is blocked on in ``OperationQueue/waitUntilAllOperationsAreFinished()``.
  weak var waitsForQueue: OperationQueue?
}
