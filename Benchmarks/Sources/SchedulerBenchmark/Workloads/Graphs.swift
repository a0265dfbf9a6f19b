extension Workload {
  /// Each waits for the one before.
  static let chain = graph("chain") { .chain($0) }

  /// Rows of 100, each node waiting for three of the row before.
  static let grid = graph("grid") { .grid(count: $0) }

  /// Each waits for up to four of the ten before it.
  static let deepGraph = graph("deep-graph") { .random($0, most: 4, reach: 10) }

  /// Each waits for up to four of all before it.
  static let wideGraph = graph("wide-graph") { .random($0, most: 4, reach: $0) }

  /// Building, running and freeing a graph of empty operations; nanoseconds each.
  ///
  /// The description of the graph, from which every rival builds its own, is made before.
  private static func graph(_ name: String, _ make: @escaping @Sendable (Int) -> DependencyGraph) -> Workload {
    Workload(name: name) { rival, count in
      guard let rival = rival as? any GraphRival else { return nil }
      func run(_ graph: DependencyGraph) {
        let counter = Counter()
        let body: Body = { counter.increment() }
        rival.run(graph) { _ in body }
        counter.require(graph.nodeCount)
      }
      run(make(max(1000, count / 10)))
      let graph = make(count)
      return Report(samples: Stopwatch.nanosecondsEach(count: count) { run(graph) })
    }
  }
}
