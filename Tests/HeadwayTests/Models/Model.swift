import Headway

/// The rules of operations and queues, written so simply that they are obviously right: one thread, plain arrays,
/// searched from end to end.
struct Model {
  var operations: [ModelOperation]
  var queues: [ModelQueue]
  /// The operations whose work began, in order.
  var starts: [Int] = []

  init(_ program: Program) {
    operations = program.operations.map { ModelOperation($0) }
    queues = program.orders.map { ModelQueue(order: $0, limit: $0 == .fifo ? 1 : -1) }
  }

  // MARK: States of operations

  /// O2, D1, D2, C2.
  func isReady(_ number: Int) -> Bool {
    let operation = operations[number]
    let waits = operation.dependencies.contains { !operations[$0].hasReleased }
    let isFree = !waits || operation.isCancelled || operation.phase == .finished
    return isFree && (operation.kind != .held || operation.isAllowed)
  }

  // MARK: Changes of operations

  /// O4, C3: a queue, a caller or a cancellation starts the operation.
  mutating func start(_ number: Int) {
    guard !operations[number].isCancelled else { return finish(number) }
    operations[number].phase = .executing
    tell()
    operations[number].runs += 1
    starts.append(number)
    if let inside = operations[number].inside, isLegal(inside) {
      operations[number].actedInside = true
      perform(inside)
    }
    switch operations[number].kind {
    case .plain, .held, .barrier:
      finish(number)
    case .failing:
      fail(number, Failure(mishap: "main \(number)"))
      finish(number)
    case .blocks:
      operations[number].runs += 1
      finish(number)
    case .asynchronous:
      // An error ends it; otherwise, it continues.
      if operations[number].failure != nil { finish(number) }
    case .posting:
      break
    }
  }

  /// C1, C2, C4, C6, C7.
  mutating func cancel(_ number: Int) {
    guard operations[number].phase != .finished, !operations[number].isCancelled else { return }
    operations[number].isCancelled = true
    tell()
    operations[number].cancellations += operations[number].cancellationHandlers
    operations[number].cancellationHandlers = 0
    let isFree = operations[number].phase == .pending && operations[number].queue == nil
    if isFree, operations[number].kind != .posting { finish(number) }
  }

  /// The first error is kept (B5).
  mutating func fail(_ number: Int, _ failure: Failure) {
    guard operations[number].phase != .finished, operations[number].failure == nil else { return }
    operations[number].failure = failure
  }

  /// O6 and its consequences, in the order of occurrence.
  mutating func finish(_ number: Int) {
    guard operations[number].phase != .finished else { return }
    operations[number].phase = .finished
    operations[number].cancellationHandlers = 0
    operations[number].observation.change(values(of: number))
    operations[number].observation.hasEnded = true
    // O8: it releases its dependencies after its completion block; observers are no longer notified of this change.
    if operations[number].completionBlock == nil { operations[number].dependencies = [] }
    // D3: dependents that required it to succeed are cancelled before they are released.
    cancelSuccessDependents(of: number)
    operations[number].hasReleased = true
    tell()
    let queue = operations[number].queue
    operations[number].queue = nil
    if let queue {
      queues[queue].operations.removeAll { $0 == number }
      if queues[queue].total > 0, operations[number].kind != .barrier { queues[queue].completed += 1 }
      tell()
    }
    sendCompletionBlock(of: number, to: queue)
  }

  /// W1: called by the queue's threads, or by others.
  mutating func sendCompletionBlock(of number: Int, to queue: Int?) {
    guard let label = operations[number].completionBlock else { return }
    operations[number].completionBlock = nil
    if let queue {
      queues[queue].completionBlocks.append((number, label))
    } else {
      operations[number].completions.append(label)
      operations[number].dependencies = []
    }
  }

  /// D3: all operations that required this one to succeed get the error, and then are cancelled.
  private mutating func cancelSuccessDependents(of number: Int) {
    guard let failure = requirementFailure(of: number) else { return }
    let dependents = operations[number].successDependents.filter { operations[$0].phase == .pending }
    for dependent in dependents where !operations[dependent].isCancelled {
      scheduleCancellation(dependent, failure, by: number)
    }
    for dependent in dependents { cancel(dependent) }
  }

  /// An operation gets the error of a dependency that it required to succeed.
  ///
  /// The operation is about to be cancelled.
  mutating func scheduleCancellation(_ number: Int, _ failure: Failure, by failedDependency: Int) {
    guard operations[number].phase != .finished, operations[number].failure == nil else { return }
    fail(number, failure)
    operations[number].culpritHasFailed = operations[failedDependency].outcome == "failure"
  }

  /// The error that operations get if they require this finished operation to succeed; nil if it did.
  func requirementFailure(of number: Int) -> Failure? {
    let operation = operations[number]
    if let failure = operation.failure, failure.failedDependency != nil { return failure }
    guard operation.failure != nil || operation.isCancelled else { return nil }
    return Failure(failedDependency: number, mishap: operation.failure?.mishap)
  }

  // MARK: Notifying

  /// K2: notifies all observers of changes.
  mutating func tell() {
    for number in operations.indices { operations[number].observation.change(values(of: number)) }
    for number in queues.indices { queues[number].observation.change(values(ofQueue: number)) }
  }

  /// In the order of notification of operations that have changed at the same time.
  func values(of number: Int) -> [Observation.Value] {
    let operation = operations[number]
    return [
      .isCancelled(operation.isCancelled), .dependencies(operation.dependencies),
      .isReady(isReady(number)), .isExecuting(operation.phase == .executing),
      .isFinished(operation.phase == .finished), .queuePriority(operation.priority),
    ]
  }

  func values(ofQueue number: Int) -> [Observation.Value] {
    let queue = queues[number]
    return [
      .operationCount(queue.operations.count), .operations(queue.operations), .isSuspended(queue.isSuspended),
      .maxConcurrentOperationCount(queue.limit),
    ]
  }
}
