import Synchronization

/// A queue that cancels all operations when one has failed, including operations that are added later.
class ScopedOperationQueue: OperationQueue, @unchecked Sendable {
  // Protected by its lock.
  private let failure = Guarded<(label: String, error: any Error)?>(nil)
  // Set before all operations are cancelled. Read after an operation was added, so one of the two threads cancels that
  // operation.
  private let over = Atomic<Bool>(false)
  /// Cancelled operations that have cancellation code of their own are no longer held back.
  private let isEnding = Atomic<Bool>(false)

  /// The error of the operation that failed first.
  final var firstFailure: (any Error)? { failure.withLock { $0?.error } }

  /// How messages name the operation that failed first.
  final var labelOfFirstFailure: String? { failure.withLock { $0?.label } }

  /// Whether all operations are cancelled.
  final var isOver: Bool { over.load(ordering: .sequentiallyConsistent) }

  /// Cancels all operations, including those that are added later.
  final func end() {
    over.store(true, ordering: .sequentiallyConsistent)
    var effects = Effects()
    let stopped = stop(leaving: &effects)
    Operation.cancel(stopped.operations, leaving: &effects)
    effects.perform()
    stopped.finish()
  }

  override func noteFailure(of operation: Operation, _ error: any Error, leaving effects: inout Effects) {
    // A group names the operation inside it.
    let label = operation.labelOfFailedMember ?? operation.label
    failure.withLock { if $0 == nil { $0 = (label, error) } }
    // Before the operation leaves, because the queue might then become empty, or have room for another operation.
    over.store(true, ordering: .sequentiallyConsistent)
    _ = stop(leaving: &effects)
  }

  /// Cancels all operations, including those that are added later, and starts the operations that have their own
  /// cancellation code.
  ///
  /// A suspension or a limit of 0 would hold these operations back forever if the code that would lift it has been
  /// cancelled, too. Therefore, from now on, the queue is not suspended and its limit is not 0, regardless of later
  /// settings.
  final func cancelMembers() {
    end()
    isEnding.store(true, ordering: .sequentiallyConsistent)
    super.isSuspended = false
    if super.maxConcurrentOperationCount == 0 { super.maxConcurrentOperationCount = 1 }
  }

  override func endAfterFailure() { cancelMembers() }

  // The setters set the value and then read `isEnding`. `cancelMembers()` does the reverse, so one sees the other.
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
  ///   - operations: The operations to add; empty for a barrier.
  ///   - add: Adds the operations.
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
    // Cancel before adding, so none of them begins. Cancel again afterward, in case the queue ended in between.
    cancelIfOver(operations)
    enter(operations, add)
    cancelIfOver(operations)
  }

  private final func cancelIfOver(_ operations: [Operation]) {
    if isOver { Operation.cancel(together: operations) }
  }
}
