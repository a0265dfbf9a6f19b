import Dispatch

/// A place where one thread waits until another lets it pass; it is reusable.
///
/// HeadwayTestKit's `Gate` stays open.
///
/// The waits have no bound: on a loaded machine, the thread that opens might not run for a long time. If a broken
/// import never arrives, the watchdog terminates the process.
final class Checkpoint: Sendable {
  private let arrival = DispatchSemaphore(value: 0)
  private let passage = DispatchSemaphore(value: 0)

  /// Arrives and waits.
  func pass() {
    arrival.signal()
    passage.wait()
  }

  /// Waits until the other thread has arrived.
  func awaitArrival() { arrival.wait() }

  /// Lets one thread pass.
  func open() { passage.signal() }
}
