// See Docs/decisions/0007-open-members-and-extension-members.md.

/// Members of Headway's operations that Foundation's operations do not have.
///
/// These members are in an extension of a protocol, so that a subclass can have members of the same names. Much code
/// that was written for Foundation declares its own `error` or `progress`, which then hides the member here. A default
/// implementation in a protocol that the subclass adopts hides it, too.
///
/// Every ``Operation`` conforms to this protocol. You don't need to implement anything.
public protocol OperationProtocol: Operation {}

extension Operation: OperationProtocol {}

/// The error of Headway's operations, which Foundation's operations do not have.
///
/// Every ``Operation`` conforms to this protocol. You don't need to implement anything.
public protocol OperationErrorProtocol: AnyObject {
  // Many programs have a protocol with `var error: (any Error)?` and a default implementation. If the extensions of two
  // protocols could satisfy its requirement, the compiler selects the more specialized one, and rejects the program if
  // neither is. A type that only the conformance determines makes the extension of this protocol the less specialized
  // one. In an extension of a protocol that only operations conform to, the type would be known.

  /// The type of ``error``: any error.
  associatedtype OperationRecordedError
  /// The same as ``error``, which a subclass can hide.
  var operationRecordedError: OperationRecordedError? { get }
}

extension Operation: OperationErrorProtocol {
  /// The type of ``OperationErrorProtocol/error``: any error.
  public typealias OperationRecordedError = any Error
}
