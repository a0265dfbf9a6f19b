import Glibc

extension Workload {
  /// Operations that each sleep for half a second.
  ///
  /// The total time in seconds, and the number of threads over time.
  static let sleepers = Workload(name: "sleepers") { rival, count in
    guard let rival = rival as? any IndependentRival else { return nil }
    let counter = Counter()
    rival.run(count: 100) {}
    let sampler = ThreadSampler(milliseconds: 10, countsBusy: false)
    let seconds = Stopwatch.seconds {
      rival.run(count: count) {
        usleep(500_000)
        counter.increment()
      }
    }
    let samples = sampler.end()
    counter.require(count)
    return Report(
      samples: [seconds], figures: ["mostThreads": Double(samples.map(\.threads).max() ?? 0)],
      series: samples.map { [$0.seconds, Double($0.threads)] })
  }
}
