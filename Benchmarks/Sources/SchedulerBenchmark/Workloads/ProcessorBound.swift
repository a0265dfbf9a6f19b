extension Workload {
  /// Operations that each occupy a processor for a quarter of a second, compared with plain threads.
  ///
  /// The time is a multiple of the time that plain threads, one per processor, need for the same work. The series are
  /// the numbers of threads over time: all threads, and those that are running or ready to run.
  static let processorBound = Workload(name: "processor-bound") { rival, count in
    guard let rival = rival as? any IndependentRival else { return nil }
    let turns = Spinning.turns(microseconds: 250_000)
    let counter = Counter()
    rival.run(count: 100) {}
    let before = IdealTime.seconds(turns: Array(repeating: turns, count: count))
    let sampler = ThreadSampler(milliseconds: 20, countsBusy: true)
    let seconds = Stopwatch.seconds {
      rival.run(count: count) {
        Spinning.turn(turns)
        counter.increment()
      }
    }
    let samples = sampler.end()
    counter.require(count)
    let ideal = (before + IdealTime.seconds(turns: Array(repeating: turns, count: count))) / 2
    let figures = [
      "seconds": seconds, "ideal": ideal, "processors": Double(Processors.count),
      "mostBusy": samples.map { Double($0.busy) }.max() ?? 0,
    ]
    return Report(
      samples: [seconds / ideal], figures: figures,
      series: samples.map { [$0.seconds, Double($0.threads), Double($0.busy)] })
  }
}
