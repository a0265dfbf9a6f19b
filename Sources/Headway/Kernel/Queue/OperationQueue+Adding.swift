import Synchronization

extension OperationQueue {
  /// Implements ``addOperation(_:)-(Operation)``.
  final func add(_ operation: Operation) {
    guard reserve(operation) else { return }
    let isReevaluated = enter(operation)
    let reference = OperationReference.passRetained(operation)
    let word = operation.state.current
    // A more urgent operation may have to start before others, and its dependencies may have to be raised.
    if servesInbox.load(ordering: .relaxed), operation.isReadyUnasked, !word.isHeldBack,
      word.unfinishedDependencies == 0, word.priorityLevel <= QueuePriority.normal.level, word.qualityLevel == 0
    {
      guard operation.state.enqueue() else { return releaseEnded(reference) }
      let isServed = push(.operation(reference))
      // The operation was cancelled or became more urgent just before it was pushed. The thread that changed it did not
      // find it in the queue.
      let word = operation.state.current
      if word.isCancelled || word.priorityLevel > QueuePriority.normal.level || word.qualityLevel > 0 {
        update { _ in }
      }
      if !isServed { rejectIfRefused(operation) }
    } else {
      take(reference)
      if isReevaluated { operation.reconsiderReadiness() }
    }
  }

  /// Implements `addOperation(_:)` for a block.
  final func add(_ block: @escaping ThrowingBlock) {
    // A subclass receives every added operation.
    guard type(of: self) == OperationQueue.self else { return addOperation(BlockOperation.make(block)) }
    let servesInbox = servesInbox.load(ordering: .relaxed)
    let addition = makeAddition(of: block, isEnqueued: servesInbox)
    if servesInbox {
      _ = push(addition)
    } else {
      let (rejected, heldBack) = update { ($0.accept(addition), $0.admission.nextHeldBack()) }
      if let rejected { reject(rejected) }
      reevaluateReadiness(heldBack)
    }
  }

  /// Prepares the addition of a block.
  ///
  /// The block gets its operation here if the queue needs one immediately: if code is notified of added operations, or
  /// if operations start in insertion order. Making the operation later, under the queue's lock, would take longer.
  @inline(__always)
  private func makeAddition(of block: @escaping ThrowingBlock, isEnqueued: Bool) -> Addition {
    guard startsInOrder || !following.isDisjoint(with: .ofAdditions) else {
      return .block(AddedBlock.make(block, in: self))
    }
    var block = BlockOperation.FirstBlock(run: block)
    let reference = BlockOperation.make(&block, home: .passUnretained(self))
    reference._withUnsafeGuaranteedRef { operation in
      operation.state.reserveUnshared(isEnqueued: isEnqueued)
      operation.note(.added, in: self)
    }
    return .operation(reference)
  }

  /// Evaluates `isReady` again for operations that their overrides hold back.
  ///
  /// Foundation also evaluates it whenever it searches for an operation to start. Some programs rely on this and post
  /// no change. Headway does it when another operation is added, finishes, or posts that it is ready, and when the
  /// limit or the suspension changes.
  final func reevaluateReadiness(_ heldBack: [Operation]) {
    for operation in heldBack { operation.reconsiderReadiness() }
  }

  /// Pushes an operation or a block to the inbox, without the queue's lock.
  ///
  /// The next thread that takes the lock empties the inbox. Afterward, this function checks whether a thread will empty
  /// the inbox. If not, it empties the inbox.
  ///
  /// - Returns: False if this thread has emptied the inbox.
  private func push(_ addition: Addition) -> Bool {
    let isServed = inbox.push(addition) && servesInbox.load(ordering: .sequentiallyConsistent)
    if !isServed { update { _ in } }
    return isServed
  }

  /// Finishes an operation whose queue was closed while it was being added through the inbox, so that the caller finds
  /// its error when the addition returns.
  ///
  /// Call this after the inbox was emptied. If the queue has accepted the operation, it is in the lists. Another thread
  /// may also be about to reject the operation. The second rejection has no effect.
  private func rejectIfRefused(_ operation: Operation) {
    let word = operation.state.current
    if !word.isListed, word.phase == .pending { reject(operation) }
  }

  /// Adds an operation to the lists under the lock and takes over its ownership.
  private func take(_ reference: OperationReference) {
    let (acceptance, level, heldBack) = update { state in
      let heldBack = state.admission.nextHeldBack()
      return (state.accept(reference), state.qualityOfService.level, heldBack)
    }
    switch acceptance {
    case .accepted: break
    case .ended: return releaseEnded(reference)
    case .rejected: return reject(reference)
    }
    if level > 0 { reference._withUnsafeGuaranteedRef { $0.raiseDependencies(level: level) } }
    reevaluateReadiness(heldBack)
  }

