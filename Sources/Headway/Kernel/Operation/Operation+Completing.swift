import Synchronization

/// A completion block.
///
/// A structure, because generic code (of optionals) would wrap a block in another block at each step.
struct CompletionBlock: Sendable {
  let run: @Sendable () -> Void

  init?(_ block: (@Sendable () -> Void)?) {
    guard let block else { return nil }
    run = block
  }
}

extension OperationQueue {
  /// Counts an operation that is about to leave the queue and may have a completion block; ``endCompletion()`` follows.
  final func beginCompletion() { dueCompletions.add(1, ordering: .relaxed) }

  /// Notes that the completion block has returned, or that there was none.
  final func endCompletion() {
    let before = dueCompletions.subtract(1, ordering: .releasing).oldValue
    assert(before > 0, "more completion blocks have returned than were due")
  }
}

extension Operation {
  // The thread that finishes the operation takes the block out under the lock of the links. If no link was announced,
  // the thread of a batch takes it out without the lock. The first thread that sets a block stores it, then announces
  // only that there is a block. Any other thread that uses the block first announces a link under the lock. It uses the
  // block only if the operation had not ended by then (`Models/completion.pml`).

  /// Implements the getter of ``completionBlock``.
  final var completionBlockIfAny: (@Sendable () -> Void)? {
    links.withLock { links -> CompletionBlock? in
      guard let details = links.details, state.announceLink().keepsCompletionBlock else { return nil }
      return details.pointee.completionBlock
    }?.run
  }

  /// Implements the setter of ``completionBlock``.
  final func setCompletionBlock(_ block: (@Sendable () -> Void)?) {
    var block = CompletionBlock(block)
    links.withLock { links in
      guard block != nil || links.details != nil else { return }
      let word = state.current
      let isFirst = !word.isLinked
      // After the operation has ended, the block would never be called, and would keep the objects that it captures
      // forever. The exception is an operation that may still be added to a queue.
      guard (isFirst ? word : state.announceLink()).keepsCompletionBlock else { return }
      let details = links.detailsCreatedIfNeeded
      swap(&details.pointee.completionBlock, &block)
      if isFirst, !state.announceCompletionBlock().keepsCompletionBlock {
        return swap(&details.pointee.completionBlock, &block)
      }
      if word.phase != .finished {
        details.pointee.completionIsDue.store(details.pointee.completionBlock != nil, ordering: .relaxed)
      }
    }
    // The old block is released after the lock, because that can run user code.
    block = nil
    notifyIfObserved([ObservedChange(.completionBlock)])
  }

  /// Runs the completion block that was set after the operation was cancelled in no queue, and so finished.
  ///
  /// Called when the operation is then added to a queue or started manually.
  final func submitBelatedCompletionBlock(_ queue: OperationQueue?) {
    let block = links.withLock { links -> CompletionBlock? in
      guard state.current.phase == .finished, let details = links.details, details.pointee.completionBlock != nil
      else { return nil }
      details.pointee.completionIsDue.store(true, ordering: .relaxed)
      return details.pointee.completionBlock.take()
    }
    guard let block = consume block else { return }
    queue?.beginCompletion()
    submitCompletionBlock(consume block, queue)
  }

  /// Submits the completion block of an operation that has ended to the pool.
  ///
  /// The calling thread keeps no reference to the block, so the objects that it captures are released where it has run.
  final func submitCompletionBlock(_ block: consuming CompletionBlock, _ queue: OperationQueue?) {
    let (executor, placement) =
      queue?.state.withLock { ($0.executor, $0.admission.placement) } ?? (
        nil, Placement(quality: .default, hasClasses: true)
      )
    submitCompletionBlock(consume block, queue, executor, placement)
  }

  /// Submits the completion block of an operation that has ended in a batch, on the thread of the batch.
  final func submitCompletionBlock(_ block: consuming CompletionBlock, in batch: Batch) {
    let queue = batch.home?.takeUnretainedValue()
    queue?.beginCompletion()
    submitCompletionBlock(consume block, queue, batch.executor, batch.placement)
  }

  /// Submits the completion block of an operation that has ended to the executor of its queue, or to the pool.
  ///
  /// The calling thread keeps no reference to the block.
  private func submitCompletionBlock(
    _ block: consuming CompletionBlock, _ queue: OperationQueue?, _ executor: (any WorkExecutor)?,
    _ placement: Placement
  ) {
    let work = PoolBlock(for: queue) { [block = consume block] in self.runCompletionBlock(block, queue) }
    guard let executor else { return WorkerPool.pool(of: placement.workerClass(of: self)).submit(work, count: 1) }
    executor.submit(work, count: 1)
  }

  /// Runs the completion block, which can read the dependencies.
  ///
  /// - Parameters:
  ///   - block: The completion block to run.
  ///   - queue: The queue that counts the block, if there is one.
  final func runCompletionBlock(_ block: CompletionBlock, _ queue: OperationQueue?) {
    block.run()
    OperationLayout.details(of: OperationReference(self)).pointee.completionIsDue.store(false, ordering: .releasing)
    queue?.endCompletion()
    releaseDependencies(readBy: .completionBlock)
  }
}
