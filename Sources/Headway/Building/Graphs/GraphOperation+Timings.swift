import Dispatch

/// The time when a node ran.
struct GraphNodeTime {
  /// In nanoseconds of uptime; 0 if the node did not run.
  var start: UInt64 = 0
  var end: UInt64 = 0
  var thread = 0
}

extension OperationGraph {
  /// The time when a node ran, and its thread.
  public struct NodeTiming: Sendable, CustomStringConvertible {
    /// The node that ran.
    public let node: Node

    /// The name of the node, or `node` and its index.
    public let name: String

    /// The index of the thread among the threads that ran nodes at the same time, starting at 0.
    ///
    /// Initially, 0 is the thread that started the operation.
    public let threadIndex: Int

    /// The time from the start of the operation until the block was called.
    public let startOffset: Duration

    /// The time that the block took.
    public let duration: Duration

    /// The time in one line: `“render” on thread 1: 0.003 seconds after 0.005 seconds`.
    public var description: String { "“\(name)” on thread \(threadIndex): \(duration) after \(startOffset)" }
  }
}

extension GraphOperation {
  /// The times of all nodes that were run, in starting order.
  ///
  /// Empty before the operation has finished, and if ``recordsTimes`` is false.
  ///
  /// - Complexity: O(*n* log *n*) in the number of nodes.
  public var nodeTimings: [OperationGraph.NodeTiming] {
    // The end of the operation publishes everything that the threads have written.
    guard state.current.phase == .finished, let times else { return [] }
    return (0..<graph.nodeCount).filter { times[$0].start != 0 }.sorted { times[$0].start < times[$1].start }.map {
      let (node, time) = (graph.layout.blocks.node($0), times[$0])
      return OperationGraph.NodeTiming(
        node: node, name: graph.name(of: node), threadIndex: time.thread,
        startOffset: .nanoseconds(time.start - beginning), duration: .nanoseconds(time.end - time.start))
    }
  }

  func beginRecording() {
    guard recordsTimes else { return }
    let times = UnsafeMutablePointer<GraphNodeTime>.allocate(capacity: graph.nodeCount)
    times.initialize(repeating: GraphNodeTime(), count: graph.nodeCount)
    self.times = times
    beginning = DispatchTime.now().uptimeNanoseconds
  }

  func recordTime(of node: Int, from start: UInt64, at position: Int) {
    times?[node] = GraphNodeTime(start: start, end: DispatchTime.now().uptimeNanoseconds, thread: position)
  }
}
