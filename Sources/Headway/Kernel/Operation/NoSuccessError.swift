/// The error of ``OperationProtocol/untilFirstSucceeded(_:)`` when none of the operations has succeeded.
public struct NoSuccessError: Error, CustomStringConvertible {
  /// The operations, which have all failed or were cancelled.
  public let operations: [Operation]

  /// A sentence that names the operations and their errors.
  public var description: String {
    if operations.isEmpty { return "there was no operation that could succeed" }
    return "none of the operations has succeeded: \(operations.map { $0.description }.joined(separator: ", "))"
  }
}
