#if SQLite && Drawing
import Synchronization

/// The number of thumbnails that have ended, by result.
final class ThumbnailTally: Sendable {
  enum End { case made, upToDate, failed }

  struct Counts {
    let total: Int
    var made = 0
    var upToDate = 0
    var failed = 0

    /// The number of thumbnails that have ended without being cancelled.
    var ended: Int { made + upToDate + failed }
    var fraction: Double { total == 0 ? 1 : Double(ended) / Double(total) }
  }

  // Protected by its lock.
  private let state: Mutex<Counts>

  init(total: Int) { state = Mutex(Counts(total: total)) }

  var counts: Counts { state.withLock { $0 } }

  func add(_ end: End) {
    state.withLock { counts in
      switch end {
      case .made: counts.made += 1
      case .upToDate: counts.upToDate += 1
      case .failed: counts.failed += 1
      }
    }
  }
}
#endif
