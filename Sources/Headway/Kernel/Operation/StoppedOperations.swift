/// The operations of a queue and of its groups that are about to be cancelled.
///
/// Stopping them takes three steps, so that no lock is held for a long time, even if there are many operations:
///
/// 1. Each queue is held: none of its operations starts until the last step. Operations that threads have taken can
///    begin without a lock, so they are stopped in the same critical section.
/// 2. The other operations are stopped, at most ``mostAtOnce`` in one critical section.
/// 3. The queues are released.
///
/// Until then, no user code is called and no user object is released, because both could wait for an operation that is
/// held.
///
/// `Models/queue.pml` (`Stopper`) shows that none of these operations starts, and that no other operation is lost.
struct StoppedOperations {
  /// How many operations are stopped in one critical section.
  static let mostAtOnce = 256

  /// The treatment of an operation that has not started.
  enum Way {
    /// Cancel it, unless its class overrides ``Operation/cancel()``.
    case cancel
    /// Only stop it.
    case mark
  }

  /// An operation of the queue that has to be cancelled.
  struct Item {
    let operation: Operation
    /// Nil if its class overrides ``Operation/cancel()``.
    ///
    /// Otherwise, the steps that run no user code are done, and this is the word before them.
    let before: OperationWord?
  }

  /// The operations of the queue, except jobs of tasks, in insertion order.
  private(set) var operations: [Operation] = []
  /// The operations that must still be cancelled, in insertion order.
  ///
  /// Used only with ``Way/cancel``.
  private(set) var items: [Item] = []
  /// Blocks without operations that have left the queue.
  private var blocks: CancelledBlocks?
  /// All operations that this call has stopped, including the operations in groups, once for each time.
  private var marked: [Operation] = []

  var blockCount: Int { blocks?.count ?? 0 }

  /// Stops the operations of a queue and of its groups.
  ///
  /// - Parameters:
  ///   - queue: The queue whose operations are stopped.
  ///   - way: How to treat the operations of the queue. Those in groups are marked.
  ///   - takesBlocks: Whether to remove blocks that have no operations, if the queue has no listeners.
  ///   - effects: Receives the steps that can run user code.
  mutating func stop(
    _ queue: OperationQueue, _ way: Way, takingBlocks takesBlocks: Bool, leaving effects: inout Effects
  ) {
    operations = stopAll(queue, way, takingBlocks: takesBlocks, leaving: &effects)
  }

  /// Stops an operation or, if it is a group that has started, the operations in it.
  ///
  /// - Parameters:
  ///   - operation: The operation or group to stop.
  ///   - effects: Receives the steps that can run user code.
  mutating func stop(_ operation: Operation, leaving effects: inout Effects) {
    if operation.isCancellable, operation.state.stop() { marked.append(operation) }
    guard let queue = operation.queueOfParts else { return }
    _ = stopAll(queue, .mark, takingBlocks: false, leaving: &effects)
  }

  /// Performs the remaining steps.
  ///
  /// Called after the operations have been cancelled, with no lock held.
  func finish() {
    for operation in marked { operation.dependencyFinished() }
    guard let blocks else { return }
    // On another thread, because the calling thread might hold something that the release of a user object waits for.
    WorkerPool.shared.submit(PoolBlock { blocks.release() }, count: 1)
  }

  // MARK: Steps

  /// A queue that is held.
  struct Held {
    let queue: OperationQueue
    fileprivate let update: OperationQueue.PostponedUpdate
    fileprivate var slices = MemberSlices()
    /// The number of the first operation that was added later.
    fileprivate var end: UInt64 = 0
  }

