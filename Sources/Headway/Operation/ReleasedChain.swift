/// Releases operations, and what only they held, in a loop: a chain of a million would overflow the stack if each freed
/// the next.
enum ReleasedChain {
  /// The thread's value points to the list of the loop that is running, on the thread's own stack.
  private static let key = ThreadKey()

  /// Releases the operations; what the calling thread hands over meanwhile, from `deinit`, waits until the loop comes
  /// to it.
  static func release(_ operations: consuming [Operation]) {
    guard !operations.isEmpty else { return }
    if let running = key.value?.assumingMemoryBound(to: [Operation].self) {
      running.pointee.append(contentsOf: operations)
      return
    }
    var waiting = operations
    withUnsafeMutablePointer(to: &waiting) { pointer in
      key.value = UnsafeMutableRawPointer(pointer)
      while pointer.pointee.popLast() != nil {}
      key.value = nil
    }
  }
}
