/// A loop in place of recursion across calls that can't hand over a list, such as `deinit`.
///
/// What is handed over while the calling thread is inside ``run(_:_:)`` waits until that loop comes to it.
struct Trampoline<Item>: Sendable {
  /// The thread's value points to the list of the loop that is running, on the thread's own stack.
  private let key = ThreadKey()

  /// Calls `body` for each item, and for each that is handed over meanwhile on the same thread.
  func run(_ items: consuming [Item], _ body: (consuming Item) -> Void) {
    if let running = key.value?.assumingMemoryBound(to: [Item].self) {
      running.pointee.append(contentsOf: items)
      return
    }
    var waiting = items
    withUnsafeMutablePointer(to: &waiting) { pointer in
      key.value = UnsafeMutableRawPointer(pointer)
      while let item = pointer.pointee.popLast() { body(item) }
      key.value = nil
    }
  }
}
