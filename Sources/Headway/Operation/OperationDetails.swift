/// The rare parts of an operation, in an object of their own so that most operations do not pay for them.
///
/// Protected by the lock of the operation's links, which excludes others; so that is not checked once more at each
/// access.
final class OperationDetails {
  // Memory of up to 120 bytes is given back without glibc's lock of its arena, so what is rarer is in another object.

  @exclusivity(unchecked) var name: String?
  @exclusivity(unchecked) var completionBlock: CompletionBlock?
  @exclusivity(unchecked) var error: (any Error)?
  @exclusivity(unchecked) var progress: OperationProgress?
  /// Those who wait for the end, notifying included.
  @exclusivity(unchecked) var waiters = WaiterList()
  /// Those who wait for no more than that dependents are released and the queue is left.
  @exclusivity(unchecked) var settlingWaiters = WaiterList()
  /// Made with the first observer; emptied at the end.
  @exclusivity(unchecked) var observers: ObserverList?
  /// Made with the first handler; taken out when they are called, and at the end.
  @exclusivity(unchecked) var cancellationHandlers: CancellationHandlers?
  /// The dependents that require this operation to succeed; taken out at the end.
  @exclusivity(unchecked) var successDependents: SuccessDependents?
  /// The dependencies beyond those that are in the slots of the operation.
  @exclusivity(unchecked) var furtherDependencies: FurtherDependencies?
  @exclusivity(unchecked) private(set) var rarer: Rarer?

  deinit {
    // A registration may still refer to the handlers, and must not keep what they captured.
    if cancellationHandlers != nil { cancellationHandlers.take()?.removeAll() }
    guard completionBlock != nil || error != nil || rarer?.otherBlocks.isEmpty == false else { return }
    ReleasedChain.release((completionBlock.take(), error.take(), rarer.take()))
  }

  /// What even fewer operations have, made when first needed.
  var madeRarer: Rarer {
    if let rarer { return rarer }
    let made = Rarer()
    rarer = made
    return made
  }

  final class Rarer {
    /// The blocks of a block operation but the first, until they are taken for running.
    @exclusivity(unchecked) var otherBlocks: [ThrowingBlock] = []
    @exclusivity(unchecked) var threadPriority = 0.5
    /// The edges that were moved out of the stack of dependents, in the order of adding; emptied at the end.
    @exclusivity(unchecked) var dependents = IdentityList<Edge>()
    /// Counts how often `isReady` was asked because an override may have changed its answer.
    @exclusivity(unchecked) var readinessInquiries: UInt64 = 0
    /// What this operation, executing, is blocked on in ``Operation/waitUntilFinished()``.
    @exclusivity(unchecked) weak var waitsFor: Operation?
    /// What it is blocked on in ``OperationQueue/waitUntilAllOperationsAreFinished()``.
    @exclusivity(unchecked) weak var waitsForQueue: OperationQueue?
    /// Counts the dependencies that were removed before they finished, and the returns from blocking.
    @exclusivity(unchecked) var withdrawnWaits = 0
  }
}
