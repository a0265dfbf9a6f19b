import Synchronization

/// Operations that have been added and are not in the queue's lists yet: a stack, to which threads push without a lock,
/// and which the thread that holds the queue's lock takes as a whole (Treiber, “Systems programming: coping with
/// parallelism”, 1986; without single pops there is no ABA problem).
///
/// An operation in it is joined to the one below it by `queueLinks.next`, and is owned by the inbox.
struct Inbox: ~Copyable {
  /// The address of the operation on top, with the number of operations in ``countBits``; 0 when empty.
  private let top = Atomic<UInt>(0)

  /// As many as this wait at most: the thread that adds another takes all in, so that no thread ever has to take in
  /// many at once under the lock.
  private static let capacity: UInt = 255
  private static let countShift = 48
  /// Bits that are 0 in every address: user space ends below them, and tagged pointers have their tag above them.
  private static let countBits: UInt = 0xFF << countShift

  /// Whether nothing is there, as seen in the one order that pushing and looking have with the changes of
  /// ``OperationQueue/servesInbox``.
  var isEmpty: Bool { top.load(ordering: .sequentiallyConsistent) == 0 }

  /// Puts an operation on top, and takes over its ownership; from then on it may have run and been freed.
  ///
  /// - Returns: Whether there is room for more.
  func push(_ operation: OperationReference) -> Bool {
    let address = UInt(bitPattern: operation.toOpaque())
    var old = top.load(ordering: .relaxed)
    while true {
      operation.next = Self.operation(old)
      let count = min((old & Self.countBits) >> Self.countShift + 1, Self.capacity)
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
    UnsafeRawPointer(bitPattern: word & ~countBits).map { OperationReference.fromOpaque($0) }
  }
}
