extension Report {
  /// Measures the same work in two ways, which alternate within the time limit.
  ///
  /// The samples are the ratios of the pairs. The figures are the medians of both, in nanoseconds per operation.
  ///
  /// - Parameters:
  ///   - name: The name of the figure of the first way.
  ///   - plainName: The name of the figure of the second way, which is the reference.
  ///   - count: How often the work calls its body.
  ///   - prepare: Returns the work, for a count and one of the ways: true for the first. It is not measured.
  /// - Returns: A report of the ratio.
  static func ratio(
    of name: String, to plainName: String, count: Int, _ prepare: (Int, Bool) -> (@escaping Body) -> Void
  ) -> Report {
    func time(_ count: Int, _ run: (@escaping Body) -> Void) -> Double {
      Memory.trim()
      let counter = Counter()
      let seconds = Stopwatch.seconds { run { counter.increment() } }
      counter.require(count)
      return seconds / Double(count) * 1e9
    }
    let smaller = max(1000, count / 10)
    for way in [false, true] { _ = time(smaller, prepare(smaller, way)) }
    let start = ContinuousClock.now
    let (plainRun, run) = (prepare(count, false), prepare(count, true))
    var (plain, times): ([Double], [Double]) = ([], [])
    repeat {
      plain.append(time(count, plainRun))
      times.append(time(count, run))
    } while plain.count < 20 && Stopwatch.seconds(since: start) < TimeLimit.seconds
    return Report(samples: zip(plain, times).map { $1 / $0 }, figures: [plainName: plain.median, name: times.median])
  }
}
