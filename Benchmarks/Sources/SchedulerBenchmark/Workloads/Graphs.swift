extension Workload {
  /// Each node waits for the previous one.
  static let chain = graph("chain") { .chain($0) }

  /// Rows of 100 nodes.
  ///
  /// Each node waits for three nodes of the previous row.
  static let grid = graph("grid") { .grid(count: $0) }

  /// Each node waits for up to four of the ten nodes before it.
  static let deepGraph = graph("deep-graph") { .random($0, most: 4, reach: 10) }

  /// Each node waits for up to four of all nodes before it.
  static let wideGraph = graph("wide-graph") { .random($0, most: 4, reach: $0) }

  /// Building, running and freeing a graph of empty operations.
  ///
  /// In nanoseconds per operation.
  ///
  /// The description of the graph is created before the measurement. Every rival builds its own graph from it.
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
