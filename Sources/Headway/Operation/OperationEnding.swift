/// What is taken out of the links at the end of an operation, to be dealt with after the lock is released.
struct OperationEnding: ~Copyable {
  /// The dependents that became ready, each retained.
  let ready: ReadyDependents
  /// Retained; none if there is a completion block, which may ask for them.
  let dependencies: TakenDependencies
  /// The operation has no dependencies any more.
  let isUnlinked: Bool
  let observers: ObserverList?
  private var completionBlock: CompletionBlock?
  /// Made if there is something.
  let rare: Rare?

  final class Rare {
    let cancellationHandlers: CancellationHandlers?
    /// The dependents that required success, and are to be cancelled.
    let pendingCancellations: [Operation]
    /// References that were needed under the lock, and must not be dropped there.
    let others: [Operation]

    // A registration may still refer to the handlers, and must not keep what they captured.
    deinit { cancellationHandlers?.removeAll() }

    /// Under the lock of the links.
    fileprivate init(taking details: OperationDetails, endedFrom before: OperationWord) {
      // Those of a cancelled operation belong to the thread that cancelled it, which calls them.
      cancellationHandlers = before.isCancelled ? nil : details.cancellationHandlers.take()
      var (pendingCancellations, others): ([Operation], [Operation]) = ([], [])
      if before.hasFailed || before.isCancelled {
        details.successDependents?.forEach {
          if $0.state.markPendingCancellation() { pendingCancellations.append($0) } else { others.append($0) }
        }
      }
      details.successDependents = nil
      (self.pendingCancellations, self.others) = (pendingCancellations, others)
    }
  }

  /// Takes what the end has to deal with out of the links, and releases the dependents.
  ///
  /// Under the lock of the links.
  init(closing links: inout Operation.Links, of operation: Operation, endedFrom before: OperationWord) {
    if let details = links.details {
      completionBlock = details.completion.take()
      observers = details.observers.take()
      // Those that required success are kept from starting before they are counted down.
      let hasRare = details.cancellationHandlers != nil || details.successDependents != nil
      rare = hasRare ? Rare(taking: details, endedFrom: before) : nil
    } else {
      (completionBlock, observers, rare) = (nil, nil, nil)
    }
    ready = operation.countDown(inLinks: &links)
    // A completion block may ask for them.
    let areKept = completionBlock != nil
    isUnlinked = !areKept && before.unfinishedDependencies == 0
    dependencies = before.isEdged ? operation.takeDependencies(&links, endedFrom: before, areKept) : TakenDependencies()
  }

  /// As ``init(closing:of:endedFrom:)``, without the lock: nothing else is to be dealt with, and nobody has looked at
  /// the dependencies before the end.
  init(closingEdgesOf operation: Operation) {
    (completionBlock, observers, rare, isUnlinked) = (nil, nil, nil, true)
    ready = operation.countDown()
    dependencies = operation.takeSlots()
  }

  mutating func takeCompletionBlock() -> CompletionBlock? { completionBlock == nil ? nil : completionBlock.take() }

  /// The dependents that required success, and are to be cancelled.
  var pendingCancellations: [Operation] { rare?.pendingCancellations ?? [] }

  /// Whether releasing it may run code of the user's, which may take long.
  ///
  /// The dependencies apart: see ``releaseDependencies(in:)``.
  var runsUserCodeWhenReleased: Bool {
    guard let rare else { return false }
    return rare.cancellationHandlers != nil || !rare.others.isEmpty
  }

  /// Whether the release of a dependency may run users' code.
  var hasDependenciesToKeep: Bool {
    var result = false
    dependencies.forEach { if $0._withUnsafeGuaranteedRef({ $0.runsUserCodeWhenFreed }) { result = true } }
    return result
  }

  /// Releases the dependencies, or has the batch of the calling thread keep those whose release may run users' code.
  func releaseDependencies(in batch: Batch) {
    dependencies.forEach { dependency in
      if dependency._withUnsafeGuaranteedRef({ $0.runsUserCodeWhenFreed }) {
        batch.deferRelease(of: dependency)
      } else {
        dependency.release()
      }
    }
  }
}

/// The dependents that an end has made ready, each retained: mostly one, which takes no memory of its own.
struct ReadyDependents: ~Copyable {
  private var first: OperationReference?
  private var others: [OperationReference]?

  init() {}

  mutating func append(_ operation: OperationReference) {
    if first == nil {
      first = operation
    } else {
      others?.append(operation) ?? (others = [operation])
    }
  }

  var isEmpty: Bool { first == nil }

  /// The one, if there is just one.
  var only: OperationReference? { others == nil ? first : nil }

  func forEach(_ body: (OperationReference) -> Void) {
    guard let first else { return }
    body(first)
    guard let others else { return }
    for operation in others { body(operation) }
  }
}
