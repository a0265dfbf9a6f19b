/// All operations of a queue, except for blocks that have no operation yet.
///
/// It owns its operations, except for operations in batches. The threads of the batches own those and release them
/// after they have finished.
struct Members {
  /// The operations that have been in no batch, in insertion order.
  private(set) var list = MemberList()
  /// The operations that were in a batch and have been put back.
  ///
  /// Operations of one batch are in insertion order. The batches are in any order.
  private(set) var returned = MemberList()
  /// How many operations are in batches, according to the results collected so far.
  private(set) var takenCount = 0
  /// The last operation of the list that was added before the first of the blocks that have no operations yet.
  ///
  /// Nil if there are no such blocks, or no such operation.
  private(set) var lastBeforeBlocks: OperationReference?

  /// The first operation that is in no batch, if operations start in insertion order.
  var first: OperationReference? { returned.first ?? list.first }

  var count: Int { list.count + returned.count + takenCount }

  /// Takes over the ownership of an operation that was added after all others.
  mutating func append(_ operation: OperationReference) { list.append(operation) }

  /// Notes that the first block without an operation was added after all operations.
  mutating func beginInserting() { lastBeforeBlocks = list.last }

  /// Notes that there are no blocks without operations.
  mutating func endInserting() { lastBeforeBlocks = nil }

  /// Takes over the ownership of the operation of the first block that had none.
  ///
  /// - Parameters:
  ///   - operation: The operation of the block.
  ///   - sequence: The number of the next block that has none; nil if there is none.
  mutating func insert(_ operation: OperationReference, before sequence: UInt64?) {
    list.insert(operation, behind: lastBeforeBlocks)
    lastBeforeBlocks = operation
    advance(to: sequence)
  }

  /// Counts operations that were created for a batch, which owns them.
  ///
  /// - Parameters:
  ///   - count: The number of the operations.
  ///   - sequence: The number of the next block that has none; nil if there is none.
  mutating func noteTaken(_ count: Int, before sequence: UInt64?) {
    takenCount += count
    advance(to: sequence)
  }

  private mutating func advance(to sequence: UInt64?) {
    guard let sequence else { return lastBeforeBlocks = nil }
    var next = if let lastBeforeBlocks { lastBeforeBlocks.memberNext } else { list.first }
    while let operation = next, operation.sequence < sequence {
      lastBeforeBlocks = operation
      next = operation.memberNext
    }
  }

  /// Moves an operation into a batch, and its ownership to the batch's thread.
  mutating func take(_ operation: Operation) {
    _ = removeListed(operation)
    operation.admission.place = .taken
    takenCount += 1
  }

  /// Takes over the ownership of an operation that was in a batch and has not been started there.
  ///
  /// - Parameters:
  ///   - operation: The operation to put back.
  ///   - previous: The operation that preceded it in the batch and was put back as well, or nil for the first one.
  mutating func takeBack(_ operation: Operation, behind previous: OperationReference?) {
    operation.admission.wasReturned = true
    returned.insert(OperationReference(operation), behind: previous)
    takenCount -= 1
  }

  /// Removes operations of batches that have finished.
  ///
  /// Their threads own them.
  mutating func removeTaken(_ count: Int) { takenCount -= count }

  /// Gives up ownership: the caller must release the result when no lock is held.
  ///
  /// Returns nil for an operation in a batch.
  mutating func remove(_ operation: Operation) -> OperationReference? {
    guard operation.admission.place == .taken else { return removeListed(operation) }
    takenCount -= 1
    return nil
  }

  private mutating func removeListed(_ operation: Operation) -> OperationReference {
    guard !operation.admission.wasReturned else { return returned.remove(operation) }
    if lastBeforeBlocks != nil, OperationReference(operation).isSame(as: lastBeforeBlocks) {
      lastBeforeBlocks = OperationReference(operation).memberPrevious
    }
    return list.remove(operation)
  }

  /// Returns all operations, in insertion order.
  ///
  /// O(*n* + *k* log *k*), where *k* is the number of operations that are or were in batches.
  func snapshot(with batches: ActiveBatches) -> [Operation] {
    var others: [Operation] = []
    returned.forEach { others.append($0.operation) }
    batches.forEach { $0.forEachUnfinished { others.append($0) } }
    others.sort { $0.queueLinks.sequence < $1.queueLinks.sequence }
    var all: [Operation] = []
    all.reserveCapacity(list.count + others.count)
    var position = 0
    list.forEach { reference in
      while position < others.count, others[position].queueLinks.sequence < reference.sequence {
        all.append(others[position])
        position += 1
      }
      all.append(reference.operation)
    }
    all += others[position...]
    return all
  }
}
