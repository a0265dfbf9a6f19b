/// Cancels several operations, so that none of those that have not started starts in the meantime.
///
/// Cancelling an operation can run user code, and can end an operation, which makes room for another one. So before the
/// first user code runs, all of the operations are either cancelled or *stopped*. An operation is stopped if its class
/// overrides ``Operation/cancel()``: the override must find it as usual, not cancelled. The operations of a group are
/// stopped as well, because the group cancels them. A stopped operation has a pending cancellation, as if a required
/// dependency had failed. It can start again if an override has not cancelled it.
extension Operation {
  /// Cancels operations together.
  package static func cancel(together operations: [Operation]) {
    var effects = Effects()
    var stopped: [Operation] = []
    for operation in operations { operation.stop(&stopped, leaving: &effects) }
    effects.perform()
    for operation in operations { operation.cancel() }
    resumeUncancelled(stopped)
  }

  /// Keeps the operation from starting until it is cancelled, or the operations in it, if it is a group that has
  /// started.
  ///
  /// - Parameters:
  ///   - stopped: Receives the operations.
  ///   - effects: Receives the steps that can run user code.
  private final func stop(_ stopped: inout [Operation], leaving effects: inout Effects) {
    if isCancellable, state.markPendingCancellation() { stopped.append(self) }
    OperationQueue.stopGroups(among: CollectionOfOne(self), &stopped, leaving: &effects)
  }

  /// Lets the operations start that were stopped, and that no code has cancelled.
  fileprivate static func resumeUncancelled(_ stopped: [Operation]) {
    for operation in stopped {
      guard let word = operation.state.withdrawPendingCancellation(), word.isReady else { continue }
      operation.lastDependencyFinished()
    }
  }
}

extension OperationQueue {
  /// The operations of a queue that are about to be cancelled.
  struct Stopped {
    /// The operations of the queue, except jobs of tasks.
    fileprivate(set) var operations: [Operation] = []
    /// The blocks that had no operations, and have left the queue.
    fileprivate(set) var blocks: CancelledBlocks?
    /// All operations that were stopped, including those in groups.
    fileprivate var stopped: [Operation] = []

    var blockCount: Int { blocks?.count ?? 0 }

    /// Performs the remaining steps.
    ///
    /// Called after the operations have been cancelled, with no lock held.
    func finish() {
      Operation.resumeUncancelled(stopped)
      guard let blocks else { return }
      // On another thread: the calling thread may hold something that the release of a user object waits for.
      WorkerPool.shared.submit(PoolBlock { blocks.release() }, count: 1)
    }
  }

  /// Implements ``cancelAllOperations()``.
  final func cancelAll() {
    // The operations to cancel, in the order of adding. If the word is nil, its class overrides `cancel()`. Otherwise,
    // the steps that run no user code are done, and it is the word before them.
    var items: [(operation: Operation, before: OperationWord?)] = []
    var effects = Effects()
    let stopped = stop(leaving: &effects) { admission, operation in
      guard !operation.overridesCancel else {
        items.append((operation, nil))
        return admission.stop(operation)
      }
      if operation.isPlainBlock, operation.state.cancelPlainly() {
        admission.leave(operation)
      } else if let before = operation.state.cancel() {
        if before.phase == .pending { admission.leave(operation) }
        items.append((operation, before))
      }
      return false
    }
    for (operation, before) in items where before != nil { operation.cancelWork() }
    effects.perform()
    for (operation, before) in items {
      if let before { operation.continueCancelling(from: before) } else { operation.cancel() }
    }
    stopped.finish()
  }

  /// Keeps all operations of the queue that have not started from starting, and those in its groups.
  ///
  /// They are then cancelled, and ``Stopped/finish()`` is called. Blocks without operations leave the queue.
  ///
  /// - Parameter effects: Receives the steps that can run user code.
  /// - Returns: The operations.
  final func stop(leaving effects: inout Effects) -> Stopped {
    stop(leaving: &effects) { admission, operation in admission.stop(operation) }
  }

  /// Stops the operations of the queue in one step, and those in its groups.
  ///
  /// - Parameters:
  ///   - effects: Receives the steps that can run user code.
  ///   - stop: Stops or cancels an operation, under the queue's lock, and returns whether it has stopped it.
  /// - Returns: The operations.
  private func stop(
    leaving effects: inout Effects, _ stop: (inout Admission, Operation) -> Bool
  ) -> Stopped {
    // The progress counts each block, and a trace contains it. The queue of a group or a scope has no such blocks, and
    // its observers must not be notified before its operations are cancelled.
    let needsOperations = trackedProgress != nil || Trace.isRecording
    if needsOperations, type(of: self) == OperationQueue.self { makeOperations() }
    var stopped = update(collectingBatches: true, leaving: &effects) { state in
      var stopped = Stopped()
      if !needsOperations, state.observation.listeners == 0 { stopped.blocks = state.admission.takeAllBlocks() }
      stopped.operations = state.admission.operations.filter(\.isCancellable)
      state.admission.reclaimBatches()
      for operation in stopped.operations where stop(&state.admission, operation) { stopped.stopped.append(operation) }
      return stopped
    }
    Self.stopGroups(among: stopped.operations, &stopped.stopped, leaving: &effects)
    return stopped
  }

  /// Stops the operations in groups, and in the groups in these.
  fileprivate static func stopGroups(
    among operations: some Sequence<Operation>, _ stopped: inout [Operation], leaving effects: inout Effects
  ) {
    var queues = operations.compactMap(\.queueOfParts)
    while let queue = queues.popLast() {
      let members = queue.update(collectingBatches: true, leaving: &effects) { state in
        let members = state.admission.operations.filter(\.isCancellable)
        state.admission.reclaimBatches()
        for operation in members where state.admission.stop(operation) { stopped.append(operation) }
        return members
      }
      queues += members.compactMap(\.queueOfParts)
    }
  }
}

extension Admission {
  /// Keeps an operation that has not started from starting, because it is about to be cancelled.
  ///
  /// - Returns: False if it has started, or is already about to be cancelled.
  fileprivate mutating func stop(_ operation: Operation) -> Bool {
    guard operation.state.markPendingCancellation() else { return false }
    // Workers do not search for it.
    if operation.admission.place == .ready {
      removeReady(operation)
      operation.admission.place = .waiting
    }
    return true
  }
}
