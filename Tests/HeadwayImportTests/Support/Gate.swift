import Dispatch
import Synchronization

/// Where one thread is held until another lets it go.
///
/// The waits have no bound: on a loaded machine the thread that opens may be away for long. Should a broken import
/// never come, the watchdog ends the process.
final class Gate: Sendable {
  private let arrival = DispatchSemaphore(value: 0)
  private let passage = DispatchSemaphore(value: 0)

  /// Arrives, and is held.
  func pass() {
    arrival.signal()
    passage.wait()
  }

  /// Waits until the other thread has arrived.
  func awaitArrival() { arrival.wait() }

  /// Lets one thread go.
  func open() { passage.signal() }
}

/// What happened, in order, seen from any thread.
final class Recorder<Element: Sendable>: Sendable {
  private let recorded = Mutex<[Element]>([])

  var all: [Element] { recorded.withLock { $0 } }

  func append(_ element: Element) { recorded.withLock { $0.append(element) } }
}
