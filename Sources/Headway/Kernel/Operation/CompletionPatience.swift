import Dispatch
import Synchronization

/// The time that a blocking wait spends on completion blocks after the operations that it waits for have ended.
///
/// After a wait, programs often read the results of a completion block. The wait must not depend on the block, which
/// may need the thread that waits, as with `DispatchQueue.main.sync`. But the block was passed to a thread before, and
/// usually needs only as long as that thread takes to begin.
struct CompletionPatience {
  /// The time in nanoseconds.
  private let time: UInt64
  /// The deadline of the wait; nil until it waits for a completion block.
  private var end: UInt64?

  init(time: UInt64 = 200_000) { self.time = time }

  /// Waits for the completion block of an operation that has ended, until the time is up.
  mutating func wait(for operation: Operation) { wait { operation.completionIsDue } }

  /// Waits for the completion blocks of the operations that have left a queue, until the time is up.
  mutating func wait(for queue: OperationQueue) { wait { queue.dueCompletions.load(ordering: .acquiring) > 0 } }

  private mutating func wait(while isDue: () -> Bool) {
    while isDue() {
      let now = DispatchTime.now().uptimeNanoseconds
      let end = end ?? (now + time)
      self.end = end
      guard now < end else { return }
      yieldProcessor()
    }
  }
}

extension Operation {
  /// Whether the operation has ended and its completion block has not returned.
  fileprivate final var completionIsDue: Bool {
    state.current.isLinked
      && links.withLock { $0.details?.pointee.completionIsDue.load(ordering: .acquiring) ?? false }
  }
}
