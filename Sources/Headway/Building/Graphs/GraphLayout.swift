/// A graph in flat arrays, in the form that its runs read.
struct GraphLayout: Sendable {
  /// The block of each node.
  let blocks: GraphBlocks

  /// The position in `successors` where each node's successors begin; the last element is the number of successors.
  let starts: ContiguousArray<UInt32>

  /// The successors of all nodes, grouped by node.
  ///
  /// If a node waits only for this predecessor, the bit `isOnlyEdge` is set, and its counter is not read.
  let successors: ContiguousArray<UInt32>

  /// The initial slots of a run.
  ///
  /// For a node that waits, the slot contains the number of its predecessors. For a source, it contains the next
  /// source, or `none`.
  let slots: ContiguousArray<UInt32>

  /// The first source, or `none`.
  let firstSource: UInt32

  /// Whether more than one node is a source.
  var hasSeveralSources: Bool { firstSource != Self.none && slots[Int(firstSource)] != Self.none }

  private let names: ContiguousArray<(node: Int, name: String)>

  /// The bit in a successor that waits for this edge alone.
  static let isOnlyEdge: UInt32 = 1 << 31

  /// Represents the absence of a node.
  static let none = UInt32.max

  var nodeCount: Int { blocks.count }

  init(_ builder: borrowing OperationGraph.Builder) throws {
    blocks = builder.blocks
    names = builder.names
    let (edges, count) = (builder.edges, builder.blocks.count)
    // Two 32-bit numbers are smaller than a pointer, and no machine has the memory for more nodes.
    require(count < Int(Self.isOnlyEdge) && edges.count < Int(UInt32.max), "A graph has less than 2³¹ nodes.")

    var slots = ContiguousArray(repeating: UInt32(0), count: count)
    // Shifted by one more position, so that each start is in its place after the successors have been filled in.
    var starts = ContiguousArray(repeating: UInt32(0), count: count + 2)
    for edge in edges {
      slots[Int(edge.to)] += 1
      starts[Int(edge.from) + 2] += 1
    }
    for node in 0..<count { starts[node + 2] += starts[node + 1] }
    // At least one: for a capacity of 0, the standard library writes the count, 0, into the empty array that all
    // threads share.
    successors = ContiguousArray(unsafeUninitializedCapacity: max(1, edges.count)) { successors, filled in
      for edge in edges {
        let position = Int(starts[Int(edge.from) + 1])
        starts[Int(edge.from) + 1] += 1
        let bit = slots[Int(edge.to)] == 1 ? Self.isOnlyEdge : 0
        (successors.baseAddress! + position).initialize(to: edge.to | bit)
      }
      filled = edges.count
    }
    starts.removeLast()
    self.starts = starts

    var source = Self.none
    for node in stride(from: count - 1, through: 0, by: -1) where slots[node] == 0 {
      slots[node] = source
      source = UInt32(node)
    }
    firstSource = source
    self.slots = slots
    if builder.hasBackwardEdge, let cycle = findCycle(edges) {
      let nodes = cycle.map { blocks.node($0) }
      throw OperationGraphError(
        code: .cycle, nodes: nodes, nodeNames: nodes.map { name(of: $0) }, underlyingError: nil)
    }
  }

  func name(of node: OperationGraph.Node) -> String {
    var (low, high) = (0, names.count)
    while low < high {
      let middle = (low + high) / 2
      if names[middle].node < node.index { low = middle + 1 } else { high = middle }
    }
    return low < names.count && names[low].node == node.index ? names[low].name : "node \(node.index)"
  }

  /// Returns the successors of a node.
  func successors(of node: Int) -> some Sequence<Int> {
    successors[Int(starts[node])..<Int(starts[node + 1])].lazy.map { Int($0 & ~Self.isOnlyEdge) }
  }

  /// Calls `body` with the arrays that a run reads, without the bounds checks of arrays.
  func withTables(_ body: (GraphTables) -> Void) {
    withExtendedLifetime(blocks) {
      starts.withUnsafeBufferPointer { starts in
        successors.withUnsafeBufferPointer { successors in
          // There is at least one element: the end of the last node's successors.
          guard let starts = starts.baseAddress else { return }
          body(GraphTables(blocks: blocks.start, starts: starts, successors: successors))
        }
      }
    }
  }

  // MARK: Cycles

  /// Returns the nodes of a cycle, each one in front of the node that waits for it; nil if there is no cycle.
  private func findCycle(_ edges: ContiguousArray<GraphEdge>) -> [Int]? {
    // Removes nodes that wait for no other node, until each remaining node waits for a remaining one.
    var left = ContiguousArray(repeating: 0, count: nodeCount)
    for edge in edges { left[Int(edge.to)] += 1 }
    var free = left.indices.filter { left[$0] == 0 }
    var removed = 0
    while let node = free.popLast() {
      removed += 1
      for successor in successors(of: node) {
        left[successor] -= 1
        if left[successor] == 0 { free.append(successor) }
      }
    }
    guard removed < nodeCount else { return nil }
    var predecessors: [Int: Int] = [:]
    for edge in edges where left[Int(edge.from)] > 0 && left[Int(edge.to)] > 0 {
      predecessors[Int(edge.to)] = Int(edge.from)
    }
    // Walk backward until a node is visited twice.
    var path: [Int] = []
    var positions: [Int: Int] = [:]
    var node = predecessors.keys.min()
    while let current = node, positions[current] == nil {
      positions[current] = path.count
      path.append(current)
      node = predecessors[current]
    }
    let cycle = Array(path[(node.flatMap { positions[$0] } ?? 0)...].reversed())
    // Begin with the node that was added first.
    let first = cycle.indices.min { cycle[$0] < cycle[$1] } ?? 0
    return Array(cycle[first...] + cycle[..<first])
  }
}

/// The arrays of a layout, while a thread of a run uses them.
struct GraphTables {
  let blocks: UnsafePointer<GraphBlock>
  fileprivate let starts: UnsafePointer<UInt32>
  fileprivate let successors: UnsafeBufferPointer<UInt32>

  fileprivate init(
    blocks: UnsafePointer<GraphBlock>, starts: UnsafePointer<UInt32>, successors: UnsafeBufferPointer<UInt32>
  ) {
    (self.blocks, self.starts, self.successors) = (blocks, starts, successors)
  }

  /// Returns the successors of a node.
  ///
  /// The bit `isOnlyEdge` is set for nodes that wait for no other node.
  @inline(__always)
  func successors(of node: UInt32) -> UnsafeBufferPointer<UInt32> {
    let (start, end) = (Int(starts[Int(node)]), Int(starts[Int(node) + 1]))
    return UnsafeBufferPointer(start: successors.baseAddress.map { $0 + start }, count: end - start)
  }
}
