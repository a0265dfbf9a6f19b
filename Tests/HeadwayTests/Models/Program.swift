import Headway
import HeadwayTestKit

/// A list of commands, and the operations and queues that they use.
struct Program: Equatable, Sendable {
  static let queueCount = 2

  var operations: [Blueprint]
  var commands: [Command]
  var orders = Array(repeating: QueueOrder.priority, count: queueCount)
}

extension Program: CustomStringConvertible {
  /// The operations that take part, and the commands, one per line.
  var description: String {
    let named = Set(commands.flatMap(\.operations))
    let cast = operations.indices.filter(named.contains).map { number in
      let blueprint = operations[number]
      return "  \(number) is \(blueprint.kind)\(blueprint.inside.map { ", and inside: \($0)" } ?? "")\n"
    }
    let queues = orders.indices.filter { orders[$0] == .fifo }.map { "  queue \($0) is first in, first out\n" }
    return queues.joined() + cast.joined() + commands.map { "  \($0)\n" }.joined()
  }
}

// MARK: Random programs

extension Program {
  /// The program of a seed.
  init(seed: UInt64) {
    var maker = Maker(generator: SeededGenerator(seed: seed))
    self = maker.program()
  }

  private struct Maker {
    var generator: SeededGenerator
    var count = 0

    mutating func program() -> Program {
      count = random(2...12)
      let operations = (0..<count).map { _ in blueprint() }
      // Most programs are about several operations in a queue; so many are added at the beginning.
      let beginning = (0..<count).flatMap { operation in
        (random(0...2) == 0 ? [dependency(of: operation)] : [])
          + (random(0...2) == 0 ? [priority(of: operation)] : [])
          + (random(0...2) > 0 ? [.add(operation, queue: random(0...3) == 0 ? 1 : 0)] : [])
      }
      let commands = beginning + (0..<random(10...40)).map { _ in command() }
      let orders = (0..<Program.queueCount).map { _ in random(0...3) == 0 ? QueueOrder.fifo : .priority }
      return Program(operations: operations, commands: commands, orders: orders)
    }

    private mutating func blueprint() -> Blueprint {
      let kind: OperationKind =
        switch random(0...19) {
        case 0...5: .plain
        case 6...7: .failing
        case 8...9: .blocks
        case 10...12: .barrier
        case 13...15: .asynchronous
        case 16...17: .posting
        default: .held
        }
      // The blocks of an operation that is started manually run on several threads at the same time.
      return Blueprint(kind: kind, inside: kind != .blocks && random(0...3) == 0 ? commandInside() : nil)
    }

    private mutating func command() -> Command {
      switch random(0...99) {
      case 0..<20: .step(queue: queue())
      case 20..<24: .run(queue: queue())
      case 24..<28: .callCompletionBlock(queue: queue())
      case 28..<34: .add(operation(), queue: queue())
      case 34..<37: .addBatch((0..<random(0...4)).map { _ in operation() }, queue: queue())
      case 37..<40: .setTotal(queue: queue(), Int64(random(0...6)))
      case 40..<43: .observeQueue(queue())
      case 43..<45: .waitForAll(queue: queue())
      case 45..<48: .wait(operation())
      case 48..<54: .observe(operation())
      default: commandInside()
      }
    }

    /// A command that can also be given from inside an operation.
    private mutating func commandInside() -> Command {
      switch random(0...59) {
      case 0..<8: dependency(of: operation())
      case 8..<12: .removeDependency(operation(), from: operation())
      case 12..<20: .cancel(operation())
      case 20..<24: priority(of: operation())
      case 24..<28: .setCompletionBlock(operation(), label: random(0...4) == 0 ? nil : random(1...9))
      case 28..<31: .onCancel(operation())
      case 31..<33: .fail(operation())
      case 33..<34: .setName(operation())
      case 34..<37: .start(operation())
      case 37..<43: .finish(operation(), isFailure: random(0...3) == 0)
      case 43..<47: .allow(operation(), random(0...2) > 0)
      case 47..<50: .add(operation(), queue: queue())
      case 50..<51: .cancelAll(queue: queue())
      case 51..<55: .suspend(queue: queue(), random(0...2) == 0)
      default: .limit(queue: queue(), random(-1...3))
      }
    }

    private mutating func dependency(of operation: Int) -> Command {
      .depend(operation, on: self.operation(), requiresSuccess: random(0...2) == 0)
    }

    private mutating func priority(of operation: Int) -> Command {
      .setPriority(operation, QueuePriority.allCases[random(0...4)])
    }

    private mutating func operation() -> Int { random(0...count - 1) }
    private mutating func queue() -> Int { random(0...Program.queueCount - 1) }
    private mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
  }
}
