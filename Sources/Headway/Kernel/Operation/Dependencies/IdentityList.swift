/// An ordered list of distinct elements that appends, looks up and removes in amortized constant time.
///
/// A list of one element requires no separate memory. Short lists are searched. A long list is in an object that copies
/// of the list share, so lists must be moved, not copied.
struct IdentityList<Element: Hashable> {
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
    case .many(let elements): elements.forEach(body)
    }
  }

  func contains(_ element: Element) -> Bool { self.element(equalTo: element) != nil }

  /// The element in the list that equals `element`.
  ///
  /// The two may differ in properties that equality ignores.
  func element(equalTo element: Element) -> Element? {
    switch storage {
    case .none: nil
    case .one(let only): only == element ? only : nil
    case .few(let elements): elements.first { $0 == element }
    case .many(let elements): elements.element(equalTo: element)
    }
  }

  /// Moves all elements out.
  ///
  /// A copy of the list would retain them until the list is emptied.
  mutating func takeAll() -> IdentityList {
    var all = IdentityList()
    swap(&all, &self)
    return all
  }

  mutating func append(_ element: Element) {
    if appendToMany(element) { return }
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
      storage = .none  // So that the array is changed in place.
      elements.append(element)
      storage = elements.count <= Self.longestSearched ? .few(elements) : .many(ManyIdentified(elements))
    case .many:
      break
    }
  }

  // A separate function, because a function that changes the list retains the object.
  private func appendToMany(_ element: Element) -> Bool {
    guard case .many(let elements) = storage else { return false }
    elements.append(element)
    return true
  }

  /// Removes an element; returns false if it is not in the list.
  mutating func remove(_ element: Element) -> Bool {
    switch storage {
    case .none:
      return false
    case .one(let only):
      guard only == element else { return false }
      storage = .none
      return true
    case .few(var elements):
      guard let position = elements.firstIndex(where: { $0 == element }) else { return false }
      storage = .none
      elements.remove(at: position)
      storage = .few(elements)
      return true
    case .many(let elements):
      return elements.remove(element)
    }
  }
}

/// The elements of a long list, with an index that is created when the list is first searched.
///
/// A removal leaves a hole. The list closes up when half of it is holes. The lock that protects the list already
/// guarantees exclusive access, so it is not checked again at each access.
private final class ManyIdentified<Element: Hashable> {
  @exclusivity(unchecked) private var slots: [Element?]
  @exclusivity(unchecked) private var holes = 0
  @exclusivity(unchecked) private var positions: [Element: Int]?

  init(_ elements: [Element]) { slots = elements }

  var isEmpty: Bool { slots.count == holes }
  var all: [Element] { slots.compactMap { $0 } }

  func forEach(_ body: (Element) -> Void) { for case let element? in slots { body(element) } }

  func append(_ element: Element) {
    positions?[element] = slots.count
    slots.append(element)
  }

  func remove(_ element: Element) -> Bool {
    guard let position = position(of: element) else { return false }
    slots[position] = nil
    positions?[element] = nil
    holes += 1
    if holes * 2 > slots.count { closeUp() }
    return true
  }

  func element(equalTo element: Element) -> Element? { position(of: element).flatMap { slots[$0] } }

  private func position(of element: Element) -> Int? {
    if positions == nil { buildIndex() }
    return positions?[element]
  }

  private func closeUp() {
    slots.removeAll { $0 == nil }
    holes = 0
    if positions != nil { buildIndex() }
  }

  private func buildIndex() {
    var index = [Element: Int](minimumCapacity: slots.count)
    for (position, element) in slots.enumerated() {
      if let element { index[element] = position }
    }
    positions = index
  }
}
