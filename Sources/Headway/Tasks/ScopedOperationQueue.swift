import Synchronization

/// A queue whose operations are all cancelled when one has failed, those added later, too.
class ScopedOperationQueue: OperationQueue, @unchecked Sendable {
  // Protected by its lock.
  private let failure = Guarded<(any Error)?>(nil)
  // Set before all operations are cancelled, and looked at after one was added: one of the two cancels it.
  private let over = Atomic<Bool>(false)
  /// Cancelled operations that have code of their own to run are no longer held back.
  private let isEnding = Atomic<Bool>(false)

  /// The error of the operation that failed first.
  final var firstFailure: (any Error)? { failure.withLock { $0 } }

  /// Whether all operations are cancelled.
  final var isOver: Bool { over.load(ordering: .sequentiallyConsistent) }

  /// Cancels all operations, and those added later.
  final func end() {
    over.store(true, ordering: .sequentiallyConsistent)
    var effects = Effects()
    let held = update(collectingBatches: true, leaving: &effects) { $0.admission.operations }
    Operation.cancel(held, leaving: &effects)
    effects.perform()
  }

  override func noteFailure(_ error: any Error) {
    failure.withLock { if $0 == nil { $0 = error } }
    // Before the operation leaves, by which the queue may become empty.
    over.store(true, ordering: .sequentiallyConsistent)
  }

  /// Cancels all operations, and those added later, and starts those that have code of their own to run for that.
  ///
  /// A suspension, or a limit of 0, would hold these back forever if the code that ends it has been cancelled, too. So
  /// from now on the queue is not suspended, and its limit is not 0, whatever is set.
  final func cancelMembers() {
    end()
    isEnding.store(true, ordering: .sequentiallyConsistent)
    super.isSuspended = false
    if super.maxConcurrentOperationCount == 0 { super.maxConcurrentOperationCount = 1 }
  }

  override func endAfterFailure() { cancelMembers() }

  // The setters set first and then read `isEnding`, and `cancelMembers()` does the reverse: one sees the other.
  final override var isSuspended: Bool {
    get { super.isSuspended }
    set {
      super.isSuspended = newValue
      if newValue, isEnding.load(ordering: .sequentiallyConsistent) { super.isSuspended = false }
    }
  }

  final override var maxConcurrentOperationCount: Int {
    get { super.maxConcurrentOperationCount }
    set {
      super.maxConcurrentOperationCount = newValue
      if newValue == 0, isEnding.load(ordering: .sequentiallyConsistent) { super.maxConcurrentOperationCount = 1 }
    }
  }

  // MARK: Adding

  /// Calls `add`, which adds operations.
  ///
  /// - Parameters:
  ///   - operations: The operations; none for a barrier.
  ///   - add: Adds them.
  func enter(_ operations: [Operation], _ add: () -> Void) { add() }

  final override func addOperation(_ operation: Operation) {
    add([operation]) { super.addOperation(operation) }
  }

  final override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    add(operations) { super.addOperations(operations, waitUntilFinished: false) }
    if wait { for operation in operations.reversed() { operation.waitUntilFinished() } }
  }

  final override func add(barrier operation: BlockOperation) {
    cancelIfOver([operation])
    enter([]) { super.add(barrier: operation) }
    cancelIfOver([operation])
  }

  private final func add(_ operations: [Operation], _ add: () -> Void) {
    // Before, so that none begins; and after, if the end came meanwhile.
    cancelIfOver(operations)
    enter(operations, add)
    cancelIfOver(operations)
  }

  private final func cancelIfOver(_ operations: [Operation]) {
    if isOver { for operation in operations { operation.cancel() } }
  }
}
