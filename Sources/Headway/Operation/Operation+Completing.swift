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

/// The completion block of an operation, until it has run.
enum Completion: Sendable {
  /// There is no block, or it has run.
  case none
  /// The block will run when the operation has finished.
  case block(CompletionBlock)
  /// The operation has ended.
  ///
  /// The block has been taken out to run, and has not returned.
  case due

  var block: CompletionBlock? { if case .block(let block) = self { block } else { nil } }

  var isDue: Bool { if case .due = self { true } else { false } }

  /// Takes the block out to run it.
  mutating func take() -> CompletionBlock? {
    guard let block else { return nil }
    self = .due
    return block
  }

  /// Notes that the block, which was taken out, has returned.
  mutating func noteReturn() { if isDue { self = .none } }
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
  /// Implements the getter of ``completionBlock``.
  final var completionBlockIfAny: (@Sendable () -> Void)? { links.withLock { $0.details?.completion.block }?.run }

  /// Implements the setter of ``completionBlock``.
  final func setCompletionBlock(_ block: (@Sendable () -> Void)?) {
    var completion = CompletionBlock(block).map(Completion.block) ?? .none
    links.withLock { links in
      guard block != nil || links.details != nil else { return }
      // After the operation has ended, the block would never be called, and would keep the objects that it captures
      // forever. The exception is an operation that may still be added to a queue.
      let word = state.announceLink()
      guard word.phase != .finished || word.endedInNoQueue else { return }
      swap(&links.detailsCreatedIfNeeded.completion, &completion)
    }
    // The old block is released after the lock, because that can run user code.
    completion = .none
    notifyIfObserved([ObservedChange(.completionBlock)])
  }

  /// Runs the completion block that was set after the operation was cancelled in no queue, and so finished.
  ///
  /// Called when the operation is then added to a queue or started manually.
  final func submitBelatedCompletionBlock(_ queue: OperationQueue?) {
    let block = links.withLock { links -> CompletionBlock? in
      guard state.current.phase == .finished else { return nil }
      return links.details?.completion.take()
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

  /// Submits the completion block of an operation that has ended to the executor of its queue, or to the pool.
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

  /// Runs the completion block, and then releases the dependencies, which the block can read.
  ///
  /// - Parameters:
  ///   - block: The completion block.
  ///   - queue: The queue that the operation has left. It counts the block.
  final func runCompletionBlock(_ block: CompletionBlock, _ queue: OperationQueue?) {
    block.run()
    links.withLock { $0.details?.completion.noteReturn() }
    queue?.endCompletion()
    ReleasedChain.release(takeDependencies())
  }
}
