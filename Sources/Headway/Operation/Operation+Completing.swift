import Synchronization

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

/// The completion block of an operation, until it has run.
enum Completion: Sendable {
  /// There is none, or it has run.
  case none
  /// It waits for the end of the operation.
  case block(CompletionBlock)
  /// The operation has ended, and the block has been taken for running, and has not returned.
  case due

  var block: CompletionBlock? { if case .block(let block) = self { block } else { nil } }

  var isDue: Bool { if case .due = self { true } else { false } }

  /// Takes the block for running.
  mutating func take() -> CompletionBlock? {
    guard let block else { return nil }
    self = .due
    return block
  }

  /// The block that was taken has returned.
  mutating func noteReturn() { if isDue { self = .none } }
}

extension OperationQueue {
  /// An operation is about to leave that may have a completion block; ``endCompletion()`` follows.
  final func beginCompletion() { dueCompletions.add(1, ordering: .relaxed) }

  /// The completion block has returned, or there was none.
  final func endCompletion() {
    let before = dueCompletions.subtract(1, ordering: .releasing).oldValue
    assert(before > 0, "more completion blocks have returned than were due")
  }
}

extension Operation {
  /// The implementation of ``completionBlock``.
  final var completionBlockIfAny: (@Sendable () -> Void)? { links.withLock { $0.details?.completion.block }?.run }

  /// The implementation of ``completionBlock``.
  final func setCompletionBlock(_ block: (@Sendable () -> Void)?) {
    var completion = CompletionBlock(block).map(Completion.block) ?? .none
    links.withLock { links in
      guard block != nil || links.details != nil else { return }
      // After the end it would never be called, and keep for good what it captures; unless a queue still comes.
      let word = state.announceLink()
      guard word.phase != .finished || word.endedInNoQueue else { return }
      swap(&links.detailsCreatedIfNeeded.completion, &completion)
    }
    // The old block is released after the lock: that may run code of its owner's.
    completion = .none
    notifyIfObserved([ObservedChange(.completionBlock)])
  }

  /// The operation was cancelled in no queue, and so has finished, and is given to a queue now, or started by hand:
  /// what was set as its completion block meanwhile runs.
  final func submitBelatedCompletionBlock(_ queue: OperationQueue?) {
    let block = links.withLock { links -> CompletionBlock? in
      guard state.current.phase == .finished else { return nil }
      return links.details?.completion.take()
    }
    guard let block = consume block else { return }
    queue?.beginCompletion()
    submitCompletionBlock(consume block, queue)
  }

  /// Sends the completion block of an operation that has ended to the pool.
  ///
  /// The calling thread keeps no reference to the block, so what it captures is released where it has run.
  final func submitCompletionBlock(_ block: consuming CompletionBlock, _ queue: OperationQueue?) {
    let (executor, placement) =
      queue?.state.withLock { ($0.executor, $0.admission.placement) } ?? (
        nil, Placement(quality: .default, hasClasses: true)
      )
    submitCompletionBlock(consume block, queue, executor, placement)
  }

  /// Sends the completion block of an operation that has ended to what runs its queue, or else to the pool.
  ///
  /// The calling thread keeps no reference to the block.
  final func submitCompletionBlock(
    _ block: consuming CompletionBlock, _ queue: OperationQueue?, _ executor: (any WorkExecutor)?,
    _ placement: Placement
  ) {
    let work = PoolBlock(for: queue) { [block = consume block] in self.runCompletionBlock(block, queue) }
    guard let executor else { return WorkerPool.pool(of: placement.workerClass(of: self)).submit(work, count: 1) }
    executor.submit(work, count: 1)
  }

  /// Runs the completion block, and then releases the dependencies, which it may ask for.
  ///
  /// - Parameters:
  ///   - block: The block.
  ///   - queue: The queue that the operation has left, which counts the block.
  final func runCompletionBlock(_ block: CompletionBlock, _ queue: OperationQueue?) {
    block.run()
    links.withLock { $0.details?.completion.noteReturn() }
    queue?.endCompletion()
    ReleasedChain.release(takeDependencies())
  }
}
