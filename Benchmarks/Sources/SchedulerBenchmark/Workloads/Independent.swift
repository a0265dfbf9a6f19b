extension Workload {
  /// Independent operations, from adding the first until the last has finished.
  ///
  /// In nanoseconds per operation.
  static let independent = Workload(name: "independent") { rival, count in
    guard let rival = rival as? any IndependentRival else { return nil }
    func run(_ count: Int) {
      let counter = Counter()
      rival.run(count: count) { counter.increment() }
      counter.require(count)
    }
    run(max(1000, count / 10))
    return Report(samples: Stopwatch.nanosecondsEach(count: count) { run(count) })
  }
}
