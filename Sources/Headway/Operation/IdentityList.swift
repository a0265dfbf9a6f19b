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
/// Most lists have one element, which takes no memory of its own; short ones are searched; a long one is in an object
/// that copies of the list share, so lists are moved and not copied.
struct IdentityList<Element: OperationIdentified> {
  private enum Storage {
    case none
    case one(Element)
    case few([Element])
    case many(ManyIdentified<Element>)
  }

  private static var longestSearched: Int { 16 }

  private var storage = Storage.none

  var isEmpty: Bool {
    switch storage {
    case .none: true
    case .one: false
    case .few(let elements): elements.isEmpty
    case .many(let elements): elements.isEmpty
    }
  }

  var elements: [Element] {
    switch storage {
    case .none: []
    case .one(let element): [element]
    case .few(let elements): elements
    case .many(let elements): elements.all
    }
  }

  func forEach(_ body: (Element) -> Void) {
    switch storage {
    case .none: break
    case .one(let element): body(element)
    case .few(let elements): for element in elements { body(element) }
    case .many(let elements): for element in elements.all { body(element) }
    }
  }

  func contains(_ address: UnsafeRawPointer) -> Bool {
    switch storage {
    case .none: false
    case .one(let element): element.address == address
    case .few(let elements): elements.contains { $0.address == address }
    case .many(let elements): elements.position(of: address) != nil
    }
  }

  mutating func append(_ element: Element) {
    switch storage {
    case .none:
      storage = .one(element)
    case .one(let first):
      var elements: [Element] = []
      elements.reserveCapacity(4)
      elements.append(first)
      elements.append(element)
      storage = .few(elements)
    case .few(var elements):
      storage = .none  // So that the array is changed in its place.
      elements.append(element)
      storage = elements.count <= Self.longestSearched ? .few(elements) : .many(ManyIdentified(elements))
    case .many(let elements):
      elements.append(element)
    }
  }

  mutating func remove(_ address: UnsafeRawPointer) -> Element? {
    switch storage {
    case .none:
      return nil
    case .one(let element):
      guard element.address == address else { return nil }
      storage = .none
      return element
    case .few(var elements):
      guard let position = elements.firstIndex(where: { $0.address == address }) else { return nil }
      storage = .none
      defer { storage = .few(elements) }
      return elements.remove(at: position)
    case .many(let elements):
      return elements.remove(address)
    }
  }
}

/// The elements of a long list, with an index, which is made when the list is first searched.
///
/// A removal leaves a hole, and the list closes up when half of it is holes.
private final class ManyIdentified<Element: OperationIdentified> {
  private var slots: [Element?]
  private var holes = 0
  private var positions: [UnsafeRawPointer: Int]?

  init(_ elements: [Element]) { slots = elements }

  var isEmpty: Bool { slots.count == holes }
  var all: [Element] { slots.compactMap { $0 } }

  func append(_ element: Element) {
    positions?[element.address] = slots.count
    slots.append(element)
  }

  func remove(_ address: UnsafeRawPointer) -> Element? {
    guard let position = position(of: address) else { return nil }
    let element = slots[position]
    slots[position] = nil
    positions?[address] = nil
    holes += 1
    if holes * 2 > slots.count { closeUp() }
    return element
  }

  func position(of address: UnsafeRawPointer) -> Int? {
    if positions == nil { buildIndex() }
    return positions?[address]
  }

  private func closeUp() {
    slots.removeAll { $0 == nil }
    holes = 0
    if positions != nil { buildIndex() }
  }

  private func buildIndex() {
    var index = [UnsafeRawPointer: Int](minimumCapacity: slots.count)
    for (position, element) in slots.enumerated() {
      if let element { index[element.address] = position }
    }
    positions = index
  }
}
