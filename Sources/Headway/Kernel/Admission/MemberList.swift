/// A list of a queue's operations, which it owns, and their number.
struct MemberList {
  private var list = OperationList<MemberLinks>()
  private(set) var count = 0

  var first: OperationReference? { list.first }
  var last: OperationReference? { list.last }

  /// Takes over the ownership of an operation.
  mutating func append(_ operation: OperationReference) {
    list.append(operation)
    count += 1
  }

  /// Takes over the ownership of an operation and inserts it behind an operation of the list, or at the front.
  mutating func insert(_ operation: OperationReference, behind previous: OperationReference?) {
    list.insert(operation, behind: previous)
    count += 1
  }

  /// Gives up ownership: the caller must release the result when no lock is held.
  mutating func remove(_ operation: Operation) -> OperationReference {
    let reference = OperationReference(operation)
    list.remove(reference)
    count -= 1
    return reference
  }

  func forEach(_ body: (OperationReference) -> Void) { list.forEach(body) }
}
