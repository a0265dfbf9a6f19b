/// Times pieces of work.
enum Stopwatch {
  /// How long `work` takes, in seconds.
  static func seconds(_ work: () -> Void) -> Double {
    let start = ContinuousClock.now
    work()
    return seconds(since: start)
  }

  static func seconds(since start: ContinuousClock.Instant) -> Double { (ContinuousClock.now - start) / .seconds(1) }

  /// Nanoseconds for each of `count` pieces, as often as it takes for a steady figure: small counts are repeated until
  /// a million pieces were done, at most a hundred times. Each time starts with a heap whose free memory was given back,
  /// so that the pages of a small count have to be fetched like those of a big one.
  static func nanosecondsEach(count: Int, _ work: () -> Void) -> [Double] {
    (0..<max(1, min(100, 1_000_000 / count))).map { _ in
      Memory.trim()
      return seconds(work) / Double(count) * 1e9
    }
  }
}