  /// Implements ``addOperations(_:waitUntilFinished:)``.
  final func add(_ operations: [Operation], waitUntilFinished wait: Bool) {
    // Retained once for the queue, and not again at each step.
    var added: [OperationReference] = []
    added.reserveCapacity(operations.count)
    var reevaluated: [Operation] = []
    for position in operations.indices {
      let reference = OperationReference.passRetained(operations[position])
      let isReserved = reference._withUnsafeGuaranteedRef { operation in
        guard reserve(operation) else { return false }
        if enter(operation) { reevaluated.append(operation) }
        return true
      }
      if isReserved { added.append(reference) } else { reference.release() }
    }
    var (refused, rejected): ([OperationReference], [OperationReference]) = ([], [])
    let (level, heldBack) = update { state in
      let heldBack = state.admission.nextHeldBack()
      for reference in added {
        switch state.accept(reference) {
        case .accepted: break
        case .ended: refused.append(reference)
        case .rejected: rejected.append(reference)
        }
      }
      return (state.qualityOfService.level, heldBack)
    }
    for reference in refused { releaseEnded(reference) }
    for reference in rejected { reject(reference) }
    if level > 0 { for operation in operations { operation.raiseDependencies(level: level) } }
    reevaluateReadiness(heldBack)
    reevaluateReadiness(reevaluated)
    guard wait else { return }
    let waitingLevel = ThreadContext.level
    if waitingLevel > 0 { Operation.raise(operations, level: waitingLevel) }
    // Starts with the last operation, because it usually finishes last. A thread that waited for each operation in turn
    // would slow down the threads that run them.
    for position in operations.indices.reversed() where !operations[position].state.current.isNotified {
      operations[position].waitUntilFinished()
    }
    var patience = CompletionPatience()
    // By position, as above: the element of a loop would be retained.
    for position in operations.indices where operations[position].state.current.isLinked {
      patience.wait(for: operations[position])
    }
  }

  /// Implements ``addBarrierBlock(_:)``.
  final func add(barrier: @escaping ThrowingBlock) { add(barrier: BlockOperation.make(barrier)) }

  /// Adds a new operation as a barrier.
  final func takeBarrier(_ operation: BlockOperation) {
    operation.isBarrier = true
    makeOperations()
    guard reserve(operation) else { return }
    _ = enter(operation)
    take(.passRetained(operation))
  }

  /// Releases an operation that ended before it was added.
  private func releaseEnded(_ reference: OperationReference) {
    reference._withUnsafeGuaranteedRef { $0.note(.finishedUnlisted, in: self) }
    reference.release()
  }

  /// Reserves the operation for this queue.
  ///
  /// Returns false if it was cancelled and has finished, or is about to.
  private func reserve(_ operation: Operation) -> Bool {
    guard let refusal = operation.state.reserve() else { return true }
    if refusal.isCancelled, !refusal.isReserved, refusal.phase == .finished || refusal.phase == .starting {
      operation.note(.refused, in: self)
      operation.submitBelatedCompletionBlock(self)
      if refusal.hasFailed { noteRefused(operation) }
      return false
    }
    let reason =
      switch refusal.phase {
      case .pending, .starting: "is in a queue already (or occurs twice in the list)"
      case .executing: "is executing"
      case .finished: "has finished: an operation runs once, make a new one"
      }
    misuse("\(operation) was added to \(label), but it \(reason).")
  }

  /// Returns whether ``addOperation(_:)`` accepts an operation at this moment.
  package static func accepts(_ operation: Operation) -> Bool {
    let word = operation.state.current
    return !word.isReserved && (word.phase == .pending || word.isCancelled && word.phase != .executing)
  }

  /// Sets the queue of the operation.
  ///
  /// The queue's lists must contain the operation only after this, because it can start from there at any moment.
  ///
  /// - Returns: Whether the caller must evaluate `isReady` again once the operation is in the queue. It returned false,
  ///   and may have changed in the meantime without a notification to the queue.
  private func enter(_ operation: Operation) -> Bool {
    operation.queueLinks.home = .passUnretained(self)
    ReturnedMemory.freeNext()
    operation.note(.added, in: self)
    return !operation.isReadyUnasked && operation.evaluateReadinessBeforeAdding()
  }
}

extension OperationQueueProtocol {
  /// Adds a block that can throw as a separate operation.
  ///
  /// A subclass that overrides ``OperationQueue/addOperation(_:)-(Operation)`` receives the operation there.
  ///
  /// - Parameter block: The block to run. If it throws, the operation keeps the error in ``Operation/error``, and the
  ///   queue passes it to ``failureHandler``.
  /// - Complexity: O(1).
  public func addOperation(_ block: @escaping @Sendable () throws -> Void) { add(block) }

  /// Adds a block that can throw, and that starts when every operation added before it has finished.
  ///
  /// Apart from errors, this method works like ``OperationQueue/addBarrierBlock(_:)``. It does not call an override of
  /// that method.
  ///
  /// - Parameter barrier: The block to run. If it throws, its operation keeps the error, and the queue passes it to
  ///   ``failureHandler``.
  /// - Complexity: O(*n*) in the number of waiting blocks that have no operation yet.
  public func addBarrierBlock(_ barrier: @escaping @Sendable () throws -> Void) { add(barrier: barrier) }
}
