import Headway
import Synchronization

/// Touches that the main queue answers, as an app answers a finger.
final class Touches: Sendable {
  /// A touch that was answered, and with it all that came before.
  struct Event: Encodable {
    let type = "touch"
    let number: Int
    /// Which window it was.
    let viewer: String
    /// Where, in parts of the width and height.
    let x: Double
    let y: Double
    /// How long the main queue let it wait, in milliseconds.
    let waited: Double
  }

  private let journal: Journal
  // Protected by its lock.
  private let lastNumber = Mutex(0)

  init(_ journal: Journal) { self.journal = journal }

  /// Hands a touch to the main queue.
  ///
  /// - Returns: The number of the touch; the answer comes as an event.
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
