#if Drawing
import Headway
import Synchronization

/// Forwards the results of drawings from any thread to the main thread.
///
/// A single operation on the main thread handles all results that have arrived, so the main thread is not flooded.
final class EndedDrawings: Sendable {
  struct End: Sendable {
    let number: Int
    let result: Result<Image, any Error>
  }

  private struct State {
    var ends: [End] = []
    var isScheduled = false
  }

  // Results are appended under the lock, and released outside of it.
  private let state = Mutex(State())
  private let receive: @MainActor @Sendable () -> Void

  /// - Parameter receive: Called on the main thread when there are results.
  init(receive: @escaping @MainActor @Sendable () -> Void) { self.receive = receive }

  func add(_ end: End) {
    let isFirst = state.withLock { state in
      state.ends.append(end)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    guard isFirst else { return }
    OperationQueue.main.addOperation { [receive] in MainActor.assumeIsolated { receive() } }
  }

  /// Removes and returns the results that have arrived.
  func take() -> [End] {
    state.withLock { state in
      state.isScheduled = false
      defer { state.ends = [] }
      return state.ends
    }
  }
}
#endif
