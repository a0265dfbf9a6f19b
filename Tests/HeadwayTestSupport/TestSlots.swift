import Synchronization

/// Limits how many tests run at the same time.
///
/// Swift Testing starts all tests of a process together. The steps of a test are then a minute apart, since each one
/// waits for the threads that all tests share, and time limits of clients and servers expire. With more than 1,300 open
/// files, Foundation's `Process` also reads past the end of a buffer, and crashes.
final class TestSlots: Sendable {
  static let shared = TestSlots(count: 32)

  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(count: Int) {
    state = Mutex(State(free: count))
  }

  /// Waits for a slot, first come, first served.
  func take() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.free > 0 else {
          state.waiting.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  /// Hands the slot to the next test that waits for one.
  func giveBack() {
    let next: CheckedContinuation<Void, Never>? = state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.free += 1
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}
