import Headway

/// Accounts that only this actor accesses.
///
/// A call to the bank's old library blocks its thread. Because the actor has its own queue, the call does not block any
/// other part of the program.
actor Ledger {
  private let queue = OperationQueue(name: "ledger", order: .fifo)
  private var balances: [String: Int] = [:]

  nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  func deposit(_ amount: Int, to account: String) { balances[account, default: 0] += amount }

  func transfer(_ amount: Int, from source: String, to target: String) -> Bool {
    guard let balance = balances[source], balance >= amount else { return false }
    balances[source] = balance - amount
    balances[target, default: 0] += amount
    return true
  }

  func report() -> [String] { balances.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" } }

  /// Suspends the ledger until `work` has ended, for example when the books are closed for the night.
  nonisolated func closed<Value: Sendable>(during work: () async throws -> Value) async rethrows -> Value {
    queue.isSuspended = true
    defer { queue.isSuspended = false }
    return try await work()
  }
}

let ledger = Ledger()
await ledger.deposit(1_000, to: "alice")

// From a thousand tasks at the same time: no two access the ledger at the same time, and no money is lost.
await withTaskGroup { group in
  for number in 0..<1_000 {
    group.addTask {
      let (source, target) = number.isMultiple(of: 2) ? ("alice", "bob") : ("bob", "alice")
      _ = await ledger.transfer(number % 7, from: source, to: target)
    }
  }
}
let total = await ledger.report().compactMap { Int($0.split(separator: " ")[1]) }.reduce(0, +)
print("all together: \(total)")

let deposit = await ledger.closed {
  // This waits in the queue until the ledger is open again.
  Task { await ledger.deposit(1, to: "carol") }
}
await deposit.value
print(await ledger.report().last ?? "nothing")
