import Synchronization

/// A value protected by a lock that no thread with a raised nice value holds.
///
/// Such a thread can be preempted for seconds, and a normal thread that needs the lock would wait for that time.
/// Therefore, for a worker of the utility or background class, or a worker whose thread priority is lowered, the
/// ``PoolManager`` runs the critical section while the worker waits: about ten microseconds. Other threads acquire the
/// lock themselves.
///
/// No user code is called and no user object is released under the lock. The effect of a critical section does not
/// depend on the thread that runs it.
///
/// See `Docs/decisions/0013-pool-manager.md`.
struct Guarded<Value: ~Copyable>: ~Copyable, @unchecked Sendable {  // The lock protects the value.
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

  /// Does the same as ``withLock(_:)`` on a thread that is known to have no raised nice value.
  ///
  /// This costs a little less.
  @inline(__always)
  borrowing func withLockOnThisThread<Answer: ~Copyable>(_ body: (inout Value) -> Answer) -> Answer {
    // The answer belongs to the caller, which ensures that it shares nothing unprotected with the value.
    mutex.withLock { value in
      nonisolated(unsafe) let answer = body(&value)
      return answer
    }
  }

  // Not specialized for each body: otherwise the common path, which acquires the lock directly, would retain and
  // release the objects that the body refers to.
  @inline(never) @_optimize(none)
  private borrowing func withLockByProxy<Answer: ~Copyable>(_ body: (inout Value) -> Answer) -> Answer {
    var answer: Answer?
    PoolManager.perform { answer = withLockOnThisThread(body) }
    return answer.take()!
  }
}

extension Worker {
  /// Whether the calling thread is a worker that must not hold a lock.
  ///
  /// A separate function, to keep it out of the way of its callers.
  @inline(never) fileprivate static var isCurrentLow: Bool { current?.isLow == true }
}
