/// A queue of values.
///
/// Appending to the end and removing from the front take amortized constant time.
///
/// See `Docs/decisions/0006-written-by-hand.md`.
struct FirstInFirstOut<Element> {
  private var elements: [Element?] = []
  private var head = 0

  var count: Int { elements.count - head }
  var isEmpty: Bool { head == elements.count }

  /// Accesses the value at `position`, counted from the front.
  subscript(position: Int) -> Element {
    get { elements[head + position]! }
    set { elements[head + position] = newValue }
  }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let element = elements[head].take()
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: elements.capacity <= 1024)
      head = 0
    } else if head >= 64, head * 2 >= elements.count {
      elements.removeSubrange(..<head)
      head = 0
    }
    return element
  }
}
