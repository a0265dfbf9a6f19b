import Synchronization

extension OperationQueue {
  /// What ``addOperation(_:)-(Operation)`` does.
  final func add(_ operation: Operation) {
    guard reserve(operation) else { return }
    enter(operation)
    let reference = OperationReference.passRetained(operation)
    let word = operation.state.current
    // More urgent ones may have to be started before others, and their dependencies be raised.
    if isAttended.load(ordering: .relaxed), operation.isPlainBlock, word.unfinishedDependencies == 0,
      word.priorityLevel <= QueuePriority.normal.level
    {
      operation.state.enqueue()
      push(reference)
      // Cancelled or made more urgent just before it was pushed: who did that has not found it.
      let word = operation.state.current
      if word.isCancelled || word.priorityLevel > QueuePriority.normal.level { change { _ in } }
    } else {
      let level = change { $0.add(reference, isBarrier: false) }
      operation.raiseDependencies(level: level)
    }
  }

  /// What `addOperation(_:)` does with a block.
  final func add(_ block: @escaping @Sendable () throws -> Void) {
    // A subclass hears of every operation that is added.
    guard type(of: self) == OperationQueue.self else { return addOperation(BlockOperation(block: block)) }
    let operation = BlockOperation(block: block)
    operation.queueLinks.home = .passUnretained(self)
    let isAttended = isAttended.load(ordering: .relaxed)
    operation.state.reserveUnshared(isEnqueued: isAttended)
    let reference = OperationReference.passRetained(operation)
    if isAttended { push(reference) } else { _ = change { $0.add(reference, isBarrier: false) } }
  }

  /// Puts an operation into the inbox, without the queue's lock: whoever next has that puts it into the books.
  ///
  /// Looks afterwards whether somebody will, and does it otherwise.
  private func push(_ operation: OperationReference) {
    if !inbox.push(operation) || !isAttended.load(ordering: .sequentiallyConsistent) { change { _ in } }
  }

  /// What ``addOperations(_:waitUntilFinished:)`` does.
  final func add(_ operations: [Operation], waitUntilFinished wait: Bool) {
    // Retained once for the queue, and not again at each step.
    var added: [OperationReference] = []
    added.reserveCapacity(operations.count)
    for operation in operations where reserve(operation) {
      enter(operation)
      added.append(.passRetained(operation))
    }
    let level = change { books in
      for reference in added { books.add(reference, isBarrier: false) }
      return books.qualityOfService.level
    }
    if level > 0 { for operation in operations { operation.raiseDependencies(level: level) } }
    guard wait else { return }
    // The last first: it mostly finishes last, and who waited for each in turn would be in the way of those who run
    // them.
    for position in operations.indices.reversed() where !operations[position].state.current.isSettled {
      operations[position].waitUntilFinished()
    }
  }

  /// What ``addBarrierBlock(_:)`` does.
  final func add(barrier: @escaping @Sendable () throws -> Void) {
    let operation = BlockOperation(block: barrier)
    guard reserve(operation) else { return }
    enter(operation)
    _ = change { $0.add(.passRetained(operation), isBarrier: true) }
  }

  /// Takes the sole right to put the operation into a queue; false if it was cancelled and has finished.
  private func reserve(_ operation: Operation) -> Bool {
    guard let refusal = operation.state.reserve() else { return true }
    if refusal.isCancelled, !refusal.isReserved, refusal.phase == .finished || refusal.phase == .starting {
      return false
    }
    let reason =
      switch refusal.phase {
      case .pending, .starting: "is in a queue already (or stands twice in the list)"
      case .executing: "is executing"
      case .finished: "has finished: an operation runs once, make a new one"
      }
    misuse("\(operation) was added to \(label), but it \(reason).")
  }

  /// Lets the operation know its queue; before the queue's books do, which then may start it at any moment.
  private func enter(_ operation: Operation) {
    operation.queueLinks.home = .passUnretained(self)
    operation.inquireReadiness()
  }
}
