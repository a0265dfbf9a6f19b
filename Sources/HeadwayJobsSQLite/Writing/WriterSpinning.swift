#if Jobs
/// Decides whether it is worthwhile for the writer to spin.
///
/// A producer could also write on its own thread. However, this would block a thread of Swift concurrency until the
/// disk has synced the commit, and while other connections use the database.
///
/// After the writer has spun in vain, it skips spinning: once, then three times, and so on. If it finds a request by
/// spinning, it spins again the next time.
struct WriterSpinning {
  /// How long the writer spins.
  static let length = Duration.microseconds(50)
  private static let maxSkippedCount = 63
  private var skippedCount = 0
  private var left = 0
  /// Whether the last transaction had only one request.
  var isAlone = false

  mutating func mayBegin() -> Bool {
    guard isAlone else { return false }
    guard left > 0 else { return true }
    left -= 1
    return false
  }

  mutating func end(isInVain: Bool) {
    skippedCount = isInVain ? min(2 * skippedCount + 1, Self.maxSkippedCount) : 0
    left = skippedCount
  }
}
#endif
