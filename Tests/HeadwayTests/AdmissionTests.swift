import HeadwayTestKit
import Testing

@testable import Headway

@Suite("Admission", .timeLimit(.minutes(10))) struct AdmissionTests {
  @Test("P2, Q3, Q4, Q8, C5: random programs start exactly what the rules say, in that order")
  func programs() {
    let count = environmentNumber("HEADWAY_MODEL_PROGRAMS") ?? 2_000
    let first = environmentNumber("HEADWAY_MODEL_SEED") ?? 1
    print("Admission: \(count) programs from HEADWAY_MODEL_SEED=\(first)")
    for seed in first..<first + count {
      let census = Crowd()
      if let divergence = AdmissionProgram.divergence(seed: UInt64(seed), census) {
        Issue.record("HEADWAY_MODEL_SEED=\(seed) HEADWAY_MODEL_PROGRAMS=1: \(divergence)")
        return
      }
      guard census.now == 0 else {
        Issue.record("HEADWAY_MODEL_SEED=\(seed): \(census.now) operations were not freed")
        return
      }
    }
  }

  @Test("Q3: workers are sent for what can start, and no more are on their way than that") func permissions() {
    var admission = Admission()
    admission.limit = 3
    let census = Crowd()
    let operations = (0..<5).map { _ in CountedOperation(census) }
    for operation in operations {
      _ = operation.state.reserve()
      admission.add(operation, isBarrier: false)
    }
    #expect(admission.takeNewPermissions() == 3)
    #expect(admission.takeNewPermissions() == 0)
    admission.usePermission()
    #expect(admission.next() === operations[0])
    #expect(admission.takeNewPermissions() == 0, "two more are on their way for the two places left")
    admission.usePermission()
    admission.isSuspended = true
    #expect(admission.next() == nil)
    #expect(admission.takeNewPermissions() == 0)
    admission.isSuspended = false
    #expect(admission.takeNewPermissions() == 1)
    admission.keepPermission()
    operations[0].end()
    admission.finished(operations[0]).release()
    #expect(admission.takeNewPermissions() == 0, "the worker that finished one comes back for another")
    for operation in operations.dropFirst() {
      _ = admission.next()
      operation.end()
      admission.finished(operation).release()
    }
    #expect(admission.count == 0)
  }
}

/// An operation whose living instances are counted.
class CountedOperation: Headway.Operation, @unchecked Sendable {
  private let census: Crowd

  init(_ census: Crowd) {
    self.census = census
    census.enter()
  }

  deinit { census.leave() }
}

/// A random sequence of commands, given to the state machine and to the model.
private struct AdmissionProgram {
  struct Divergence: Error, CustomStringConvertible {
    let description: String
  }

  private var generator: SeededGenerator
  private var admission = Admission()
  private var model = AdmissionModel()
  private var operations: [CountedOperation] = []
  private var started: [Int] = []
  private var permissions = 0
  private let census: Crowd

  static func divergence(seed: UInt64, _ census: Crowd) -> Divergence? {
    var program = AdmissionProgram(generator: SeededGenerator(seed: seed), census: census)
    do {
      try program.run()
      return nil
    } catch let divergence as Divergence {
      return divergence
    } catch {
      return Divergence(description: "\(error)")
    }
  }

  private init(generator: SeededGenerator, census: Crowd) {
    self.generator = generator
    self.census = census
  }

  private mutating func run() throws {
    for step in 0..<random(40...80) {
      let command = step < 5 ? "add" : try takeCommand()
      if command == "add" { add(isBarrier: random(0...5) == 0) }
      do { try compare() } catch {
        throw Divergence(description: "step \(step), \(command): \(error)")
      }
    }
    try drain()
  }

  private mutating func takeCommand() throws -> String {
    switch random(0...99) {
    case 0..<25: return "add"
    case 25..<50:
      try next()
      return "next"
    case 50..<70:
      if let position = started.indices.randomElement(using: &generator) { finish(started.remove(at: position)) }
      return "finish"
    case 70..<77:
      cancel(anyone())
      return "cancel"
    case 77..<84:
      setPriority(of: anyone())
      return "priority"
    case 84..<88:
      removeDependency(of: anyone())
      return "remove dependency"
    case 88..<92:
      addDependency(to: anyone(), on: anyone())
      return "add dependency"
    case 92..<95:
      model.isSuspended.toggle()
      admission.isSuspended = model.isSuspended
      return "suspend"
    default:
      model.limit = random(0...4) == 0 ? .max : random(0...4)
      admission.limit = model.limit
      return "limit"
    }
  }

