/// All that a queue holds, in the order of adding: an intrusive list, which owns its operations.
struct HeldOperations {
  private var first: OperationReference?
  private var last: OperationReference?
  private(set) var count = 0

  /// Takes over the ownership of an operation.
  mutating func append(_ reference: OperationReference) {
    reference.heldPrevious = last
    reference.heldNext = nil
    if let last { last.heldNext = reference } else { first = reference }
    last = reference
    count += 1
  }

  /// Gives up ownership: the caller must release the result, once no lock is held.
  mutating func remove(_ operation: Operation) -> OperationReference {
    let reference = OperationReference(operation)
    let (previous, next) = (reference.heldPrevious, reference.heldNext)
    if let previous { previous.heldNext = next } else { first = next }
    if let next { next.heldPrevious = previous } else { last = previous }
    reference.heldPrevious = nil
    reference.heldNext = nil
    count -= 1
    return reference
  }

  /// A copy as an array.
  ///
  /// O(*n*).
  var snapshot: [Operation] {
    var all: [Operation] = []
    all.reserveCapacity(count)
    var position = first
    while let reference = position {
      all.append(reference.operation)
      position = reference.heldNext
    }
    return all
  }
}
