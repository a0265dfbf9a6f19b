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
  /// - Precondition: As for ``Operation/addDependency(_:)``.
  /// - Complexity: O(1).
  public func addDependency(_ operation: Operation, requiring requirement: DependencyRequirement) {
    guard requirement == .success else { return addDependency(operation) }
    let hasFinished = link(to: operation, requiresSuccess: true)
    if hasFinished, let error = operation.requirementError {
      fail(error)
      cancel()
    }
  }
}

extension Operation {
  private static let consequences = Trampoline<Consequence>()

  /// What follows when an operation has ended that others required to succeed.
  private enum Consequence {
    case cancel(Operation)
    case call(() -> Void)
  }

  /// This operation has ended: cancels those that required it to succeed, if it did not, and calls `body` when they
  /// have been, with all that followed; so it is not before they are cancelled that the end of this one releases them.
  ///
  /// An operation in no queue finishes as it is cancelled, which comes back here; hence the trampoline, which takes
  /// what was handed over last first.
  final func cancelSuccessDependents(before body: @escaping () -> Void) {
    let dependents = links.withLock { links in
      defer { links.details?.successDependents = [] }
      return links.details?.successDependents ?? []
    }
    guard let error = requirementError else { return body() }
    // Whoever has started meanwhile, or has removed the dependency, does not require it.
    let failed = dependents.compactMap(\.operation).filter { $0.state.current.phase == .pending }
    // First the errors: one that also requires another of them names the culprit all the same.
    for operation in failed { operation.fail(error) }
    Self.consequences.run([.call(body)] + failed.reversed().map { .cancel($0) }) { consequence in
      switch consequence {
      case .cancel(let operation): operation.cancel()
      case .call(let body): body()
      }
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
