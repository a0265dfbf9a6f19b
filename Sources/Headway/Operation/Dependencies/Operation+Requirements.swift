import Synchronization

extension OperationExtensions {
  /// Makes this operation wait until `operation` has finished, and says what that must come to.
  ///
  /// With ``DependencyRequirement/success``, if `operation` fails or is cancelled, this operation is cancelled with a
  /// ``DependencyError`` that names the culprit; and so are those that require this one to succeed, down the graph.
  ///
  /// - Parameters:
  ///   - operation: The operation to wait for.
  ///   - requirement: What it must come to. When it has finished otherwise already, this operation is cancelled now.
  /// - Precondition: As for ``Operation/addDependency(_:)``.
  /// - Complexity: O(1).
  public func addDependency(_ operation: Operation, requiring requirement: DependencyRequirement) {
    guard requirement == .success else { return addDependency(operation) }
    let hasFinished = link(to: operation, requiresSuccess: true)
    if hasFinished, let error = operation.requirementError {
      recordError(error)
      cancel()
    }
  }
}

extension Operation {
  /// Operations that are to be cancelled since one that they required to succeed has not: the loop of the calling
  /// thread, and the operation that it is cancelling at this moment.
  ///
  /// The operation that is being cancelled may finish by that, and then has dependents of its own to be cancelled: it
  /// leaves them to the loop, since a long chain would overflow the stack. What users' code ends or cancels meanwhile
  /// is not the loop's, and is dealt with before that call returns.
  private struct Cascade {
    /// Cancelled, as far as that runs nothing of users', with the words before.
    var waiting: [(operation: Operation, before: OperationWord?)] = []
    var current: Operation?
  }

  /// Cancels the dependents that this operation, which has ended, has kept from starting.
  ///
  /// First all of them, as far as that runs nothing of users': handlers of one may wait for another.
  ///
  /// Called with no lock held.
  final func cancelRequiringDependents(_ pendingCancellations: [Operation]) {
    guard !pendingCancellations.isEmpty, let error = requirementError else { return }
    var items: [(operation: Operation, before: OperationWord?)] = []
    var effects = Effects()
    for operation in pendingCancellations {
      items.append((operation, operation.beginCancelling(with: error, leaving: &effects)))
    }
    effects.perform()
    items.reverse()
    let values = ThreadValues.current
    let outer = values.pointee.cancellation?.assumingMemoryBound(to: Cascade.self)
    if let outer, outer.pointee.current === self { return outer.pointee.waiting.append(contentsOf: items) }
    var cascade = Cascade(waiting: items)
    withUnsafeMutablePointer(to: &cascade) { pointer in
      values.pointee.cancellation = UnsafeMutableRawPointer(pointer)
      while let (operation, before) = pointer.pointee.waiting.popLast() {
        pointer.pointee.current = operation
        if let before {
          operation.cancelWork()
          operation.continueCancelling(from: before)
        }
        // For overrides: that of the superclass finds it cancelled.
        operation.cancel()
      }
      values.pointee.cancellation = outer.map { UnsafeMutableRawPointer($0) }
    }
  }

  /// The error for those that required this finished operation to succeed, or nil if it did.
  fileprivate final var requirementError: DependencyError? {
    let error = error
    if let error = error as? DependencyError { return error }
    guard error != nil || state.current.isCancelled else { return nil }
    return DependencyError(culprit: self, underlyingError: error)
  }
}
