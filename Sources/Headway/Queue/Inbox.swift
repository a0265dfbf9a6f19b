import Synchronization

/// Operations that have been added and do not stand in the queue's books yet: a stack, to which threads push without a
/// lock, and which whoever holds the queue's lock takes as a whole (Treiber, “Systems programming: coping with
/// parallelism”, 1986; without single pops there is no ABA problem).
///
/// An operation in it is joined to the one below it by `queueLinks.next`, and is owned by the inbox.
struct Inbox: ~Copyable {
  /// The address of the operation on top, with the number of operations in the upper bits; 0 when empty.
  private let top = Atomic<UInt>(0)

  /// As many as this wait at most: who adds another puts them into the books, so that no one ever has to put in many at
  /// once under the lock.
  private static let capacity: UInt = 1_024
  private static let countShift = 48

  /// Whether nothing is there, as seen in the one order that pushing and looking have with the changes of
  /// ``OperationQueue/isAttended``.
  var isEmpty: Bool { top.load(ordering: .sequentiallyConsistent) == 0 }

  /// Puts an operation on top, and takes over its ownership; from then on it may have run and been freed.
  ///
  /// - Returns: Whether there is room for more.
  func push(_ operation: OperationReference) -> Bool {
    let address = UInt(bitPattern: operation.toOpaque())
    var old = top.load(ordering: .relaxed)
    while true {
      operation.next = Self.operation(old)
      let count = old >> Self.countShift + 1
      let (exchanged, original) = top.weakCompareExchange(
        expected: old, desired: address | count << Self.countShift, successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      if exchanged { return count < Self.capacity }
      old = original
    }
  }

  /// Takes all out.
  ///
  /// - Parameter body: Called with each, in the order of pushing; it takes over the ownership.
  func takeAll(_ body: (OperationReference) -> Void) {
    guard top.load(ordering: .relaxed) != 0 else { return }
    var position = Self.operation(top.exchange(0, ordering: .acquiring))
    var oldest: OperationReference?
    while let operation = position {
      position = operation.next
      operation.next = oldest
      oldest = operation
    }
    while let operation = oldest {
      oldest = operation.next
      operation.next = nil
      body(operation)
    }
  }

  private static func operation(_ word: UInt) -> OperationReference? {
    UnsafeRawPointer(bitPattern: word & (1 << countShift - 1)).map { OperationReference.fromOpaque($0) }
  }
}
