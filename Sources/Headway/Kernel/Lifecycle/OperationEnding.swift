/// The contents of the links that are processed after the lock is released, when an operation ends.
struct OperationEnding: ~Copyable {
  /// The dependents that became ready, each retained.
  let ready: ReadyDependents
  /// The dependencies, each retained; none if ``DependencyReaders`` can read them.
  let dependencies: TakenDependencies
  /// Whether the operation no longer has dependencies.
  let hasReleasedLinks: Bool
  let observers: ObserverList?
  private var completionBlock: CompletionBlock?
  /// Created only if it has contents.
  let rare: Rare?

  final class Rare {
    let cancellationHandlers: CancellationHandlers?
    /// The dependents that required success and must be cancelled.
    let pendingCancellations: [Operation]
    /// References that were needed under the lock but must not be released there.
    let others: [Operation]

    // A registration may still refer to the handlers but must not keep the objects that they captured.
    deinit { cancellationHandlers?.removeAll() }

    /// Called under the lock of the links.
    fileprivate init(taking details: UnsafeMutablePointer<OperationDetails>, endedFrom before: OperationWord) {
      // The handlers of a cancelled operation belong to the thread that cancelled it, which calls them.
      cancellationHandlers = before.isCancelled ? nil : details.pointee.cancellationHandlers.take()
      var (pendingCancellations, others): ([Operation], [Operation]) = ([], [])
      if before.hasFailed || before.isCancelled {
        details.pointee.successDependents?.forEach {
          if $0.state.markPendingCancellation() { pendingCancellations.append($0) } else { others.append($0) }
        }
      }
      details.pointee.successDependents = nil
      (self.pendingCancellations, self.others) = (pendingCancellations, others)
    }
  }

  /// Takes everything that the end must process out of the links, then counts down the dependents.
  ///
  /// Called under the lock of the links.
  ///
  /// - Parameters:
  ///   - links: The links to take it from.
  ///   - operation: The operation that has ended.
  ///   - before: The state before the operation ended.
  ///   - reportsFailure: Whether the failure handler is called.
  init(
    closing links: inout Operation.Links, of operation: Operation, endedFrom before: OperationWord, reportsFailure: Bool
  ) {
    if let details = links.details {
      observers = details.pointee.observers.take()
      completionBlock = details.pointee.completionBlock.take()
      // The dependents that required success are kept from starting before they are counted down.
      let hasRare = details.pointee.cancellationHandlers != nil || details.pointee.successDependents != nil
      rare = hasRare ? Rare(taking: details, endedFrom: before) : nil
    } else {
      (observers, completionBlock, rare) = (nil, nil, nil)
    }
    ready = operation.countDown(inLinks: &links)
    var readers = DependencyReaders()
    if before.isEdged, links.details != nil {
      if completionBlock != nil { readers.insert(.completionBlock) }
      if before.isObserved { readers.insert(.observers) }
      if reportsFailure { readers.insert(.failureHandler) }
      links.details?.pointee.readers = readers
    }
    let areKept = !readers.isEmpty
    hasReleasedLinks = !areKept && before.unfinishedDependencies == 0
    dependencies = before.isEdged ? operation.takeDependencies(&links, endedFrom: before, areKept) : TakenDependencies()
  }

  /// Like ``init(closing:of:endedFrom:)``, without the lock: the operation has only edges to process, and no thread has
  /// read the dependencies before it ended.
  init(closingEdgesOf operation: Operation) {
    (completionBlock, observers, rare, hasReleasedLinks) = (nil, nil, nil, true)
    ready = operation.countDown()
    dependencies = operation.takeSlots()
  }

  mutating func takeCompletionBlock() -> CompletionBlock? { completionBlock == nil ? nil : completionBlock.take() }

  /// The dependents that required success and must be cancelled.
  var pendingCancellations: [Operation] { rare?.pendingCancellations ?? [] }

  /// Whether releasing the contents can run user code, which may take long.
  ///
  /// This does not include the dependencies: see ``releaseDependencies(in:)``.
  var runsUserCodeWhenReleased: Bool {
    guard let rare else { return false }
    return rare.cancellationHandlers != nil || !rare.others.isEmpty
  }

  /// Whether the release of a dependency can run user code.
  var hasDependenciesToKeep: Bool {
    var result = false
    dependencies.forEach { if $0._withUnsafeGuaranteedRef({ $0.runsUserCodeWhenFreed }) { result = true } }
    return result
  }

  /// Releases the dependencies, or defers the release to the batch of the calling thread if it can run user code.
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

/// The dependents that became ready when an operation ended, each retained.
///
/// Usually there is only one, which requires no separate memory.
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

  /// The only dependent, or nil if there is none or more than one.
  var only: OperationReference? { others == nil ? first : nil }

  func forEach(_ body: (OperationReference) -> Void) {
    guard let first else { return }
    body(first)
    guard let others else { return }
    for operation in others { body(operation) }
  }
}

/// The code that can read the dependencies of an operation that has ended.
struct DependencyReaders: OptionSet {
  let rawValue: UInt8

  static let completionBlock = DependencyReaders(rawValue: 1)
  /// The observers that are notified of the end.
  static let observers = DependencyReaders(rawValue: 2)
  static let failureHandler = DependencyReaders(rawValue: 4)
}
