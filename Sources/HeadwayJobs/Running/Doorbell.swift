import Synchronization

/// Wakes a task that waits for an event.
///
/// All rings while no task waits count as one, so the next wait returns immediately.
final class Doorbell: Sendable {
  private struct State {
    var hasRung = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func ring() {
    let waiter = state.withLock { state in
      if state.waiter == nil { state.hasRung = true }
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Suspends the task until the bell rings or the task is cancelled; only one task can wait at a time.
  ///
  /// If the bell has rung before, the function returns immediately.
  ///
  /// One task waits at a time.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let mustWait = state.withLock { state in
          // A cancelled task leaves the ring for the next one.
          if Task.isCancelled { return false }
          guard !state.hasRung else {
            state.hasRung = false
            return false
          }
          state.waiter = waiter
          return true
        }
        if !mustWait { waiter.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiter.take() }?.resume()
    }
  }

  /// Suspends the task until the bell rings, the duration has passed, or the task is cancelled.
  func wait(atMost duration: Duration, _ sleep: @escaping @Sendable (Duration) async throws -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.wait() }
      group.addTask { try? await sleep(duration) }
      await group.next()
      group.cancelAll()
    }
  }
}
