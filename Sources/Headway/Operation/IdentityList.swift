/// Something that stands for an operation in an ``IdentityList``.
protocol OperationIdentified {
  /// The operation's address, for comparing.
  var address: UnsafeRawPointer { get }
}

extension Operation: OperationIdentified {
  final var address: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }
}

/// An operation that is known and not owned: valid only under the rules that ``Operation/Links`` states.
struct UnownedOperation: OperationIdentified, @unchecked Sendable {  // A pointer; its use is ruled by Links.
  let reference: Unmanaged<Operation>

  init(_ operation: Operation) { reference = .passUnretained(operation) }

  var address: UnsafeRawPointer { UnsafeRawPointer(reference.toOpaque()) }
}

/// An operation that is known and not owned, and that may be freed at any time.
struct WeakOperation: @unchecked Sendable {  // A weak reference, which the runtime protects.
  private(set) weak var operation: Operation?

  init(_ operation: Operation) { self.operation = operation }
}

/// An ordered list of distinct operations: append, look up and remove in (amortised) constant time.
///
/// Short lists, which nearly all are, are searched; a long one gets an index when it is first searched. A removal
/// leaves a hole, and the list closes up when half of it is holes.
struct IdentityList<Element: OperationIdentified> {
  private var slots: [Element?] = []
  private var holes = 0
  private var positions: [UnsafeRawPointer: Int]?

  private static var longestSearched: Int { 16 }

  var isEmpty: Bool { slots.count == holes }
  var count: Int { slots.count - holes }
  var elements: [Element] { slots.compactMap { $0 } }

  mutating func append(_ element: Element) {
    positions?[element.address] = slots.count
    slots.append(element)
  }

  mutating func contains(_ address: UnsafeRawPointer) -> Bool { position(of: address) != nil }

  mutating func remove(_ address: UnsafeRawPointer) -> Element? {
    guard let position = position(of: address) else { return nil }
    let element = slots[position]
    slots[position] = nil
    positions?[address] = nil
    holes += 1
    if holes * 2 > slots.count { closeUp() }
    return element
  }

  private mutating func position(of address: UnsafeRawPointer) -> Int? {
    if slots.count <= Self.longestSearched {
      return slots.firstIndex { $0?.address == address }
    }
    if positions == nil { buildIndex() }
    return positions?[address]
  }

  private mutating func closeUp() {
    slots.removeAll { $0 == nil }
    holes = 0
    if positions != nil { buildIndex() }
  }

  private mutating func buildIndex() {
    var index = [UnsafeRawPointer: Int](minimumCapacity: slots.count)
    for (position, element) in slots.enumerated() {
      if let element { index[element.address] = position }
    }
    positions = index
  }
}
