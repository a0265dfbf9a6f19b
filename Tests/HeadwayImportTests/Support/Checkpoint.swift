import Dispatch

/// A place where one thread is held until another lets it pass; it can be used again.
///
/// HeadwayTestKit's `Gate` stays open.
///
/// The waits have no bound: on a loaded machine the thread that opens may be away for long. Should a broken import
/// never come, the watchdog ends the process.
final class Checkpoint: Sendable {
  private let arrival = DispatchSemaphore(value: 0)
  private let passage = DispatchSemaphore(value: 0)

  /// Arrives, and is held.
  func pass() {
    arrival.signal()
    passage.wait()
  }

  /// Waits until the other thread has arrived.
  func awaitArrival() { arrival.wait() }

  /// Lets one thread pass.
  func open() { passage.signal() }
}
