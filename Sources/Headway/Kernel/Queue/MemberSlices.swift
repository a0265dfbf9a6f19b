/// Collects the operations of a queue in several steps, so that the lock of the queue is never held for a long time.
///
/// Operations can be added, finish, and move between the lists of the queue between two steps. An operation that is in
/// the queue all the time is collected once.
struct MemberSlices {
  /// How many operations one step collects.
  static let size = 2_048
  /// How many of the last operations a step looks at to find its place in the list again.
  private static let mostLookedAt = 4_096

  /// The operations that had never been in a batch when they were collected, in insertion order.
  private(set) var operations: [Operation] = []
  /// The operations that are or were in batches.
  private(set) var others: [Operation] = []

  /// Makes room for the next operations.
  ///
  /// Called before the lock of the queue is acquired, because moving a long list takes milliseconds.
  mutating func reserveCapacity(forNext count: Int) {
    let needed = operations.count + count
    if needed > operations.capacity { operations.reserveCapacity(max(needed, 2 * operations.capacity)) }
  }

  /// Collects the next operations that have been in no batch.
  ///
  /// Called under the lock of the queue.
  ///
  /// - Parameters:
  ///   - members: The operations of the queue.
  ///   - count: The maximum number of operations to collect.
  ///   - end: The number that follows the number of the last operation to collect.
  /// - Returns: Whether these were the last ones.
  mutating func appendNext(from members: Members, atMost count: Int, before end: UInt64 = .max) -> Bool {
    var position = next(in: members)
    for _ in 0..<count {
      guard let reference = position, reference.sequence < end else { return true }
      operations.append(reference.operation)
      position = reference.memberNext
    }
    return position.map { $0.sequence >= end } ?? true
  }

  /// The first operation of the list that has not been collected.
  private func next(in members: Members) -> OperationReference? {
    for operation in operations.suffix(Self.mostLookedAt).reversed() where Self.isListed(operation) {
      return OperationReference(operation).memberNext
    }
    guard let last = operations.last else { return members.list.first }
    // All of the last operations have left the list. It is in insertion order.
    let sequence = last.queueLinks.sequence
    var position = members.list.first
    while let reference = position, reference.sequence <= sequence { position = reference.memberNext }
    return position
  }

  /// Whether the operation is in the list of operations that have been in no batch.
  private static func isListed(_ operation: Operation) -> Bool {
    operation.admission.place != .none && operation.admission.place != .taken && !operation.admission.wasReturned
  }

  /// Collects the operations that are or were in batches.
  ///
  /// Called under the lock of the queue, after the other steps. The number of these operations is limited by the number
  /// of threads.
  mutating func appendOthers(from members: Members, _ batches: ActiveBatches) {
    members.returned.forEach { others.append($0.operation) }
    batches.forEach { $0.forEachUnfinished { others.append($0) } }
  }

  /// The first of the collected operations, in insertion order, each once.
  func sorted(atMost count: Int) -> [Operation] {
    guard !others.isEmpty else { return Array(operations.prefix(count)) }
    var known = Set(operations.map { ObjectIdentifier($0) })
    let all = operations + others.filter { known.insert(ObjectIdentifier($0)).inserted }
    return Array(all.sorted { $0.queueLinks.sequence < $1.queueLinks.sequence }.prefix(count))
  }
}
