/// The details of an operation, in a separate object so that most operations do not pay for them.
///
/// Protected by the lock of the operation's links, which already guarantees exclusive access, so it is not checked
/// again at each access.
final class OperationDetails {
  // Memory of up to 120 bytes is freed without taking the lock of glibc's arena, so the rarely used details are in
  // another object. This one uses 104 bytes. Another property would add 16 bytes.

  @exclusivity(unchecked) var name: String?
  @exclusivity(unchecked) var completion = Completion.none
  @exclusivity(unchecked) var error: (any Error)?
  @exclusivity(unchecked) var waiters = EndWaiters()
  /// Created with the first handler; removed when the handlers are called, and when the operation ends.
  @exclusivity(unchecked) var cancellationHandlers: CancellationHandlers?
  /// The dependents that require this operation to succeed; removed when the operation ends.
  @exclusivity(unchecked) var successDependents: SuccessDependents?
  /// The dependencies beyond those that are in the slots of the operation.
  @exclusivity(unchecked) var furtherDependencies: FurtherDependencies?
  /// The gate of an operation with a policy, which holds the operation back and limits its time.
  ///
  /// Set before the operation is added to a queue.
  @exclusivity(unchecked) var gate: OperationGate?
  @exclusivity(unchecked) private(set) var rareDetails: RareDetails?

  /// The number of reports of the end that have not returned.
  var reportCount: Int { rareDetails?.reportCount ?? 0 }

  deinit {
    // A registration may still refer to the handlers, but must not keep the objects that they captured.
    if cancellationHandlers != nil { cancellationHandlers.take()?.removeAll() }
    guard completion.block != nil || error != nil || rareDetails?.hasBlocks == true else { return }
    ReleasedChain.release((completion.take(), error.take(), rareDetails.take()))
  }

  /// The details that even fewer operations have, created when they are first needed.
  var rareDetailsCreatedIfNeeded: RareDetails {
    if let rareDetails { return rareDetails }
    let made = RareDetails()
    rareDetails = made
    return made
  }

  final class RareDetails {
    /// The blocks of a block operation except the first, until they are taken out to run.
    @exclusivity(unchecked) var otherBlocks: [ThrowingBlock] = []
    /// The blocks that have run, and anything else that is kept until the operation has ended.
    @exclusivity(unchecked) var finishedBlocks: [ThrowingBlock] = []
    @exclusivity(unchecked) var threadPriority = 0.5
    @exclusivity(unchecked) var progress: OperationProgress?
    /// The list of observers: see ``Operation/Links/observers``.
    @exclusivity(unchecked) var observers: ObserverList?
    /// How many units of its queue's progress the operation completes.
    @exclusivity(unchecked) var progressUnitCount: Int64 = 1
    /// The edges that were moved out of the stack of dependents, in the order of adding; removed when the operation
    /// ends.
    @exclusivity(unchecked) var dependents = IdentityList<Edge>()
    /// The number of times that `isReady` was evaluated because the value of an override may have changed.
    @exclusivity(unchecked) var readinessInquiries: UInt64 = 0
    /// The waits of the threads and tasks that are inside this operation.
    @exclusivity(unchecked) var waits: [KnownWait] = []
    /// The calls with helpers that a thread of a low class has begun in the operation, and that have not returned.
    @exclusivity(unchecked) var calls: [ConcurrentIterations] = []
    /// The number of dependencies that were removed before they finished, plus the number of returns from blocking.
    @exclusivity(unchecked) var withdrawnWaits = 0
    /// Whether a queue that has refused the operation reports its failure.
    @exclusivity(unchecked) var hasReport = false
    /// The number of reports of the end that have not returned: see ``EndReport``.
    @exclusivity(unchecked) var reportCount = 0

    /// Whether there are blocks of a block operation, or other objects that are kept until the operation has ended.
    var hasBlocks: Bool { !otherBlocks.isEmpty || !finishedBlocks.isEmpty }

    /// Removes and returns the blocks of a block operation except the first, whether or not they have run.
    func takeBlocks() -> [ThrowingBlock] {
      defer { (otherBlocks, finishedBlocks) = ([], []) }
      return otherBlocks + finishedBlocks
    }
  }
}
