#if Drawing
import Headway
import Synchronization

/// Takes the ends of drawings from any thread to the main one: all that have come in one operation there, so that it
/// is not flooded.
final class EndedDrawings: Sendable {
  struct End: Sendable {
    let number: Int
    let result: Result<Image, any Error>
  }

  private struct State {
    var ends: [End] = []
    var isScheduled = false
  }

  // Errors and images are appended under the lock, and released outside.
  private let state = Mutex(State())
  private let receive: @MainActor @Sendable () -> Void

  /// - Parameter receive: What to call when there are ends to be taken.
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

  /// Takes what has come.
  func take() -> [End] {
    state.withLock { state in
      state.isScheduled = false
      defer { state.ends = [] }
      return state.ends
    }
  }
}
#endif
