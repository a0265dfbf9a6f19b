import Synchronization

/// The details of an operation, in separate memory so that most operations do not pay for them.
///
/// Protected by the lock of the operation's links, which also owns them.
struct OperationDetails: ~Copyable {
  // glibc allocates up to 104 bytes as 112, so the rarely used details are in an object.

  var name: String?
  /// The completion block, until it is taken out to run.
  ///
  /// A thread that finishes the operation might take it out without the lock: see ``Operation/completionBlockIfAny``.
  var completionBlock: CompletionBlock?
  /// Whether there is a completion block that has not returned.
  let completionIsDue = Atomic<Bool>(false)
  /// The code that may still read the dependencies of the finished operation.
  var readers = DependencyReaders()
  /// The number of the list of instruments that follow the operation.
  ///
  /// Set before the operation is added to the queue.
  var followerNumber: UInt32 = 0
  var error: (any Error)?
  var waiters = EndWaiters()
  /// Created with the first handler; removed when the handlers are called, and when the operation ends.
  var cancellationHandlers: CancellationHandlers?
  /// The dependents that require this operation to succeed; removed when the operation ends.
  var successDependents: SuccessDependents?
  /// The dependencies that did not fit in the slots of the operation.
  var furtherDependencies: FurtherDependencies?
  /// The gate of an operation with a policy, which holds the operation back and limits its time.
  ///
  /// Set before the operation is added to a queue.
  var gate: OperationGate?
  /// The list of observers: see ``Operation/Links/observers``.
  var observers: ObserverList?
  private(set) var rareDetails: RareDetails?

  /// The number of reports of the end that have not returned.
  var reportCount: Int { rareDetails?.reportCount ?? 0 }

  /// The details that even fewer operations have, created when they are first needed.
  var rareDetailsCreatedIfNeeded: RareDetails {
    mutating get {
      if let rareDetails { return rareDetails }
      let made = RareDetails()
      rareDetails = made
      return made
    }
  }

  final class RareDetails {
    /// The blocks of a block operation except the first, until they are taken out to run.
    @exclusivity(unchecked) var otherBlocks: [ThrowingBlock] = []
    /// The blocks that have run, and anything else that is kept until the operation has ended.
    @exclusivity(unchecked) var finishedBlocks: [ThrowingBlock] = []
    @exclusivity(unchecked) var threadPriority = 0.5
    @exclusivity(unchecked) var progress: OperationProgress?
    /// How many units of its queue's progress the operation completes.
    @exclusivity(unchecked) var progressUnitCount: Int64 = 1
    /// The edges that were moved out of the stack of dependents, in insertion order; removed when the operation ends.
    @exclusivity(unchecked) var dependents = IdentityList<Edge>()
    /// The number of times that `isReady` was evaluated because the value of an override may have changed.
    @exclusivity(unchecked) var readinessInquiries: UInt64 = 0
    /// The waits of the threads and tasks that are inside this operation.
    @exclusivity(unchecked) var waits: [KnownWait] = []
    /// The calls with helpers that a thread of a low class has begun in the operation, and that have not returned.
    @exclusivity(unchecked) var calls: [ConcurrentIterations] = []
    /// The number of dependencies that were removed before they finished, plus the number of returns from blocking.
    @exclusivity(unchecked) var withdrawnWaits = 0
    /// Whether a queue that has rejected the operation reports its failure.
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

extension OperationDetails {
  private static let memory = RecycledMemory(of: OperationDetails.self)

  static func make() -> UnsafeMutablePointer<OperationDetails> {
    let made = memory.take()
    made.initialize(to: OperationDetails())
    return made
  }

  /// Frees the details of an operation that is being freed.
  static func free(_ details: UnsafeMutablePointer<OperationDetails>) {
    // A registration may still refer to the handlers but must not keep the objects that they captured.
    if let handlers = details.pointee.cancellationHandlers { handlers.removeAll() }
    if details.pointee.completionBlock != nil || details.pointee.error != nil
      || details.pointee.rareDetails?.hasBlocks == true
    {
      ReleasedChain.release(
        (details.pointee.completionBlock.take(), details.pointee.error.take(), details.pointee.rareDetails.take()))
    }
    memory.give(details.deinitialize(count: 1))
  }
}
