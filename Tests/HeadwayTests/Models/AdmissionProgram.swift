import HeadwayTestKit

@testable import Headway

/// Has code to run when it is started cancelled.
private final class OwnStartOperation: BlockOperation, @unchecked Sendable {
  override func start() { super.start() }
}

/// Is taken in batches and can have code to run when it is freed.
private final class OwnMainOperation: BlockOperation, @unchecked Sendable {
  override func main() { super.main() }
}

/// A random sequence of commands, given to the state machine and to the model.
struct AdmissionProgram: ~Copyable {
  struct Divergence: Error, CustomStringConvertible {
    let description: String
  }

  var generator: SeededGenerator
  var admission = Admission()
  var model = AdmissionModel()
  /// A block without an operation has a placeholder here, which is in no queue.
  var operations: [BlockOperation] = []
  /// The blocks whose operations have not been found, by their numbers in the queue.
  private var blocks: [UInt64: Int] = [:]
  /// Operations that were started separately, not in a batch.
  var started: [Int] = []
  /// The number of issued tickets that were not redeemed.
  var tickets = 0
  /// Threads that take batches.
  var threads = (0..<3).map { _ in AdmissionThread() }
  /// The queue that operations of batches consider their queue.
  let home = ToldQueue()
  /// Batches have results that were not collected.
  var hasUncollected = false
  /// The count was not exact after each collected operation.
  var isMiscounted = false
  let census: Crowd
  /// The levels of quality of service that the state machine was notified of.
  var levels: [Int: Int] = [:]
  private var comparisons = 0
  /// How many are added at first.
  private var added = 5
  /// How many of 100 commands concern batches.
  private var batchCommands = 30

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
    // Batches are long if many operations are ready: every tenth program begins with many, and continues with batches.
    let isLong = random(0...9) == 0
    if isLong { (added, batchCommands) = (random(30...60), 70) }
    // Every fourth queue starts its operations in insertion order.
    if random(0...3) == 0 {
      (model.order, admission.order) = (.fifo, .fifo)
      (model.limit, admission.limit) = (1, 1)
    }
    admission.setPlacement(Placement(quality: .default, hasClasses: false))
    for step in 0..<random(40...80) + (isLong ? 120 : 0) {
      let command = step < added ? "add" : try takeCommand()
      if command == "add", random(0...2) == 0 {
        addBlock()
      } else if command == "add" {
        add(isBarrier: random(0...(isLong ? 40 : 5)) == 0)
      }
      do { try compare() } catch {
        throw Divergence(description: "step \(step), \(command): \(error)")
      }
    }
    try drain()
  }

  private mutating func takeCommand() throws -> String {
    if random(0...99) < batchCommands { return try takeBatchCommand() }
    switch random(0...99) {
    case 0..<25: return "add"
    case 25..<50:
      try next()
      return "next"
    case 50..<70:
      if let position = started.indices.randomElement(using: &generator) { finish(started.remove(at: position)) }
      return "finish"
    case 70..<75:
      cancel(anyone())
      return "cancel"
    case 75..<77:
      setUrgency(of: anyone(), level: random(2...4))
      return "urgency"
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
      guard model.order == .priority else { return "nothing" }
      model.limit = random(0...4) == 0 ? .max : random(0...4)
      admission.limit = model.limit
      return "limit"
    }
  }

  // MARK: Commands

  private mutating func add(isBarrier: Bool) {
    let number = operations.count
    let member = CountedMember(census)
    let hasCode = !isBarrier && random(0...4) == 0
    let block = { @Sendable in withExtendedLifetime(member) {} }
    let hasOwnMain = random(0...1) == 0
    let operation =
      hasCode
      ? OwnStartOperation(block: block) : hasOwnMain ? OwnMainOperation(block: block) : BlockOperation(block: block)
    let priority = QueuePriority.allCases.randomElement(using: &generator) ?? .normal
    operation.queuePriority = priority
    operation.qualityOfService = takeQuality()
    operation.isBarrier = isBarrier
    model.entries.append(
      AdmissionModel.Entry(isBarrier: isBarrier, hasCode: hasCode, priority: priority, dependencies: []))
    operations.append(operation)
    while number > 0, random(0...2) == 0 { addDependency(to: number, on: random(0...number - 1)) }
    _ = operation.state.reserve()
    // Cancelled while the queue is accepting it.
    if random(0...19) == 0 {
      operation.cancel()
      model.entries[number].isCancelled = true
    }
    // Cancelling ends it, like an operation of a subclass that ends itself when it is cancelled. In that case, the
    // queue does not accept it.
    if operation.isCancelled, random(0...1) == 0 {
      operation.end()
      model.entries[number].state = .finished
    }
    let reference = OperationReference.passRetained(operation)
    if !admission.add(reference) { reference.release() }
  }

  /// Adds a block as `QueueState` does: it gets its operation later if the queue allows that.
  private mutating func addBlock() {
    let member = CountedMember(census)
    model.entries.append(AdmissionModel.Entry(isBarrier: false, hasCode: false, priority: .normal, dependencies: []))
    let added = AddedBlock.make({ withExtendedLifetime(member) {} }, in: home)
    let sequence = admission.nextSequence
    operations.append(BlockOperation())
    blocks[sequence] = operations.count - 1
    if admission.add(added) { return }
    let reference = AddedBlock.makeOperation(of: added, isEnqueued: false)
    _ = admission.add(reference)
    findMade()
  }

  /// Finds the operations that the state machine has made for blocks.
  mutating func findMade() {
    guard !blocks.isEmpty else { return }
    for operation in admission.members.snapshot(with: admission.batches) {
      guard let number = blocks.removeValue(forKey: operation.queueLinks.sequence) else { continue }
      operations[number] = unsafeDowncast(operation, to: BlockOperation.self)
      operation.queueLinks.home = nil
    }
  }

  private func hasOperation(_ number: Int) -> Bool { !blocks.values.contains(number) }

  private mutating func next() throws {
    if tickets > 0 {
      admission.redeemTicket(.normal)
      tickets -= 1
    }
    collect()
    let operation = admission.next(for: .normal)
    findMade()
    let actual = operation.flatMap { operation in operations.firstIndex { $0 === operation } }
    let expected = model.next()
    if actual != expected {
      throw Divergence(description: "next: \(text(actual)) was started, and should have been \(text(expected))")
    }
    if let actual { started.append(actual) }
  }

  /// Acts as `OperationQueue` does when an operation has ended: its dependents are processed first.
  private mutating func finish(_ number: Int) {
    let wereReady = model.entries.indices.filter { model.isReady($0) }
    operations[number].end()
    model.entries[number].state = .finished
    notifyReady(except: wereReady)
    admission.finished(operations[number])?.release()
  }

  private mutating func cancel(_ number: Int) {
    operations[number].cancel()
    model.entries[number].isCancelled = true
    admission.leave(operations[number])
    noteReclaimed()
  }

  private mutating func setPriority(of number: Int) {
    let priority = QueuePriority.allCases.randomElement(using: &generator) ?? .normal
    operations[number].queuePriority = priority
    model.entries[number].priority = priority
    admission.urgencyChanged(operations[number])
  }

  private mutating func removeDependency(of number: Int) {
    guard let dependency = model.entries[number].dependencies.sorted().randomElement(using: &generator) else { return }
    let wereReady = model.entries.indices.filter { model.isReady($0) }
    operations[number].removeDependency(operations[dependency])
    model.entries[number].dependencies.remove(dependency)
    notifyReady(except: wereReady)
  }

  private mutating func addDependency(to number: Int, on dependency: Int) {
    guard number != dependency, model.entries[number].state == .waiting, hasOperation(dependency) else { return }
    operations[number].addDependency(operations[dependency])
    model.entries[number].dependencies.insert(dependency)
  }

  /// Acts as an operation that becomes ready.
  mutating func notifyReady(except wereReady: [Int]) {
    for number in model.entries.indices where model.isReady(number) && !wereReady.contains(number) {
      admission.becameReady(operations[number])
    }
    noteReclaimed()
  }

  // MARK: Comparing

  private mutating func compare() throws {
    if random(0...2) == 0 { collect() }
    if random(0...9) == 0 { admission.makeOperations(atMost: random(1...3)) }
    findMade()
    noteUrgency()
    if let inversion = findInversion() { throw Divergence(description: inversion) }
    if isMiscounted { throw Divergence(description: "operations of batches were collected, and the count is wrong") }
    tickets += admission.issueTickets()[.normal]
    findMade()
    #if DEBUG
    // Each requires as much time as a dozen commands.
    comparisons += 1
    if comparisons % 16 == 0 { admission.checkInvariants() }
    admission.checkTickets()
    #endif
    let isFull = model.running >= model.limit && model.running > 0 && !model.isSuspended
    if admission.servesInbox != (isFull || tickets > 0) {
      throw Divergence(description: "the inbox is served: \(admission.servesInbox), with \(tickets) tickets")
    }
    // The queue has no results of batches that were not collected.
    guard !hasUncollected else { return }
    if tickets < min(model.startable(beside: firstOfBatches), 64) {
      throw Divergence(
        description:
          "\(tickets) workers were requested, and \(model.startable(beside: firstOfBatches)) could start")
    }
    let made = random(0...3) > 0 ? admission.members.snapshot(with: admission.batches) : admission.operations
    findMade()
    let expected = model.unfinished.filter { made.count == model.unfinished.count || hasOperation($0) }
    guard admission.count == model.unfinished.count,
      made.elementsEqual(expected.map { operations[$0] }, by: ===)
    else {
      throw Divergence(description: "the queue holds \(admission.count), and should hold \(model.unfinished)")
    }
    for number in operations.indices where model.entries[number].state == .waiting {
      if operations[number].isReady != model.isReady(number) {
        throw Divergence(description: "\(number) is ready: \(operations[number].isReady), and should not be so")
      }
    }
  }

  /// Runs all remaining operations.
  ///
  /// Cancels operations that wait in cycles.
  private mutating func drain() throws {
    try endBatches()
    (model.isSuspended, admission.isSuspended) = (false, false)
    while !model.unfinished.isEmpty {
      let count = started.count
      repeat { try next() } while model.startable() > 0
      try next()
      try compare()
      if started.isEmpty {
        // Nothing runs, and nothing can: a limit of 0, or a cycle.
        if model.order == .priority { (model.limit, admission.limit) = (.max, .max) }
        if model.startable() == 0, let first = model.unfinished.first { cancel(first) }
      } else {
        while started.count > min(count, 2), let position = started.indices.randomElement(using: &generator) {
          finish(started.remove(at: position))
        }
        if let last = started.popLast() { finish(last) }
      }
      try compare()
    }
  }

  mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

  /// An unfinished operation, if there is any.
  private mutating func anyone() -> Int {
    admission.makeOperations(atMost: random(0...1))
    findMade()
    let unmade = Set(blocks.values)
    if unmade.count == operations.count { add(isBarrier: false) }
    return model.unfinished.filter { !unmade.contains($0) }.randomElement(using: &generator)
      ?? operations.indices.first { !unmade.contains($0) }!
  }

  func text(_ number: Int?) -> String { number.map { "number \($0)" } ?? "none" }
}

/// A queue that records its notifications of operations that have become ready.
final class ToldQueue: OperationQueue, @unchecked Sendable {
  private var told: [Headway.Operation] = []

  override func operationBecameReady(_ operation: Headway.Operation, leaving effects: inout Effects) {
    told.append(operation)
  }

  override func operationsBecameReady(_ references: [OperationReference], leaving effects: inout Effects) {
    told += references.map { $0.operation }
  }

  func takeTold() -> [Headway.Operation] {
    defer { told = [] }
    return told
  }
}
