import HeadwayTestKit
import Synchronization

@testable import Headway

/// A random graph whose nodes check that they run in order.
final class RandomGraph: Sendable {
  let graph: OperationGraph
  private let record: Record

  /// How often each node has run, and the errors.
  private final class Record: Sendable {
    let predecessors: [[Int]]
    private let state: Mutex<(runs: [Int], fault: String?)>

    init(_ predecessors: [[Int]]) {
      self.predecessors = predecessors
      state = Mutex((Array(repeating: 0, count: predecessors.count), nil))
    }

    func run(_ node: Int) {
      state.withLock { state in
        for predecessor in predecessors[node] where state.runs[predecessor] != 1 {
          state.fault = state.fault ?? "node \(node) ran before node \(predecessor)"
        }
        state.runs[node] += 1
      }
    }

    func fault() -> String? {
      state.withLock { state in
        defer { state = (Array(repeating: 0, count: state.runs.count), nil) }
        let fault = state.runs.firstIndex { $0 != 1 }.map { "node \($0) ran \(state.runs[$0]) times" }
        return state.fault ?? fault
      }
    }
  }

  /// Creates a graph of up to 300 nodes, the same for the same seed.
  ///
  /// Nodes are numbered in an order that is unrelated to the edges.
  init(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...300, using: &generator)
    let most = Int.random(in: 0...6, using: &generator)
    let reach = Int.random(in: 1...count, using: &generator)
    let order = (0..<count).shuffled(using: &generator)
    var predecessors: [[Int]] = Array(repeating: [], count: count)
    for position in 1..<max(1, count) where most > 0 {
      for _ in 0..<Int.random(in: 0...most, using: &generator) {
        predecessors[order[position]].append(
          order[Int.random(in: max(0, position - reach)..<position, using: &generator)])
      }
    }
    let record = Record(predecessors)
    self.record = record
    graph = try OperationGraph { graph in
      let nodes = (0..<count).map { number in graph.addNode { record.run(number) } }
      for number in 0..<count {
        for predecessor in predecessors[number] { graph.addEdge(from: nodes[predecessor], to: nodes[number]) }
      }
    }
  }

  /// The error of the last run: a node that did not run exactly once, or ran too early.
  func fault() -> String? { record.fault() }
}
