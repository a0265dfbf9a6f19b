/// The operations that could start, ordered by priority and, within one priority, by insertion order.
///
/// Each of the five priorities has a list and a heap. Operations usually become ready in insertion order, so nearly all
/// are appended to the list, in constant time. An operation can become ready late, because its dependencies took longer
/// or its priority was changed. It is inserted into a pairing heap: insertion takes constant time, removal amortized
/// logarithmic time (Fredman, Sedgewick, Sleator and Tarjan, “The pairing heap: a new form of self-adjusting heap”,
/// 1986). A bit mask shows which priorities have any operations.
///
/// See `Docs/decisions/0003-order-of-ready-operations.md`.
struct ReadyOperations {
  fileprivate struct Level {
    var list = OperationList<PlaceLinks>()
    var root: OperationReference?
    var isEmpty: Bool { list.first == nil && root == nil }
  }

  private var levels = (Level(), Level(), Level(), Level(), Level())
  private var occupied: UInt8 = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  // MARK: Inserting and removing

  /// The operation that ``popFirst()`` would remove, with its level.
  @inline(__always)
  var first: (OperationReference, level: Int)? {
    guard occupied != 0 else { return nil }
    let number = 7 - occupied.leadingZeroBitCount
    let earliest =
      switch number {
      case 0: levels.0.earliest
      case 1: levels.1.earliest
      case 2: levels.2.earliest
      case 3: levels.3.earliest
      default: levels.4.earliest
      }
    return earliest.map { ($0, number) }
  }

  mutating func insert(_ operation: Operation, level: Int) {
    operation.admission.readyLevel = UInt8(level)
    with(level) { $0.insert(OperationReference(operation)) }
    occupied |= 1 << UInt8(level)
    count += 1
  }

  mutating func remove(_ operation: Operation) {
    let level = Int(operation.admission.readyLevel)
    with(level) { $0.remove(OperationReference(operation)) }
    forgetIfEmpty(level)
    count -= 1
  }

  /// Removes and returns the first operation of the highest priority.
  mutating func popFirst() -> OperationReference? {
    guard occupied != 0 else { return nil }
    let level = 7 - occupied.leadingZeroBitCount
    let operation = with(level) { $0.popFirst() }
    forgetIfEmpty(level)
    count -= 1
    return operation
  }

  /// Removes and returns the first operation, with its level, if it fulfills a condition.
  mutating func popFirst(where condition: (Operation) -> Bool) -> (OperationReference, level: Int)? {
    guard let (operation, level) = first, operation._withUnsafeGuaranteedRef(condition) else { return nil }
    with(level) { $0.remove(operation) }
    forgetIfEmpty(level)
    count -= 1
    return (operation, level)
  }

  /// Appends all operations of `other`, which were added after the operations of this list.
  ///
  /// O(1).
  mutating func append(_ other: ReadyOperations) {
    var other = other
    for level in 0..<5 where other.occupied & (1 << UInt8(level)) != 0 {
      let theirs = other.with(level) { $0 }
      with(level) { $0.append(theirs) }
    }
    occupied |= other.occupied
    count += other.count
  }

  private mutating func forgetIfEmpty(_ level: Int) {
    if with(level, { $0.isEmpty }) { occupied &= ~(1 << UInt8(level)) }
  }

  private mutating func with<Answer>(_ level: Int, _ body: (inout Level) -> Answer) -> Answer {
    switch level {
    case 0: body(&levels.0)
    case 1: body(&levels.1)
    case 2: body(&levels.2)
    case 3: body(&levels.3)
    default: body(&levels.4)
    }
  }
}

extension ReadyOperations.Level {
  fileprivate mutating func insert(_ operation: OperationReference) {
    guard let last = list.last, last.turn > operation.turn else {
      operation.isInHeap = false
      return list.append(operation)
    }
    operation.isInHeap = true
    root = meld(root, operation)
  }

  fileprivate var earliest: OperationReference? {
    guard let first = list.first, let root else { return list.first ?? root }
    return root.turn < first.turn ? root : first
  }

  fileprivate mutating func popFirst() -> OperationReference? {
    let operation = earliest
    if let operation { remove(operation) }
    return operation
  }

  fileprivate mutating func remove(_ operation: OperationReference) {
    if operation.isInHeap { removeFromHeap(operation) } else { list.remove(operation) }
  }

  fileprivate mutating func append(_ other: Self) {
    list.append(other.list)
    root = meld(root, other.root)
  }

  private mutating func removeFromHeap(_ operation: OperationReference) {
    defer { (operation.next, operation.previous, operation.child) = (nil, nil, nil) }
    let orphans = meldChildren(of: operation)
    if operation.isSame(as: root) {
      root = orphans
      return
    }
    // `previous` is the parent when the operation is its first child, else the sibling before it.
    let (previous, next) = (operation.previous, operation.next)
    if operation.isSame(as: previous?.child) {
      previous?.child = next
    } else {
      previous?.next = next
    }
    next?.previous = previous
    root = meld(root, orphans)
  }

  /// Joins two heaps.
  ///
  /// The root with the greater number becomes the first child of the other root.
  private func meld(_ left: OperationReference?, _ right: OperationReference?) -> OperationReference? {
    guard let left else { return right }
    guard let right else { return left }
    let (parent, child) =
      left.turn < right.turn ? (left, right) : (right, left)
    child.next = parent.child
    parent.child?.previous = child
    child.previous = parent
    parent.child = child
    parent.next = nil
    parent.previous = nil
    return parent
  }

  /// Joins the children of a root that is about to be removed: in pairs from the left, and then all from the right.
  private func meldChildren(of operation: OperationReference) -> OperationReference? {
    var paired: OperationReference?  // The pairs, as a stack through `next`.
    var position = operation.child
    while let left = position {
      let right = left.next
      position = right?.next
      left.next = nil
      left.previous = nil
      right?.next = nil
      right?.previous = nil
      let pair = meld(left, right)
      pair?.next = paired
      paired = pair
    }
    var result: OperationReference?
    while let pair = paired {
      paired = pair.next
      pair.next = nil
      result = meld(result, pair)
    }
    return result
  }
}
