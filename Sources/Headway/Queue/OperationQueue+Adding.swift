import Synchronization

extension OperationQueue {
  /// Adds an operation, which starts when it is ready and the queue lets it.
  ///
  /// - Parameter operation: The operation to run. One that was cancelled, and so has finished, is ignored.
  /// - Precondition: It is in no queue, is not executing, and has not finished otherwise than by cancelling.
  /// - Complexity: O(1).
  public final func addOperation(_ operation: Operation) {
    guard reserve(operation) else { return }
    enter(operation)
    change { $0.admission.add(operation, isBarrier: false) }
  }

  /// Adds a block as an operation of its own.
  ///
  /// - Parameter block: What to run. What it throws becomes the error of the operation.
  /// - Complexity: O(1).
  public final func addOperation(_ block: @escaping @Sendable () throws -> Void) {
    addOperation(BlockOperation(block: block))
  }

  /// Adds several operations at once; all are looked at before the first is added.
  ///
  /// - Parameters:
  ///   - operations: The operations to run. Those that were cancelled, and so have finished, are ignored.
  ///   - wait: Whether to block the calling thread until all of them have finished.
  /// - Precondition: As for ``addOperation(_:)-(Operation)``, each; and none stands twice in the list.
  /// - Complexity: O(*n*).
  public final func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
    let added = operations.filter(reserve)
    for operation in added { enter(operation) }
    change { books in
      for operation in added { books.admission.add(operation, isBarrier: false) }
    }
    guard wait else { return }
    for operation in operations { operation.waitUntilFinished() }
  }

  /// Adds a block that starts when everything added before it has finished, and before which nothing added after it
  /// starts.
  ///
  /// It obeys the queue's suspension and limit like any operation. If it is cancelled, it holds nothing back.
  ///
  /// - Parameter barrier: What to run.
  /// - Complexity: O(1).
  public final func addBarrierBlock(_ barrier: @escaping @Sendable () throws -> Void) {
    let operation = BlockOperation(block: barrier)
    guard reserve(operation) else { return }
    enter(operation)
    change { $0.admission.add(operation, isBarrier: true) }
  }

  /// Takes the sole right to put the operation into a queue; false if it was cancelled and has finished.
  private func reserve(_ operation: Operation) -> Bool {
    guard let refusal = operation.state.reserve() else { return true }
    if refusal.phase == .finished, refusal.isCancelled, !refusal.isReserved { return false }
    let reason =
      switch refusal.phase {
      case .pending, .starting: "is in a queue already (or stands twice in the list)"
      case .executing: "is executing"
      case .finished: "has finished: an operation runs once, make a new one"
      }
    misuse("\(operation) was added to \(label), but it \(reason).")
  }

  /// Lets the operation know its queue; before the queue's books do, which then may start it at any moment.
  private func enter(_ operation: Operation) {
    operation.links.withLock { $0.queue = self }
  }
}
