import Headway
import HeadwayTestKit
import Synchronization

/// Runs a program with the library.
final class ValueProgramRun: Sendable {
  private let program: ValueProgram
  private let crowd = Crowd()
  /// The nodes that are not groups, in starting order.
  private let begun = EventRecorder<Int>()
  /// The object that functions hold while they exist.
  private let tokens: Tokens

  init(_ program: ValueProgram, _ tokens: Tokens) { (self.program, self.tokens) = (program, tokens) }

  /// An operation, and the way to get its value.
  private struct Made: Sendable {
    let operation: Operation
    let value: @Sendable () async throws -> Int
  }

  /// The differences from the expected results of the program.
  func complaints() async throws -> [String] {
    let queue = OperationQueue(name: "values", order: program.order)
    if program.order == .priority { queue.maxConcurrentOperationCount = program.limit }
    var made: [Made] = []
    for number in program.nodes.indices { made.append(make(number, of: made)) }
    try await add(made, to: queue)
    try await queue.untilAllOperationsAreFinished()

    var complaints: [String] = []
    for (number, expected) in program.results.enumerated() {
      let result = await result(of: made[number], in: made)
      if !expected.allows(result, of: program) { complaints.append("\(number): \(result) instead of \(expected)") }
    }
    if program.limit > 0, crowd.most > program.limit { complaints.append("\(crowd.most) ran at the same time") }
    if program.order == .fifo, begun.events != begun.events.sorted() { complaints.append("order \(begun.events)") }
    return complaints
  }

  private func add(_ made: [Made], to queue: OperationQueue) async throws {
    queue.isSuspended = program.maxOperationCount == nil
    if let limit = program.maxOperationCount { queue.maxOperationCount = limit }
    // Before any begins: otherwise, a failure might cancel later ones.
    for (node, made) in zip(program.nodes, made) where node.cancelling == .beforeAdding { made.operation.cancel() }
    for (node, made) in zip(program.nodes, made) {
      if program.maxOperationCount == nil {
        queue.addOperation(made.operation)
        if node.cancelling == .whileWaiting { made.operation.cancel() }
      } else {
        try await queue.addOperationWhenBelowLimit(made.operation)
      }
    }
    queue.isSuspended = false
  }

  // MARK: The operations

  private func make(_ number: Int, of earlier: [Made]) -> Made {
    let node = program.nodes[number]
    let made =
      switch node.kind {
      case .value: function(number, of: node.dependencies.map { earlier[$0] }, suspensions: 0)
      case .suspending(let count): function(number, of: node.dependencies.map { earlier[$0] }, suspensions: count)
      case .throwing: function(number, of: [], suspensions: 1, error: Mishap(name: "\(number)"))
      case .group(let count, let throwing): group(number, of: count, throwing)
      }
    for dependency in node.dependencies {
      made.operation.addDependency(earlier[dependency].operation, requiring: .success)
    }
    return made
  }

  private func function(_ number: Int, of dependencies: [Made], suspensions: Int, error: Mishap? = nil) -> Made {
    let (token, crowd, begun) = (tokens.make(), crowd, begun)
    let operation = TaskOperation {
      begun.record(number)
      crowd.enter()
      defer { crowd.leave() }
      var sum = number
      for dependency in dependencies { sum += try await dependency.value() }
      for _ in 0..<suspensions { await Task.yield() }
      withExtendedLifetime(token) {}
      if let error { throw error }
      return sum
    }
    return Made(operation: operation) { try await operation.value }
  }

  private func group(_ number: Int, of count: Int, _ throwing: Int?) -> Made {
    let (ran, inside, tokens) = (Counter(), Crowd(), tokens)
    let group = GroupOperation(maxConcurrentOperationCount: 2) { queue in
      for member in 0..<count {
        let token = tokens.make()
        queue.addTask {
          inside.enter()
          await Task.yield()
          withExtendedLifetime(token) {}
          inside.leave()
          if member == throwing { throw Mishap(name: "inside \(number)") }
          ran.increment()
        }
      }
    }
    return Made(operation: group) {
      try await group.untilSucceeded()
      return inside.most > 2 ? -1 : ran.value
    }
  }

  // MARK: Results

  private func result(of made: Made, in all: [Made]) async -> ValueProgram.Result {
    do {
      return .value(try await made.value())
    } catch let error as Mishap {
      return .failure(error)
    } catch let error as DependencyError {
      return .culprits(Set(all.indices.filter { all[$0].operation === error.failedDependency }))
    } catch {
      return .cancelled
    }
  }
}

extension ValueProgram.Result {
  /// Whether an operation with this expectation can have `result`: if several dependencies failed, it can name any of
  /// them.
  fileprivate func allows(_ result: ValueProgram.Result, of program: ValueProgram) -> Bool {
    guard case .culprits(let culprits) = self else { return self == result }
    let cancelled = culprits.filter { program.nodes[$0].cancelling != .never }
    return switch result {
    // If the dependency was cancelled, the operation is a cancelled one.
    case .cancelled: !cancelled.isEmpty
    case .culprits(let named): named.count == 1 && named.isSubset(of: culprits.subtracting(cancelled))
    case .value, .failure: false
    }
  }
}

/// Objects that functions hold, and how many there are.
final class Tokens: Sendable {
  private let count = Counter()

  final class Token: Sendable {
    private let count: Counter

    fileprivate init(_ count: Counter) {
      self.count = count
      count.increment()
    }

    deinit { count.decrement() }
  }

  var liveCount: Int { count.value }

  func make() -> Token { Token(count) }
}
