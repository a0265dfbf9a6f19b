/// All that a queue holds.
///
/// It owns its operations, except those in batches: the threads of the batches own them, and release them when they
/// have finished.
struct Members {
  /// Those that have been in no batch, in the order of adding.
  private(set) var list = MemberList()
  /// Those that were in a batch and have been put back: those of one batch in the order of adding, the batches in any.
  ///
  /// Where operations start in the order of adding, all in that order: there is one batch at a time, which takes the
  /// first of all.
  private(set) var returned = MemberList()
  /// How many are in batches, as far as has been collected.
  private(set) var takenCount = 0

  /// The first of those that are in no batch, where operations start in the order of adding.
  var first: OperationReference? { returned.first ?? list.first }

  var count: Int { list.count + returned.count + takenCount }

  /// Takes over the ownership of an operation that was added after all others.
  mutating func append(_ operation: OperationReference) { list.append(operation) }

  /// An operation goes into a batch, and its ownership over to the batch's thread.
  mutating func take(_ operation: Operation) {
    _ = removeListed(operation)
    operation.admission.place = .taken
    takenCount += 1
  }

  /// Takes over the ownership of an operation that was in a batch and has not been started there.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - previous: The one that stood before it in the batch and was taken back, too; nil for the first of those.
  mutating func takeBack(_ operation: Operation, behind previous: OperationReference?) {
    operation.admission.wasReturned = true
    returned.insert(OperationReference(operation), behind: previous)
    takenCount -= 1
  }

  /// Operations of batches have finished, which their threads own.
  mutating func removeTaken(_ count: Int) { takenCount -= count }

  /// Gives up ownership: the caller must release the result, once no lock is held.
  ///
  /// Nil for an operation in a batch.
  mutating func remove(_ operation: Operation) -> OperationReference? {
    guard operation.admission.place == .taken else { return removeListed(operation) }
    takenCount -= 1
    return nil
  }

  private mutating func removeListed(_ operation: Operation) -> OperationReference {
    operation.admission.wasReturned ? returned.remove(operation) : list.remove(operation)
  }

  /// All, in the order of adding.
  ///
  /// O(*n* + *k* log *k*), *k* of which are in batches or have been.
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
