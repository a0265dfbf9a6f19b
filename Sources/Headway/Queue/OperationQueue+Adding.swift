import Synchronization

extension OperationQueue {
  /// What ``addOperation(_:)-(Operation)`` does.
  final func add(_ operation: Operation) {
    guard reserve(operation) else { return }
    let isAskedAgain = enter(operation)
    let reference = OperationReference.passRetained(operation)
    let word = operation.state.current
    // More urgent ones may have to be started before others, and their dependencies be raised.
    if servesInbox.load(ordering: .relaxed), operation.isReadyUnasked, word.unfinishedDependencies == 0,
      word.priorityLevel <= QueuePriority.normal.level, word.qualityLevel == 0
    {
      guard operation.state.enqueue() else { return reference.release() }
      push(reference)
      // Cancelled or made more urgent just before it was pushed: the thread that did that has not found it.
      let word = operation.state.current
      if word.isCancelled || word.priorityLevel > QueuePriority.normal.level || word.qualityLevel > 0 {
        update { _ in }
      }
    } else {
      take(reference)
      if isAskedAgain { operation.reconsiderReadiness() }
    }
  }

  /// What `addOperation(_:)` does with a block.
  final func add(_ block: @escaping ThrowingBlock) {
    // A subclass hears of every operation that is added.
    guard type(of: self) == OperationQueue.self else { return addOperation(BlockOperation.make(block)) }
    let servesInbox = servesInbox.load(ordering: .relaxed)
    let reference = RecycledOperations.take(for: block) ?? .passRetained(BlockOperation.make(block))
    reference._withUnsafeGuaranteedRef { operation in
      operation.queueLinks.home = .passUnretained(self)
      operation.state.reserveUnshared(isEnqueued: servesInbox)
    }
    if servesInbox {
      push(reference)
    } else {
      let heldBack = update { state in
        let isIn = state.add(reference)
        assert(isIn, "nobody knows the operation yet")
        return state.admission.nextHeldBack()
      }
      reevaluateReadiness(heldBack)
    }
  }

  /// Asks operations that overrides of `isReady` hold back whether they still do.
  ///
  /// Foundation does so whenever it looks for something to start, and there are programs that rely on it and post no
  /// change. Here it is done when another operation is added, finishes or posts that it is ready, and when the limit or
  /// the suspension is changed.
  final func reevaluateReadiness(_ heldBack: [Operation]) {
    for operation in heldBack { operation.reconsiderReadiness() }
  }

  /// Puts an operation into the inbox, without the queue's lock: the thread that next has that takes it in.
  ///
  /// Looks afterwards whether a thread will, and does it otherwise.
  private func push(_ operation: OperationReference) {
    if !inbox.push(operation) || !servesInbox.load(ordering: .sequentiallyConsistent) { update { _ in } }
  }

  /// Takes an operation in, under the lock, and its ownership.
  private func take(_ reference: OperationReference) {
    let (isIn, level, heldBack) = update { state in
      let heldBack = state.admission.nextHeldBack()
      return (state.add(reference), state.qualityOfService.level, heldBack)
    }
    guard isIn else { return reference.release() }
    if level > 0 { reference._withUnsafeGuaranteedRef { $0.raiseDependencies(level: level) } }
    reevaluateReadiness(heldBack)
  }

  /// What ``addOperations(_:waitUntilFinished:)`` does.
  final func add(_ operations: [Operation], waitUntilFinished wait: Bool) {
    // Retained once for the queue, and not again at each step.
    var added: [OperationReference] = []
    added.reserveCapacity(operations.count)
    var askedAgain: [Operation] = []
    for position in operations.indices {
      let reference = OperationReference.passRetained(operations[position])
      let isReserved = reference._withUnsafeGuaranteedRef { operation in
        guard reserve(operation) else { return false }
        if enter(operation) { askedAgain.append(operation) }
        return true
      }
      if isReserved { added.append(reference) } else { reference.release() }
    }
    var refused: [OperationReference] = []
    let (level, heldBack) = update { state in
      let heldBack = state.admission.nextHeldBack()
      for reference in added where !state.add(reference) { refused.append(reference) }
      return (state.qualityOfService.level, heldBack)
    }
    for reference in refused { reference.release() }
    if level > 0 { for operation in operations { operation.raiseDependencies(level: level) } }
    reevaluateReadiness(heldBack)
    reevaluateReadiness(askedAgain)
    guard wait else { return }
    let waitingLevel = WaitGraph.levelOfCaller
    if waitingLevel > 0 { Operation.raise(operations, level: waitingLevel) }
    // The last first: it mostly finishes last, and a thread that waited for each in turn would be in the way of those
    // that run them.
    for position in operations.indices.reversed() where !operations[position].state.current.isNotified {
      operations[position].waitUntilFinished()
    }
    var patience = CompletionPatience()
    // By position, as above: an element of a loop would be retained.
    for position in operations.indices where operations[position].state.current.isLinked {
      patience.wait(for: operations[position])
    }
  }

  /// What ``addBarrierBlock(_:)`` does.
  final func add(barrier: @escaping ThrowingBlock) { add(barrier: BlockOperation.make(barrier)) }

  /// Adds a new operation as a barrier.
  final func takeBarrier(_ operation: BlockOperation) {
    operation.isBarrier = true
    guard reserve(operation) else { return }
    _ = enter(operation)
    take(.passRetained(operation))
  }

  /// Takes the sole right to put the operation into a queue; false if it was cancelled and has finished, or is about
  /// to.
  private func reserve(_ operation: Operation) -> Bool {
    guard let refusal = operation.state.reserve() else { return true }
    if refusal.isCancelled, !refusal.isReserved, refusal.phase == .finished || refusal.phase == .starting {
      operation.submitBelatedCompletionBlock(self)
      if refusal.hasFailed { noteRefused(operation) }
      return false
    }
    let reason =
      switch refusal.phase {
      case .pending, .starting: "is in a queue already (or is twice in the list)"
      case .executing: "is executing"
      case .finished: "has finished: an operation runs once, make a new one"
      }
    misuse("\(operation) was added to \(label), but it \(reason).")
  }

  /// Lets the operation know its queue; before the queue's lists do, from which it may be started at any moment.
  ///
  /// - Returns: Whether it is to be asked again when the queue has it: it holds itself back, and what it waits for may
  ///   have come about meanwhile, of which nobody would tell the queue.
  private func enter(_ operation: Operation) -> Bool {
    operation.queueLinks.home = .passUnretained(self)
    return operation.overridesIsReady && operation.inquireReadinessBeforeAdding()
  }
}

extension OperationQueueExtensions {
  /// Adds a block that may throw as an operation of its own.
  ///
  /// A subclass that overrides ``OperationQueue/addOperation(_:)-(Operation)`` hears of it there.
  ///
  /// - Parameter block: What to run. What it throws is kept in that operation's ``Operation/error``, and is passed to
  ///   ``onFailure``.
  /// - Complexity: O(1).
  public func addOperation(_ block: @escaping @Sendable () throws -> Void) { add(block) }

  /// Adds a block that may throw, and that starts when everything added before it has finished.
  ///
  /// Otherwise as ``OperationQueue/addBarrierBlock(_:)``; a subclass that overrides that is not asked.
  ///
  /// - Parameter barrier: What to run. What it throws is kept in the operation that is made of it, and is passed to
  ///   ``onFailure``.
  /// - Complexity: O(1).
  public func addBarrierBlock(_ barrier: @escaping @Sendable () throws -> Void) { add(barrier: barrier) }
}
