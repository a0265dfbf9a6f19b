import Synchronization

/// A value behind a lock that a thread with a raised nice value never holds.
///
/// Such a thread may be preempted for seconds, and a normal thread that wants the lock would wait as long. So a worker
/// of the utility or background class, or one whose thread priority is lowered, has the ``PoolManager`` carry out what
/// it would do under the lock, and waits for that: some ten microseconds. Other threads take the lock themselves.
///
/// Nothing of the user's is called, or released, under the lock; and what is done there does not depend on which thread
/// does it.
struct Guarded<Value>: ~Copyable, @unchecked Sendable {  // The lock protects the value.
  private let mutex: Mutex<Value>

  init(_ value: consuming sending Value) { mutex = Mutex(value) }

  /// Whether the calling thread must not hold a lock.
  @inline(__always)
  static var isLow: Bool { PoolManager.isNeeded && Worker.isCurrentLow }

  /// Calls `body` with the value, under the lock.
  @inline(__always)
  borrowing func withLock<Answer: ~Copyable>(_ body: (inout Value) -> Answer) -> Answer {
    if Self.isLow { return withLockByProxy(body) }
    return withLockOnThisThread(body)
  }

  /// As ``withLock(_:)``, on a thread that is known to have no raised nice value: that costs a little less.
  @inline(__always)
  borrowing func withLockOnThisThread<Answer: ~Copyable>(_ body: (inout Value) -> Answer) -> Answer {
    // The answer is the caller's, who sees to it that it shares nothing with the value that is not protected.
    mutex.withLock { value in
      nonisolated(unsafe) let answer = body(&value)
      return answer
    }
  }

  // Not specialized for each body: that would have the path of nearly all, which takes the lock itself, retain and
  // release what the body refers to.
  @inline(never) @_optimize(none)
  private borrowing func withLockByProxy<Answer: ~Copyable>(_ body: (inout Value) -> Answer) -> Answer {
    var answer: Answer?
    PoolManager.perform { answer = withLockOnThisThread(body) }
    return answer.take()!
  }
}

extension Worker {
  /// Whether the calling thread is a worker that must not hold a lock; in no other function's way.
  @inline(never) fileprivate static var isCurrentLow: Bool { current?.isLow == true }
}