  /// Stops the operations of a queue and of its groups.
  ///
  /// - Returns: The operations of the queue, except jobs of tasks, in insertion order.
  private mutating func stopAll(
    _ queue: OperationQueue, _ way: Way, takingBlocks takesBlocks: Bool, leaving effects: inout Effects
  ) -> [Operation] {
    var held: [Held] = []
    PoolManager.performIfLow {
      held.append(hold(queue, way, takingBlocks: takesBlocks))
      var position = 0
      while position < held.count {
        let way = position == 0 ? way : .mark
        var groups: [OperationQueue]? = held[position].slices.others.compactMap(\.queueOfParts)
        while let queues = groups {
          // Running groups are held before more operations are stopped.
          for queue in queues { held.append(hold(queue, .mark, takingBlocks: false)) }
          groups = stopNext(in: &held[position], way)
        }
        position += 1
      }
    }
    for held in held { release(held, leaving: &effects) }
    for held in held { held.update.finish(leaving: &effects) }
    let slices = held[0].slices
    guard !slices.others.isEmpty else { return slices.operations.filter(\.isCancellable) }
    items.sort { $0.operation.queueLinks.sequence < $1.operation.queueLinks.sequence }
    return (slices.others + slices.operations).filter(\.isCancellable)
      .sorted { $0.queueLinks.sequence < $1.queueLinks.sequence }
  }

  /// Holds a queue and stops the operations that are or were in batches.
  ///
  /// ``release(_:leaving:)`` must follow.
  mutating func hold(_ queue: OperationQueue, _ way: Way, takingBlocks takesBlocks: Bool) -> Held {
    var (slices, end) = (MemberSlices(), UInt64(0))
    let update = queue.postponingUpdate { state in
      state.admission.stopCount += 1
      if takesBlocks, !state.followers.contains(.events) { blocks = state.admission.takeAllBlocks() }
      end = state.admission.nextSequence
      slices.appendOthers(from: state.admission.members, state.admission.batches)
      for operation in slices.others { stop(operation, way, in: &state.admission) }
    }
    return Held(queue: queue, update: update, slices: slices, end: end)
  }

  /// Allows operations of a queue that are not stopped to start, unless another call also holds the queue.
  func release(_ held: Held, leaving effects: inout Effects) {
    held.queue.update(collectingBatches: true, leaving: &effects) { $0.admission.stopCount -= 1 }
  }

  /// Stops the next operations of a queue that is held.
  ///
  /// - Returns: The queues of groups among them; nil at the end.
  mutating func stopNext(in held: inout Held, _ way: Way) -> [OperationQueue]? {
    let count = Self.mostAtOnce
    // Before the lock is acquired, because moving a long list takes milliseconds.
    held.slices.reserveCapacity(forNext: count)
    items.reserveCapacity(forNext: count)
    marked.reserveCapacity(forNext: count)
    let start = held.slices.operations.count
    held.queue.state.withLock { state in
      if let first = state.admission.waitingBlocks.firstSequence, first < held.end {
        state.admission.makeOperations(atMost: count)
      }
      _ = held.slices.appendNext(from: state.admission.members, atMost: count, before: held.end)
      for operation in held.slices.operations[start...] { stop(operation, way, in: &state.admission) }
    }
    let stopped = held.slices.operations[start...]
    return stopped.isEmpty ? nil : stopped.compactMap(\.queueOfParts)
  }

  /// Stops an operation, under the lock of its queue.
  private mutating func stop(_ operation: Operation, _ way: Way, in admission: inout Admission) {
    guard operation.isCancellable else { return }
    switch way {
    case .mark:
      if admission.stop(operation) { marked.append(operation) }
    case .cancel where operation.overridesCancel:
      if admission.stop(operation) { marked.append(operation) }
      items.append(Item(operation: operation, before: nil))
    case .cancel:
      if operation.isPlainBlock, operation.state.cancelPlainly() {
        admission.leave(operation)
      } else if let before = operation.state.cancel() {
        if before.phase == .pending { admission.leave(operation) }
        items.append(Item(operation: operation, before: before))
      }
    }
  }
}

extension Array {
  /// Makes room for the next elements, so that appending them moves nothing.
  fileprivate mutating func reserveCapacity(forNext count: Int) {
    if self.count + count > capacity { reserveCapacity(Swift.max(self.count + count, 2 * capacity)) }
  }
}
