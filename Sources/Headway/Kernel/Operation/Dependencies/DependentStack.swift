import CHeadway
import Dispatch
import Synchronization

/// The edges of the operations that wait for an operation.
///
/// Threads push to this stack without a lock, and the thread that finishes the operation closes it.
///
/// A thread that removes an edge before the operation ends, which is rare, moves all edges to a list, under the lock of
/// the operation's links. The edges are part of the dependents, which remove them before they are freed.
///
/// Orderings: A push releases the content of the edge, and taking all edges or closing the stack acquires it. Pushes in
/// between are read-modify-write operations, and preserve that. The thread that finishes the operation releases "done",
/// and a thread that frees an edge afterwards acquires it. A push is sequentially consistent, because the thread then
/// reads whether its operation has ended in the meantime. A thread that finishes an operation early reads the stack
/// afterward, with a fence in between. As a result, at least one of the two threads sees the other.
///
/// See `Docs/decisions/0029-edges-in-dependents.md`.
struct DependentStack: ~Copyable {
  /// The word of the top edge; 0 if the stack is empty.
  private let top = Atomic<UInt>(0)

  // Neither value is the address of an edge.
  private static let closed: UInt = 8
  private static let done: UInt = 16

  var isEmpty: Bool { top.load(ordering: .relaxed) == 0 }

  /// Whether all dependents that were in the stack have been counted down because the operation has ended.
  var isDone: Bool { top.load(ordering: .acquiring) == Self.done }

  /// Pushes an edge.
  ///
  /// From then on, the dependency counts it down.
  ///
  /// - Returns: False if the stack is closed.
  func push(_ edge: Edge) -> Bool {
    var old = top.load(ordering: .relaxed)
    while old != Self.closed, old != Self.done {
      edge.next = old
      let (exchanged, original) = top.weakCompareExchange(
        expected: old, desired: edge.word, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
      if exchanged { return true }
      old = original
    }
    return false
  }

  /// Removes all edges and calls `body` with each, the oldest first.
  ///
  /// The stack stays open.
  ///
  /// Called under the lock of the links, which the thread that finishes the operation also takes.
  func takeAll(_ body: (Edge) -> Void) {
    guard !isEmpty else { return }
    let taken = top.exchange(0, ordering: .acquiring)
    assert(taken != Self.closed && taken != Self.done, "dependents were closed by a thread without the lock")
    Self.forEachFromOldest(taken, body)
  }

  /// Closes the stack, calls `body` with each edge, the oldest first, and then marks the stack as done.
  ///
  /// - Parameter body: The function to call. After it returns, the memory of the edge may have been freed.
  @inline(__always)
  func close(_ body: (Edge) -> Void) {
    Self.forEachFromOldest(top.exchange(Self.closed, ordering: .acquiringAndReleasing), body)
    top.store(Self.done, ordering: .releasing)
  }

  @inline(__always)
  private static func forEachFromOldest(_ word: UInt, _ body: (Edge) -> Void) {
    var position = word
    var oldest: UInt = 0
    while position != 0 {
      let edge = Edge(word: position)
      position = edge.next
      edge.next = oldest
      oldest = edge.word
    }
    while oldest != 0 {
      let edge = Edge(word: oldest)
      oldest = edge.next
      body(edge)
    }
  }

  /// Waits, with no lock held, until the thread that has finished the operation has counted down all dependents.
  ///
  /// This takes a few steps of a thread without a raised nice value, which might be preempted.
  func awaitDone() {
    for _ in 0..<1_000 {
      if isDone { return }
      headway_pause()
    }
    while !isDone { usleep(50) }
  }
}
