import Synchronization

/// Operations that have been added but are not in the queue's lists yet.
///
/// The inbox is a stack. Threads push to it without a lock, and the thread that holds the queue's lock takes it as a
/// whole (Treiber, “Systems programming: coping with parallelism”, 1986). Because there are no single pops, there is no
/// ABA problem. `queueLinks.next` joins an operation to the one below it. The inbox owns its operations.
struct Inbox: ~Copyable {
  /// The address of the operation on top, with the number of operations in ``countBits``.
  ///
  /// 0 if the inbox is empty.
  private let top = Atomic<UInt>(0)

  /// The maximum number of waiting operations.
  ///
  /// The thread that adds another one empties the inbox, so no thread ever has to add many under the lock.
  private static let capacity: UInt = 255
  private static let countShift = 48
  /// Bits that are 0 in every address: user space ends below them, and tagged pointers keep their tag above them.
  private static let countBits: UInt = 0xFF << countShift

  /// Whether the inbox is empty.
  ///
  /// Pushes and this check are in one order with the changes of ``OperationQueue/servesInbox`` (sequentially
  /// consistent).
  var isEmpty: Bool { top.load(ordering: .sequentiallyConsistent) == 0 }

  /// Pushes an operation, and takes over its ownership.
  ///
  /// From then on, the operation may have run and been freed.
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

  /// Removes all operations.
  ///
  /// - Parameter body: Called with each operation, in the order of pushing. It takes over the ownership.
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
