/// Times pieces of work.
enum Stopwatch {
  /// Returns how long `work` takes, in seconds.
  static func seconds(_ work: () -> Void) -> Double {
    let start = ContinuousClock.now
    work()
    return seconds(since: start)
  }

  static func seconds(since start: ContinuousClock.Instant) -> Double { (ContinuousClock.now - start) / .seconds(1) }

  /// Returns the nanoseconds for each of `count` pieces, repeated as often as a stable figure requires.
  ///
  /// Small counts are repeated until a million pieces have been done, at most a hundred times and within the time
  /// limit. Before each repetition, the free memory of the heap is returned to the system, so that small counts must
  /// also obtain their pages.
  static func nanosecondsEach(count: Int, _ work: () -> Void) -> [Double] {
    let start = ContinuousClock.now
    var times: [Double] = []
    repeat {
      Memory.trim()
      times.append(seconds(work) / Double(count) * 1e9)
    } while times.count < min(100, 1_000_000 / count) && seconds(since: start) < TimeLimit.seconds
    return times
  }
}
