import Synchronization

/// What a dependency must have come to for its dependent to run.
public enum DependencyRequirement: Sendable {
  /// It has finished, however: the requirement of ``Operation/addDependency(_:)``.
  case completion
  /// It has succeeded: it recorded no error and was not cancelled.
  case success
}

/// An error of an operation that did not run because one that it required to succeed did not.
public struct DependencyError: Error, CustomStringConvertible {
  /// The operation that failed or was cancelled, from which the effect ran down the graph.
  public let culprit: Operation
  /// The error of the culprit, or nil when it was cancelled without one.
  public let underlyingError: (any Error)?

  /// A sentence that names the culprit and its error.
  public var description: String {
    guard let underlyingError else { return "\(culprit.label), which was required to succeed, was cancelled" }
    return "\(culprit.label), which was required to succeed, failed: \(underlyingError)"
  }
}

extension OperationExtensions {
  /// Makes this operation wait until `operation` has finished, and says what that must come to.
  ///
  /// With ``DependencyRequirement/success``, if `operation` fails or is cancelled, this operation is cancelled with a
  /// ``DependencyError`` that names the culprit; and so are those that require this one to succeed, down the graph.
  ///
  /// - Parameters:
  ///   - operation: The operation to wait for.
  ///   - requirement: What it must come to. When it has finished otherwise already, this operation is cancelled now.
  /// - Precondition: As for ``addDependency(_:)``.
  /// - Complexity: O(1).
  public func addDependency(_ operation: Operation, requiring requirement: DependencyRequirement) {
    guard requirement == .success else { return addDependency(operation) }
    let hasFinished = link(to: operation, successDependent: WeakOperation(self))
    if hasFinished, let error = operation.requirementError {
      Operation.failed.run([Operation.Failed(self, error)]) { $0.cancel() }
    }
  }
}

extension Operation {
  fileprivate static let failed = Trampoline<Failed>()

  /// An operation that is to be cancelled, and why.
  fileprivate struct Failed {
    let operation: Operation
    let error: DependencyError

    init(_ operation: Operation, _ error: DependencyError) {
      self.operation = operation
      self.error = error
    }

    func cancel() {
      operation.fail(error)
      operation.cancel()
    }
  }

  /// This operation has ended: cancels those that required it to succeed, if it did not.
  ///
  /// An operation in no queue finishes as it is cancelled, which comes back here; hence the trampoline.
  final func cancelSuccessDependents() {
    let dependents = links.withLock { links in
      defer { links.details?.successDependents = [] }
      return links.details?.successDependents ?? []
    }
    guard let error = requirementError else { return }
    let failed = dependents.compactMap { dependent -> Failed? in
      // Whoever has started meanwhile, or has removed the dependency, does not require it.
      guard let operation = dependent.operation, operation.state.current.phase == .pending else { return nil }
      return Failed(operation, error)
    }
    Self.failed.run(failed) { $0.cancel() }
  }

  /// The error for those that required this finished operation to succeed, or nil if it did.
  fileprivate final var requirementError: DependencyError? {
    let error = error
    if let error = error as? DependencyError { return error }
    guard error != nil || state.current.isCancelled else { return nil }
    return DependencyError(culprit: self, underlyingError: error)
  }
}
