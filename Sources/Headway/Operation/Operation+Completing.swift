/// A completion block.
///
/// In a structure, since generic code, as that of optionals is, would wrap a block in another one at each step.
struct CompletionBlock: Sendable {
  let run: @Sendable () -> Void

  init?(_ block: (@Sendable () -> Void)?) {
    guard let block else { return nil }
    run = block
  }
}

extension Operation {
  /// The implementation of ``completionBlock``.
  final var completionBlockIfAny: (@Sendable () -> Void)? { links.withLock { $0.details?.completionBlock }?.run }

  /// The implementation of ``completionBlock``.
  final func setCompletionBlock(_ block: (@Sendable () -> Void)?) {
    var block = CompletionBlock(block)
    links.withLock { links in
      guard block != nil || links.details != nil else { return }
      // After the end it would never be called, and keep for good what it captures; unless a queue still comes.
      let word = state.announceLink()
      guard word.phase != .finished || word.endedInNoQueue else { return }
      swap(&links.madeDetails.completionBlock, &block)
    }
    // The old block is released after the lock: that may run code of its owner's.
    block = nil
    notifyIfObserved([ObservedChange(.completionBlock)])
  }

  /// The operation was cancelled in no queue, and so has finished, and is given to a queue now, or started by hand:
  /// what was set as its completion block meanwhile runs.
  final func submitBelatedCompletionBlock(_ queue: OperationQueue?) {
    let block = links.withLock { links -> CompletionBlock? in
      guard state.current.phase == .finished else { return nil }
      return links.details?.completionBlock.take()
    }
    submitCompletionBlock(block, queue)
  }

  /// Sends the completion block of an operation that has ended to the pool.
  final func submitCompletionBlock(_ block: CompletionBlock?, _ queue: OperationQueue?) {
    guard let block else { return }
    let (executor, placement) =
      queue?.state.withLock { ($0.executor, $0.admission.placement) } ?? (
        nil, Placement(quality: .default, hasClasses: true)
      )
    submitCompletionBlock(block, queue, executor, placement)
  }

  /// Sends the completion block of an operation that has ended to what runs its queue, or else to the pool.
  final func submitCompletionBlock(
    _ block: CompletionBlock, _ queue: OperationQueue?, _ executor: (any WorkExecutor)?,
    _ placement: Placement
  ) {
    let work = PoolBlock(for: queue) { self.runCompletionBlock(block) }
    guard let executor else { return WorkerPool.pool(of: placement.workerClass(of: self)).submit(work, count: 1) }
    executor.submit(work, count: 1)
  }

  /// Runs the completion block, and then releases the dependencies, which it may ask for.
  ///
  /// What the block captures is released here, where the caller holds nothing.
  final func runCompletionBlock(_ block: consuming CompletionBlock) {
    block.run()
    _ = consume block
    ReleasedChain.release(takeDependencies())
  }
}
