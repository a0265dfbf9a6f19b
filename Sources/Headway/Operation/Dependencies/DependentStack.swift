import CHeadway
import Dispatch
import Synchronization

/// The edges of those that wait for an operation: a stack, onto which threads push without a lock, and which the end
/// closes as a whole.
///
/// A thread that takes an edge out before the end, which is rare, moves all of them to a list, under the lock of the
/// operation's links. The edges are in the dependents, which take them out before they are freed.
///
/// Orderings: a push releases what is written in the edge, and taking all or closing acquires that; pushes between are
/// read-modify-writes, and so keep it. The end releases "done", which a thread acquires that frees an edge afterwards.
/// A push is sequentially consistent, since the thread then reads whether its operation has ended meanwhile, and a
/// thread that ends an operation early reads the stack after that (with a fence between): at least one of them sees the
/// other.
struct DependentStack: ~Copyable {
  /// The word of the edge on top; 0 when empty.
  private let top = Atomic<UInt>(0)

  // No address of an edge.
  private static let closed: UInt = 8
  private static let done: UInt = 16

  var isEmpty: Bool { top.load(ordering: .relaxed) == 0 }

  /// Whether the end has counted down all that were here.
  var isDone: Bool { top.load(ordering: .acquiring) == Self.done }

  /// Puts an edge on top; from then on the dependency counts it down.
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

  /// Moves all out, the oldest first; the stack stays open.
  ///
  /// Under the lock of the links, which the thread that ends the operation takes as well.
  func takeAll(_ body: (Edge) -> Void) {
    guard !isEmpty else { return }
    let taken = top.exchange(0, ordering: .acquiring)
    assert(taken != Self.closed && taken != Self.done, "dependents were closed by a thread without the lock")
    Self.forEachFromOldest(taken, body)
  }

  /// Closes the stack, calls `body` with each, the oldest first, and then says that this is done.
  ///
  /// - Parameter body: After this, the memory of the edge may be gone.
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

  /// Waits, with no lock held, until the thread that has ended the operation has counted down all: a few steps of a
  /// thread without a raised nice value, which may be preempted.
  func awaitDone() {
    for _ in 0..<1_000 {
      if isDone { return }
      headway_pause()
    }
    while !isDone { usleep(50) }
  }
}
