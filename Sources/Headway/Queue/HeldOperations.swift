/// All that a queue holds, in the order of adding: an intrusive list, which owns its operations.
struct HeldOperations {
  @Unowned private var first: Operation?
  @Unowned private var last: Operation?
  private(set) var count = 0

  /// Takes ownership of `operation`.
  mutating func append(_ operation: Operation) {
    _ = Unmanaged.passRetained(operation)
    operation.admission.heldPrevious = last
    operation.admission.heldNext = nil
    if let last { last.admission.heldNext = operation } else { first = operation }
    last = operation
    count += 1
  }

  /// Gives up ownership: the caller must release the result, once no lock is held.
  mutating func remove(_ operation: Operation) -> Unmanaged<Operation> {
    let (previous, next) = (operation.admission.heldPrevious, operation.admission.heldNext)
    if let previous { previous.admission.heldNext = next } else { first = next }
    if let next { next.admission.heldPrevious = previous } else { last = previous }
    operation.admission.heldPrevious = nil
    operation.admission.heldNext = nil
    count -= 1
    return .passUnretained(operation)
  }

  /// A copy as an array.
  ///
  /// O(*n*).
  var snapshot: [Operation] {
    var all: [Operation] = []
    all.reserveCapacity(count)
    var position = first
    while let operation = position {
      all.append(operation)
      position = operation.admission.heldNext
    }
    return all
  }
}
