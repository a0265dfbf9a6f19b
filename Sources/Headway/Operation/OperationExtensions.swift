/// What Headway's operations have beyond Foundation's.
///
/// These members are in an extension of a protocol so that a subclass may have members of the same names: much code
/// that was written for Foundation has an `error` or a `progress` of its own, which then hides the one here.
///
/// Every ``Operation`` conforms; there is nothing to implement.
public protocol OperationExtensions: Operation {}

extension Operation: OperationExtensions {}
