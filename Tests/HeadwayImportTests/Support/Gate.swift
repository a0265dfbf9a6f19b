import Dispatch
import Synchronization
import Testing

/// Where one thread is held until another lets it go.
///
/// The waits are bounded so that a broken import fails a test and does not hang it; a test that passes never waits so
/// long, though on a loaded machine the thread that opens may be away for long.
final class Gate: Sendable {
  private let arrival = DispatchSemaphore(value: 0)
  private let passage = DispatchSemaphore(value: 0)

  /// Arrives, and is held.
  func pass() {
    arrival.signal()
    if passage.wait(timeout: .now() + 240) != .success { Issue.record("Nobody opened the gate") }
  }

  /// Waits until the other thread has arrived.
  func awaitArrival(_ location: SourceLocation = #_sourceLocation) throws {
    try #require(arrival.wait(timeout: .now() + 240) == .success, "Nobody came to the gate", sourceLocation: location)
  }

  /// Lets one thread go.
  func open() { passage.signal() }
}

/// What happened, in order, seen from any thread.
final class Recorder<Element: Sendable>: Sendable {
  private let recorded = Mutex<[Element]>([])

  var all: [Element] { recorded.withLock { $0 } }

  func append(_ element: Element) { recorded.withLock { $0.append(element) } }
}
