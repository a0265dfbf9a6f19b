/// Times pieces of work.
enum Stopwatch {
  /// How long `work` takes, in seconds.
  static func seconds(_ work: () -> Void) -> Double {
    let start = ContinuousClock.now
    work()
    return seconds(since: start)
  }

  static func seconds(since start: ContinuousClock.Instant) -> Double { (ContinuousClock.now - start) / .seconds(1) }

  /// Nanoseconds for each of `count` pieces, as often as it takes for a steady figure.
  ///
  /// Small counts are repeated until a million pieces were done, at most a hundred times and within the time limit.
  /// Each time starts with a heap whose free memory was given back, so that a small count has to fetch its pages too.
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
