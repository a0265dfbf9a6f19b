/// The rare parts of an operation, in an object of their own so that most operations do not pay for them.
///
/// Protected by the lock of the operation's links, which excludes others; so that is not checked once more at each
/// access.
final class OperationDetails {
  // Memory of up to 120 bytes is given back without glibc's lock of its arena, so what is rareDetails is in another
  // object.

  @exclusivity(unchecked) var name: String?
  @exclusivity(unchecked) var completion = Completion.none
  @exclusivity(unchecked) var error: (any Error)?
  @exclusivity(unchecked) var progress: OperationProgress?
  @exclusivity(unchecked) var waiters = EndWaiters()
  /// Made with the first observer; emptied at the end.
  @exclusivity(unchecked) var observers: ObserverList?
  /// Made with the first handler; taken out when they are called, and at the end.
  @exclusivity(unchecked) var cancellationHandlers: CancellationHandlers?
  /// The dependents that require this operation to succeed; taken out at the end.
  @exclusivity(unchecked) var successDependents: SuccessDependents?
  /// The dependencies beyond those that are in the slots of the operation.
  @exclusivity(unchecked) var furtherDependencies: FurtherDependencies?
  @exclusivity(unchecked) private(set) var rareDetails: Rarer?

  /// How many reports of the end have not returned.
  var reportCount: Int { rareDetails?.reportCount ?? 0 }

  deinit {
    // A registration may still refer to the handlers, and must not keep what they captured.
    if cancellationHandlers != nil { cancellationHandlers.take()?.removeAll() }
    guard completion.block != nil || error != nil || rareDetails?.hasBlocks == true else { return }
    ReleasedChain.release((completion.take(), error.take(), rareDetails.take()))
  }

  /// What even fewer operations have, made when first needed.
  var rareDetailsCreatedIfNeeded: Rarer {
    if let rareDetails { return rareDetails }
    let made = Rarer()
    rareDetails = made
    return made
  }

  final class Rarer {
    /// The blocks of a block operation but the first, until they are taken for running.
    @exclusivity(unchecked) var otherBlocks: [ThrowingBlock] = []
    /// Those that have run, until the operation has ended; and what else is kept until then.
    @exclusivity(unchecked) var finishedBlocks: [ThrowingBlock] = []
    @exclusivity(unchecked) var threadPriority = 0.5
    /// The edges that were moved out of the stack of dependents, in the order of adding; emptied at the end.
    @exclusivity(unchecked) var dependents = IdentityList<Edge>()
    /// Counts how often `isReady` was asked because an override may have changed its answer.
    @exclusivity(unchecked) var readinessInquiries: UInt64 = 0
    /// The waits of the threads and tasks that are inside this operation.
    @exclusivity(unchecked) var waits: [KnownWait] = []
    /// The calls that a thread of a low class has begun in it, with helpers, and that have not returned.
    @exclusivity(unchecked) var calls: [ConcurrentIterations] = []
    /// Counts the dependencies that were removed before they finished, and the returns from blocking.
    @exclusivity(unchecked) var withdrawnWaits = 0
    /// A queue that has refused the operation reports its failure.
    @exclusivity(unchecked) var hasReport = false
    /// How many reports of the end have not returned: see ``EndReport``.
    @exclusivity(unchecked) var reportCount = 0

    /// Whether it has blocks of a block operation, or anything else that is kept until the end.
    var hasBlocks: Bool { !otherBlocks.isEmpty || !finishedBlocks.isEmpty }

    /// Takes out the blocks of a block operation but the first, whether or not they have run.
    func takeBlocks() -> [ThrowingBlock] {
      defer { (otherBlocks, finishedBlocks) = ([], []) }
      return otherBlocks + finishedBlocks
    }
  }
}
