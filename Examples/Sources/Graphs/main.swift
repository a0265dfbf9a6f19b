import Headway
import Synchronization

/// The data of the nodes.
///
/// A run begins with the data that the previous run has left.
final class Account: Sendable {
  private let balance = Mutex(100.0)

  func grow(by percent: Double) { balance.withLock { $0 *= 1 + percent / 100 } }
  var rounded: Int { Int(balance.withLock { $0 }.rounded()) }
}

struct Overdrawn: Error {}

let accounts = [Account(), Account()]
let queue = OperationQueue()

let year = try OperationGraph { graph in
  let interest = accounts.enumerated().map { number, account in
    graph.addNode("interest \(number)") { account.grow(by: 5) }
  }
  let fee = graph.addNode("fee", after: interest) { accounts[0].grow(by: -1) }
  graph.addNode("report", after: [fee]) { print(accounts.map(\.rounded)) }
}
print(year)
for _ in 1...3 { queue.addOperations([year.makeOperation()], waitUntilFinished: true) }

// One thread, with times. The duration differs each time; the order does not, in this case.
let recorded = year.makeOperation(maxConcurrentNodeCount: 1, recordingTimes: true)
recorded.start()
print(recorded.nodeTimings.count, "nodes, the last:", recorded.nodeTimings.last?.name ?? "none")

print(year.graphvizDescription(), terminator: "")

// The first error stops the run. It contains the name of the node.
let transfer = try OperationGraph { graph in
  let check = graph.addNode("check") { throw Overdrawn() }
  graph.addNode("pay", after: [check]) { print("not printed") }
}
let failing = transfer.makeOperation()
queue.addOperations([failing], waitUntilFinished: true)
if let error = failing.error { print(error) }

// Nodes that wait for each other are detected when the graph is built.
do {
  _ = try OperationGraph { graph in
    let egg = graph.addNode("egg") {}
    let hen = graph.addNode("hen", after: [egg]) {}
    graph.addEdge(from: hen, to: egg)
  }
} catch {
  print(error)
}
