extension Workload {
  /// One operation, then many that wait for it, then one that waits for all of them: building, running and freeing.
  ///
  /// In nanoseconds per operation.
  ///
  /// Dispatch does this as its users would, with two groups that notify, and not as a general graph.
  static let fan = Workload(name: "fan") { rival, count in
    guard let rival = rival as? any FanRival, count > 2 else { return nil }
    func run(_ graph: DependencyGraph) {
      let counter = Counter()
      rival.runFan(graph) { counter.increment() }
      counter.require(graph.nodeCount)
    }
    run(.fan(max(1000, count / 10)))
    let graph = DependencyGraph.fan(count)
    return Report(samples: Stopwatch.nanosecondsEach(count: count) { run(graph) })
  }
}
