import Headway
import HeadwayTestKit

/// A graph of operations with values, and the expected result of each.
struct ValueProgram: Sendable {
  enum Kind: Equatable, Sendable {
    /// Returns its number plus the sum of the values of its dependencies.
    case value
    /// The same value, after this number of suspensions.
    case suspending(Int)
    /// Throws a ``Mishap`` with its number.
    case throwing
    /// A group of operations; one of them may throw. Its value is their number.
    case group(count: Int, throwing: Int?)
  }

  enum Cancelling: Sendable {
    case never, beforeAdding
    /// While the queue is suspended.
    case whileWaiting
  }

  struct Node: Sendable {
    var kind: Kind
    /// Earlier nodes, which are required to succeed.
    var dependencies: [Int]
    var cancelling: Cancelling
  }

  var nodes: [Node]
  var limit: Int
  var order: QueueOrder
  /// How many operations the queue holds at most; nil for a queue that is suspended while all are added.
  var maxOperationCount: Int?

  /// The program of a seed.
  init(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    order = random(0...3) == 0 ? .fifo : .priority
    limit = order == .fifo ? 1 : [-1, 1, 2, 4][random(0...3)]
    let maxOperationCount = random(0...2) == 0 ? random(1...4) : nil
    let failing = random(1...3)
    nodes = (0..<random(1...14)).map { number in
      let kind: Kind =
        switch random(0...9) {
        case 0...3: .value
        case 4...6: .suspending(random(1...3))
        case 7: random(0...failing) == 0 ? .throwing : .value
        case 8: .group(count: random(0...4), throwing: nil)
        default: .group(count: 3, throwing: random(0...failing) == 0 ? random(0...2) : nil)
        }
      let dependencies = number == 0 ? [] : (0..<random(0...3)).map { _ in random(0...number - 1) }
      let cancelling: Cancelling =
        switch random(0...19) {
        case 0: .beforeAdding
        case 1: maxOperationCount == nil ? .whileWaiting : .beforeAdding
        default: .never
        }
      return Node(kind: kind, dependencies: Array(Set(dependencies)).sorted(), cancelling: cancelling)
    }
    self.maxOperationCount = maxOperationCount
  }

  // MARK: Expected results

  enum Result: Equatable, Sendable {
    case value(Int)
    case failure(Mishap)
    case cancelled
    /// The operation did not run, because one of these operations failed or was cancelled.
    case culprits(Set<Int>)
  }

  /// The expected result of each node.
  var results: [Result] {
    var results: [Result] = []
    for (number, node) in nodes.enumerated() {
      results.append(result(of: node, number, results))
    }
    return results
  }

  private func result(of node: Node, _ number: Int, _ results: [Result]) -> Result {
    if node.cancelling != .never { return .cancelled }
    var (sum, culprits) = (number, Set<Int>())
    for dependency in node.dependencies {
      switch results[dependency] {
      case .value(let value): sum += value
      case .failure, .cancelled: culprits.insert(dependency)
      case .culprits(let others): culprits.formUnion(others)
      }
    }
    if !culprits.isEmpty { return .culprits(culprits) }
    return switch node.kind {
    case .value, .suspending: .value(sum)
    case .throwing: .failure(Mishap(name: "\(number)"))
    case .group(let count, nil): .value(count)
    case .group(_, .some): .failure(Mishap(name: "inside \(number)"))
    }
  }
}