  // MARK: Commands

  private mutating func add(isBarrier: Bool) {
    let number = operations.count
    let operation = CountedOperation(census)
    let priority = QueuePriority.allCases.randomElement(using: &generator) ?? .normal
    operation.queuePriority = priority
    model.entries.append(AdmissionModel.Entry(isBarrier: isBarrier, priority: priority, dependencies: []))
    operations.append(operation)
    while number > 0, random(0...2) == 0 { addDependency(to: number, on: random(0...number - 1)) }
    _ = operation.state.reserve()
    // Cancelled while it is being taken in.
    if random(0...19) == 0 {
      operation.cancel()
      model.entries[number].isCancelled = true
    }
    admission.add(operation, isBarrier: isBarrier)
  }

  private mutating func next() throws {
    if permissions > 0 {
      permissions -= 1
      admission.usePermission()
    }
    let operation = admission.next()
    let actual = operation.flatMap { operation in operations.firstIndex { $0 === operation } }
    let expected = model.next()
    if actual != expected {
      throw Divergence(description: "next: \(text(actual)) was started, and should have been \(text(expected))")
    }
    if let actual { started.append(actual) }
  }

  /// As `OperationQueue` does when an operation has ended: what depends on it is told of first.
  private mutating func finish(_ number: Int) {
    let wereReady = model.entries.indices.filter { model.isReady($0) }
    operations[number].end()
    model.entries[number].state = .finished
    tellReady(except: wereReady)
    if random(0...1) == 0 {
      permissions += 1
      admission.keepPermission()
    }
    admission.finished(operations[number]).release()
  }

  private mutating func cancel(_ number: Int) {
    operations[number].cancel()
    model.entries[number].isCancelled = true
    admission.leave(operations[number])
  }

  private mutating func setPriority(of number: Int) {
    let priority = QueuePriority.allCases.randomElement(using: &generator) ?? .normal
    operations[number].queuePriority = priority
    model.entries[number].priority = priority
    admission.priorityChanged(operations[number])
  }

  private mutating func removeDependency(of number: Int) {
    guard let dependency = model.entries[number].dependencies.sorted().randomElement(using: &generator) else { return }
    let wereReady = model.entries.indices.filter { model.isReady($0) }
    operations[number].removeDependency(operations[dependency])
    model.entries[number].dependencies.remove(dependency)
    tellReady(except: wereReady)
  }

  private mutating func addDependency(to number: Int, on dependency: Int) {
    guard number != dependency, model.entries[number].state == .waiting else { return }
    operations[number].addDependency(operations[dependency])
    model.entries[number].dependencies.insert(dependency)
  }

  /// As an operation does that becomes ready.
  private mutating func tellReady(except wereReady: [Int]) {
    for number in model.entries.indices where model.isReady(number) && !wereReady.contains(number) {
      admission.becameReady(operations[number])
    }
  }

  // MARK: Comparing

  private mutating func compare() throws {
    permissions += admission.takeNewPermissions()
    if permissions < min(model.startable, 64) {
      throw Divergence(description: "\(permissions) workers were sent for, and \(model.startable) could start")
    }
    guard admission.count == model.unfinished.count,
      admission.operations.elementsEqual(model.unfinished.map { operations[$0] }, by: ===)
    else {
      throw Divergence(description: "the queue holds \(admission.count), and should hold \(model.unfinished)")
    }
    for number in operations.indices where model.entries[number].state == .waiting {
      if operations[number].isReady != model.isReady(number) {
        throw Divergence(description: "\(number) is ready: \(operations[number].isReady), and should not be so")
      }
    }
  }

  /// Runs all that is left, and cancels what waits in circles.
  private mutating func drain() throws {
    (model.isSuspended, admission.isSuspended) = (false, false)
    while !model.unfinished.isEmpty {
      let count = started.count
      repeat { try next() } while model.startable > 0
      try next()
      try compare()
      if started.isEmpty {
        // Nothing runs and nothing can: a limit of 0, or a circle.
        (model.limit, admission.limit) = (.max, .max)
        if model.startable == 0, let first = model.unfinished.first { cancel(first) }
      } else {
        while started.count > min(count, 2), let position = started.indices.randomElement(using: &generator) {
          finish(started.remove(at: position))
        }
        if let last = started.popLast() { finish(last) }
      }
      try compare()
    }
  }

  private mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

  /// One that has not finished, if there is any.
  private mutating func anyone() -> Int { model.unfinished.randomElement(using: &generator) ?? 0 }

  private func text(_ number: Int?) -> String { number.map { "number \($0)" } ?? "none" }
}
