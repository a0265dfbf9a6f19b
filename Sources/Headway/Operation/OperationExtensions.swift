/// What Headway's operations have beyond Foundation's.
///
/// These members are in an extension of a protocol so that a subclass may have members of the same names: much code
/// that was written for Foundation has an `error` or a `progress` of its own, which then hides the one here. So does a
/// default implementation in a protocol that the subclass adopts.
///
/// Every ``Operation`` conforms; there is nothing to implement.
public protocol OperationExtensions: Operation {}

extension Operation: OperationExtensions {}

/// The error of Headway's operations, which Foundation's do not have.
///
/// Every ``Operation`` conforms; there is nothing to implement.
public protocol OperationErrorExtensions: AnyObject {
  // Many programs have a protocol with `var error: (any Error)?` and a default implementation. Where two extensions of
  // protocols could satisfy its requirement, the compiler takes the more specialized one, and rejects the program if
  // neither is. A type that only the conformance decides makes the extension of this protocol the less specialized one.
  // In an extension of a protocol for operations only, the type would be known.

  /// The type of ``error``: any error.
  associatedtype OperationRecordedError
  /// The same as ``error``, which a subclass can hide.
  var operationRecordedError: OperationRecordedError? { get }
}

extension Operation: OperationErrorExtensions {
  /// The type of ``OperationErrorExtensions/error``: any error.
  public typealias OperationRecordedError = any Error
}
