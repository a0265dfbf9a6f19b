import Headway
import Synchronization

/// Touches that the main queue responds to, like an app responds to a finger.
final class Touches: Sendable {
  /// A touch that received a response, together with all earlier touches.
  struct Event: Encodable {
    let type = "touch"
    let number: Int
    /// The window of the touch.
    let viewer: String
    /// The position, as fractions of the width and height.
    let x: Double
    let y: Double
    /// How long the touch waited for the main queue, in milliseconds.
    let waited: Double
  }

  private let journal: Journal
  // Protected by its lock.
  private let lastNumber = Mutex(0)

  init(_ journal: Journal) { self.journal = journal }

  /// Passes a touch to the main queue.
  ///
  /// - Returns: The number of the touch. The response follows as an event.
  func touch(viewer: String, x: Double, y: Double) -> Int {
    let number = lastNumber.withLock { last in
      last += 1
      return last
    }
    let start = ContinuousClock.now
    Headway.OperationQueue.main.addOperation { [journal] in
      let waited = (.now - start).inSeconds * 1_000
      journal.append(Event(number: number, viewer: viewer, x: x, y: y, waited: waited), key: "touch")
    }
    return number
  }
}
