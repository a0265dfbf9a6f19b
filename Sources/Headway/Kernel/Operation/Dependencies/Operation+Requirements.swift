import Synchronization

extension OperationProtocol {
  /// Makes this operation wait for `operation`, and requires an outcome of it.
  ///
  /// With ``DependencyRequirement/success``, if `operation` fails or is cancelled, this operation is cancelled with a
  /// ``DependencyError`` that names the failed dependency. The operations that require this one to succeed are then
  /// cancelled as well, and so on through the graph.
  ///
  /// - Parameters:
  ///   - operation: The operation to wait for.
  ///   - requirement: The outcome that `operation` must have. If `operation` has already finished and does not meet the
  ///     requirement, this operation is cancelled immediately.
  /// - Precondition: The same as for ``Operation/addDependency(_:)``.
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
  /// The operations that must be cancelled because a required dependency did not succeed: the loop of the calling
  /// thread, and the operation that it is cancelling at the moment.
  ///
  /// Cancelling an operation can make it finish. Its dependents might then have to be cancelled. The operation leaves
  /// them to the loop, because a long chain would overflow the stack. If user code ends or cancels other operations in
  /// the meantime, the loop does not process these. They are processed before that call returns.
  private struct Cascade {
    /// The operations that the loop still has to cancel.
    ///
    /// The steps that run no user code are already done. Each word is the state before those steps.
    var waiting: [(operation: Operation, before: OperationWord?)] = []
    var current: Operation?
  }

  /// Cancels the dependents that this operation, which has ended, has kept from starting.
  ///
  /// First performs, for all of them, the steps that run no user code, because a handler of one operation may wait for
  /// another operation.
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
        // This calls overrides. The implementation of the superclass finds the operation cancelled.
        operation.cancel()
      }
      values.pointee.cancellation = outer.map { UnsafeMutableRawPointer($0) }
    }
  }

  /// The error for the operations that required this finished operation to succeed, or nil if it succeeded.
  fileprivate final var requirementError: DependencyError? {
    let error = error
    if let error = error as? DependencyError { return error }
    guard error != nil || state.current.isCancelled else { return nil }
    return DependencyError(failedDependency: self, underlyingError: error)
  }
}
