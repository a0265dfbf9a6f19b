import Headway
import Synchronization

@testable import struct Headway.WeakOperation

/// The operations and queues of a test program, created with Headway's classes.
///
/// Only the test's own thread uses this object. Calls on other threads are recorded by the witnesses, which are
/// thread-safe.
final class RealProgram: @unchecked Sendable {
  let program: Program
  private(set) var operations: [RealOperation?] = []
  let queues: [OperationQueue]
  let executors = (0..<Program.queueCount).map { _ in TurnExecutor() }
  let queueWitnesses = (0..<Program.queueCount).map { _ in Witness() }
  private var queueTokens: [[KeyValueObservation]] = Array(repeating: [], count: Program.queueCount)
  private var numbers: [ObjectIdentifier: Int] = [:]
  private var newBarrier = -1
  private(set) var starts: [Int] = []
  /// The operations that do work inside, which the model has found to be legal.
  var actingInside: Set<Int> = []

  init(_ program: Program) {
    self.program = program
    queues = program.orders.map { OperationQueue(order: $0) }
    for (queue, executor) in zip(queues, executors) { queue.executor = executor }
    operations = program.operations.enumerated().map { RealOperation($1.kind, number: $0, in: self) }
    for (number, operation) in operations.enumerated() { note(operation, number) }
  }

  private func note(_ operation: RealOperation?, _ number: Int) {
    if let operation { numbers[ObjectIdentifier(operation.operation)] = number }
  }

  /// The witness of an unknown operation, which is therefore the barrier that is being added.
  func number(of operation: Headway.Operation) -> Int { numbers[ObjectIdentifier(operation)] ?? newBarrier }

  /// An operation's work begins.
  func begin(_ number: Int, _ witness: Witness) {
    witness.see { $0.runs += 1 }
    starts.append(number)
    if actingInside.contains(number), let inside = program.operations[number].inside { perform(inside) }
  }

  // MARK: Commands

  /// Executes a command that the model has found to be legal.
  func perform(_ command: Command) {
    switch command {
    case .add(let number, let queue): add(number, to: queues[queue])
    case .addBatch(let numbers, let queue):
      queues[queue].addOperations(numbers.compactMap { operations[$0]?.operation }, waitUntilFinished: false)
    case .cancelAll(let queue): queues[queue].cancelAllOperations()
    case .suspend(let queue, let isSuspended): queues[queue].isSuspended = isSuspended
    case .limit(let queue, let limit): queues[queue].maxConcurrentOperationCount = limit
    case .setTotal(let queue, let total): queues[queue].progress.totalUnitCount = total
    case .observeQueue(let queue): observe(queue: queue)
    case .waitForAll(let queue): queues[queue].waitUntilAllOperationsAreFinished()
    case .step(let queue): _ = executors[queue].step()
    case .callCompletionBlock(let queue): _ = executors[queue].callCompletionBlock()
    case .run(let queue):
      while executors[queue].step() {}
      while executors[queue].callCompletionBlock() {}
    default:
      if let number = command.operations.first, let operation = operations[number] {
        perform(command, on: operation.operation, operation.witness)
      }
    }
  }

  private func perform(_ command: Command, on operation: Headway.Operation, _ witness: Witness) {
    switch command {
    case .depend(_, let other, let requiresSuccess):
      if let other = operations[other]?.operation {
        operation.addDependency(other, requiring: requiresSuccess ? .success : .completion)
      }
    case .removeDependency(_, let other):
      if let other = operations[other]?.operation { operation.removeDependency(other) }
    case .cancel: operation.cancel()
    case .setPriority(_, let priority): operation.queuePriority = priority
    case .setCompletionBlock(_, let label):
      operation.completionBlock = label.map { label -> @Sendable () -> Void in
        { witness.see { $0.completions.append(label) } }
      }
    case .onCancel: operation.onCancel { witness.see { $0.cancellations += 1 } }
    case .fail: operation.recordError(Mishap(name: "recorded"))
    case .setName(let number): operation.name = "name of \(number)"
    case .start: operation.start()
    case .finish(_, let isFailure): finish(operation, isFailure)
    case .allow(_, let isAllowed): (operation as? ModelHeldOperation)?.allow(isAllowed)
    case .observe(let number): observe(number)
    case .wait: operation.waitUntilFinished()
    default: break
    }
  }

  private func add(_ number: Int, to queue: OperationQueue) {
    if let operation = operations[number]?.operation { return queue.addOperation(operation) }
    let witness = Witness()
    newBarrier = number
    queue.addBarrierBlock { [unowned self] in begin(number, witness) }
    operations[number] = queue.operations.last.map { RealOperation(barrier: $0, witness) }
    note(operations[number], number)
  }

  private func finish(_ operation: Headway.Operation, _ isFailure: Bool) {
    switch (operation, isFailure) {
    case (let operation as AsynchronousOperation, false): operation.finish()
    case (let operation as AsynchronousOperation, true): operation.finish(throwing: Mishap(name: "finish"))
    case (let operation as ModelPostingOperation, _):
      if isFailure { operation.recordError(Mishap(name: "finish")) }
      operation.finish()
    default: break
    }
  }
}

// MARK: Observing

extension RealProgram {
  /// In the model's order of notifications for simultaneous changes.
  private func observe(_ number: Int) {
    guard let real = operations[number], real.tokens.isEmpty else { return }
    let (operation, witness) = (real.operation, real.witness)
    func observe<Value>(
      _ keyPath: KeyPath<Headway.Operation, Value>, _ told: @escaping @Sendable (Value) -> Observation.Value
    ) -> KeyValueObservation {
      // Observers are notified of a posted change even if the value is the same. The model reports only different
      // values.
      let last = Mutex<Observation.Value?>(nil)
      return operation.observe(keyPath, options: [.initial, .new]) { _, change in
        guard let value = change.newValue.map(told) else { return }
        let isNew = last.withLock { last in
          defer { last = value }
          return last != value
        }
        if isNew { witness.see { $0.told.append(value) } }
      }
    }
    operations[number]?.tokens = [
      observe(\.isCancelled) { .isCancelled($0) },
      observe(\.dependencies) { [unowned self] in .dependencies($0.map(self.number)) },
      observe(\.isReady) { .isReady($0) }, observe(\.isExecuting) { .isExecuting($0) },
      observe(\.isFinished) { .isFinished($0) }, observe(\.queuePriority) { .queuePriority($0) },
    ]
  }

  private func observe(queue number: Int) {
    guard queueTokens[number].isEmpty else { return }
    let (queue, witness) = (queues[number], queueWitnesses[number])
    func observe<Value>(
      _ keyPath: KeyPath<OperationQueue, Value>, _ told: @escaping @Sendable (Value) -> Observation.Value
    ) -> KeyValueObservation {
      queue.observe(keyPath, options: [.initial, .new]) { _, change in
        if let value = change.newValue.map(told) { witness.see { $0.told.append(value) } }
      }
    }
    queueTokens[number] = [
      observe(\.operationCount) { .operationCount($0) },
      observe(\.operations) { [unowned self] in .operations($0.map(self.number)) },
      observe(\.isSuspended) { .isSuspended($0) },
      observe(\.maxConcurrentOperationCount) { .maxConcurrentOperationCount($0) },
    ]
  }

  /// Checks, later, whether everything has been freed.
  var isAlive: @Sendable () -> Bool {
    let operations = operations.compactMap { $0.map { WeakOperation($0.operation) } }
    let queues = queues.map { queue in { @Sendable [weak queue] in queue != nil } }
    return { operations.contains { $0.operation != nil } || queues.contains { $0() } }
  }
}
