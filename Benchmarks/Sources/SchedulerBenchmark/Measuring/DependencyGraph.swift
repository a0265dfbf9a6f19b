import HeadwayTestKit

/// The dependencies between nodes.
///
/// Nodes are numbered so that each waits only for earlier ones.
struct DependencyGraph: Sendable {
  private(set) var nodeCount = 0
  private var ends: [Int] = []
  private var edges: [Int32] = []

  /// The nodes that `node` waits for.
  @inline(__always) func dependencies(of node: Int) -> ArraySlice<Int32> {
    edges[(node == 0 ? 0 : ends[node - 1])..<ends[node]]
  }

  mutating func addNode(dependingOn dependencies: some Sequence<Int>) {
    edges.append(contentsOf: dependencies.lazy.map(Int32.init))
    ends.append(edges.count)
    nodeCount += 1
  }

  /// Each node waits for the previous one.
  static func chain(_ count: Int) -> Self {
    var graph = Self()
    for node in 0..<count { graph.addNode(dependingOn: node == 0 ? [] : [node - 1]) }
    return graph
  }

  /// Rows of `width` nodes.
  ///
  /// Each node waits for the three nearest nodes of the previous row.
  static func grid(count: Int, width: Int = 100) -> Self {
    var graph = Self()
    for node in 0..<count {
      let (row, column) = node.quotientAndRemainder(dividingBy: width)
      guard row > 0 else {
        graph.addNode(dependingOn: [])
        continue
      }
      graph.addNode(dependingOn: (-1...1).map { (row - 1) * width + (column + $0 + width) % width })
    }
    return graph
  }

  /// One node, many nodes that wait only for it, and one node that waits for all of them.
  static func fan(_ count: Int) -> Self {
    var graph = Self()
    graph.addNode(dependingOn: [])
    for _ in 2..<count { graph.addNode(dependingOn: [0]) }
    graph.addNode(dependingOn: 1..<count - 1)
    return graph
  }

  /// Each node waits for up to `most` different nodes, chosen at random among the `reach` before it.
  ///
  /// The nearer they are, the deeper the graph is.
  static func random(_ count: Int, most: Int, reach: Int, seed: UInt64 = 42) -> Self {
    var generator = SeededGenerator(seed: seed)
    var graph = Self()
    for node in 0..<count {
      let nearest = max(0, node - reach)
      let wanted = node == 0 ? 0 : Int.random(in: 0...most, using: &generator)
      let chosen = (0..<wanted).map { _ in Int.random(in: nearest..<node, using: &generator) }
      graph.addNode(dependingOn: Set(chosen).sorted())
    }
    return graph
  }
}
