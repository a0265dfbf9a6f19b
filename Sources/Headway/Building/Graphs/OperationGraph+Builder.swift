extension OperationGraph {
  /// Collects the nodes and the edges of a graph that is being created.
  ///
  /// ``OperationGraph/init(_:)`` passes it to its block. The builder checks only that nodes belong to the graph. Cycles
  /// are found at the end.
  public struct Builder: ~Copyable {
    let blocks = GraphBlocks()
    var edges: ContiguousArray<GraphEdge> = []
    /// The node names, in node order.
    var names: ContiguousArray<(node: Int, name: String)> = []
    /// Whether an edge leads to a node from itself or from a later one.
    ///
    /// Without such an edge, there is no cycle.
    var hasBackwardEdge = false

    init() {}

    /// The number of nodes that were added.
    public var nodeCount: Int { blocks.count }

    /// Reserves memory, so that adding nodes and edges does not move existing nodes and edges.
    ///
    /// - Parameters:
    ///   - nodes: The expected number of nodes.
    ///   - edges: The expected number of edges.
    public mutating func reserveCapacity(nodes: Int, edges: Int = 0) {
      blocks.reserveCapacity(nodes)
      self.edges.reserveCapacity(edges)
    }

    /// Adds a node.
    ///
    /// - Parameters:
    ///   - name: The name of the node in errors, times, and descriptions.
    ///   - predecessors: The nodes that it waits for.
    ///   - block: The work of the node, on a thread of the pool or the thread that started the operation. It is called
    ///     once in each run. An error stops the run: nodes that have not begun are not run, and the operation fails
    ///     with an ``OperationGraphError`` that names the node.
    /// - Returns: The new node, to pass as a predecessor of later nodes.
    /// - Precondition: The predecessors are nodes of this graph.
    /// - Complexity: O(*n*) in the number of predecessors.
    @discardableResult
    public mutating func addNode(
      _ name: String? = nil, after predecessors: [Node] = [], block: @escaping @Sendable () throws -> Void
    ) -> Node {
      add(.plain(block), name, predecessors)
    }

    /// Adds a node whose block has access to the run.
    ///
    /// - Parameters:
    ///   - name: The name of the node in errors, times, and descriptions.
    ///   - predecessors: The nodes that it waits for.
    ///   - block: The work of the node, on a thread of the pool or the thread that started the operation. It is called
    ///     once in each run, with the run's context. An error stops the run: nodes that have not begun are not run, and
    ///     the operation fails with an ``OperationGraphError`` that names the node.
    /// - Returns: The new node, to pass as a predecessor of later nodes.
    /// - Precondition: The predecessors are nodes of this graph.
    /// - Complexity: O(*n*) in the number of predecessors.
    @discardableResult
    public mutating func addNode(
      _ name: String? = nil, after predecessors: [Node] = [], block: @escaping @Sendable (Context) throws -> Void
    ) -> Node {
      add(.contextual(block), name, predecessors)
    }

    /// Makes a node wait for another node.
    ///
    /// Adding the same edge again has no effect on runs.
    ///
    /// - Parameters:
    ///   - predecessor: The node that must end first.
    ///   - successor: The node that waits.
    /// - Precondition: Both are nodes of this graph.
    /// - Complexity: O(1).
    public mutating func addEdge(from predecessor: Node, to successor: Node) {
      require(
        blocks.has(predecessor) && blocks.has(successor),
        """
        An edge to or from node \(blocks.has(predecessor) ? successor.index : predecessor.index) of another graph: \
        use the nodes that this builder has returned.
        """)
      if predecessor.index >= successor.index { hasBackwardEdge = true }
      edges.append(GraphEdge(from: UInt32(predecessor.index), to: UInt32(successor.index)))
    }

    @inline(__always)
    private mutating func add(_ block: consuming GraphBlock, _ name: String?, _ predecessors: [Node]) -> Node {
      let node = blocks.node(blocks.count)
      blocks.append(block)
      if let name { names.append((node.index, name)) }
      for predecessor in predecessors { addEdge(from: predecessor, to: node) }
      return node
    }
  }
}

struct GraphEdge {
  let from: UInt32
  let to: UInt32
}
