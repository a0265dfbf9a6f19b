extension Workload {
  /// Graphs that are built and run once, and graphs that are run again.
  static let reusableGraphs: [Workload] =
    shapes.map { name, make in builtAndRun("graph-\(name)", make) }
    + shapes.map { name, make in runAgain("graph-again-\(name)", make) }

  private static let shapes: [(String, @Sendable (Int) -> DependencyGraph)] = [
    ("chain", { .chain($0) }), ("grid", { .grid(count: $0) }), ("random", { .random($0, most: 4, reach: 1_000) }),
  ]

  /// Measures building, running and freeing a graph of empty nodes, in nanoseconds per node.
  private static func builtAndRun(
    _ name: String, _ make: @escaping @Sendable (Int) -> DependencyGraph
  ) -> Workload {
    Workload(name: name) { rival, count in
      guard let rival = rival as? any ReusableGraphRival else { return nil }
      func run(_ description: DependencyGraph) {
        let counter = Counter()
        rival.makeGraph(description) { counter.increment() }.run()
        counter.require(description.nodeCount)
      }
      run(make(max(1000, count / 10)))
      let description = make(count)
      return Report(samples: Stopwatch.nanosecondsEach(count: count) { run(description) })
    }
  }

  /// Measures running a graph that has run before, in nanoseconds per node.
  private static func runAgain(
    _ name: String, _ make: @escaping @Sendable (Int) -> DependencyGraph
  ) -> Workload {
    Workload(name: name) { rival, count in
      guard let rival = rival as? any ReusableGraphRival else { return nil }
      let counter = Counter()
      let description = make(count)
      let graph = rival.makeGraph(description) { counter.increment() }
      graph.run()
      var runCount = 1
      let samples = Stopwatch.nanosecondsEach(count: count) {
        graph.run()
        runCount += 1
      }
      counter.require(runCount * description.nodeCount)
      return Report(samples: samples)
    }
  }
}
