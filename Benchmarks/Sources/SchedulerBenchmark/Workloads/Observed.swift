extension Workload {
  /// An observer of `isFinished` on each operation.
  static let keyPathObserved = observed("key-path-observed", .keyPath)

  /// A task that receives all events of the queue.
  static let eventsObserved = observed("events-observed", .events)

  /// An observer of the progress of a queue with a total count.
  static let progressObserved = observed("progress-observed", .progress)

  /// Independent operations, from creating the first until the last notification, divided by the same time without
  /// observers.
  ///
  /// The result is the ratio for each of several pairs, which alternate within the time limit.
  ///
  /// The figures are the medians of both, in nanoseconds per operation.
  private static func observed(_ name: String, _ observation: Observation) -> Workload {
    Workload(name: name) { rival, count in
      guard let rival = rival as? any ObservableRival else { return nil }
      func time(_ count: Int, _ run: (Observation, Int, @escaping Body) -> Void) -> Double {
        Memory.trim()
        let counter = Counter()
        let seconds = Stopwatch.seconds { run(observation, count) { counter.increment() } }
        counter.require(count)
        return seconds / Double(count) * 1e9
      }
      for run in [rival.runUnobserved, rival.runObserved] { _ = time(max(1000, count / 10), run) }
      let start = ContinuousClock.now
      var (plain, observed): ([Double], [Double]) = ([], [])
      repeat {
        plain.append(time(count, rival.runUnobserved))
        observed.append(time(count, rival.runObserved))
      } while plain.count < 20 && Stopwatch.seconds(since: start) < TimeLimit.seconds
      let ratios = zip(plain, observed).map { $1 / $0 }
      return Report(samples: ratios, figures: ["plain": plain.median, "observed": observed.median])
    }
  }
}
