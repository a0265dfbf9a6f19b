import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The time that a blocking wait spends on completion blocks, after what it waits for has ended.
///
/// Programs often read after the wait what a completion block does. The wait must not depend on the block, which may
/// need the thread that waits, as with `DispatchQueue.main.sync`. But the block was handed to a thread before, and
/// mostly needs no more than the time in which that thread begins.
struct CompletionPatience {
  /// In nanoseconds.
  private let time: UInt64
  /// When time is up; nil until a completion block is waited for.
  private var end: UInt64?

  init(time: UInt64 = 200_000) { self.time = time }

  /// Waits for the completion block of an operation that has ended, until time is up.
  mutating func wait(for operation: Operation) { wait { operation.completionIsDue } }

  /// Waits for the completion blocks of the operations that have left a queue, until time is up.
  mutating func wait(for queue: OperationQueue) {
    wait { queue.dueCompletions.load(ordering: .acquiring) > 0 }
  }

  private mutating func wait(while isDue: () -> Bool) {
    while isDue() {
      let now = DispatchTime.now().uptimeNanoseconds
      let end = end ?? now + time
      self.end = end
      guard now < end else { return }
      sched_yield()
    }
  }
}

extension Operation {
  /// The operation has ended, and its completion block has not returned.
  fileprivate final var completionIsDue: Bool {
    state.current.isLinked && links.withLock { $0.details?.completion.isDue ?? false }
  }
}
