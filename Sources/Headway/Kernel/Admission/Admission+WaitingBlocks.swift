/// Blocks that get their operations later.
///
/// These blocks are ready, have normal priority, and belong to the first segment and to the class of the queue. A block
/// starts after the ready operations that have a higher priority or were added earlier, so it needs no operation before
/// its turn: see ``makeOperationsIfNext()``.
extension Admission {
  /// How many operations are created at a time.
  static let mostMade = Batch.capacity

  /// Adds a block that gets its operation later.
  ///
  /// - Returns: False if the queue needs the operation now. In that case, the caller still owns the block.
  mutating func add(_ block: UnsafeMutablePointer<AddedBlock>) -> Bool {
    guard order == .priority, later.isEmpty, !awaitedClass.isMoreUrgent(than: placement.ownClass) else { return false }
    if waitingBlocks.isEmpty { beginWaiting() }
    waitingBlocks.append(block, sequence: nextSequence)
    nextSequence += 1
    first.unfinished += 1
    if awaitedClass != .background { waitingBlocks.raise(to: awaitedClass, before: nextSequence) }
    return true
  }

  /// Prepares for the first waiting block.
  ///
  /// A batch that begins while blocks wait takes no less urgent operations of their class and does not continue.
  private mutating func beginWaiting() {
    members.beginInserting()
    batches.forEach { $0.stopContinuing() }
    reclaimBatches(lessUrgentThan: QueuePriority.normal.level)
  }

  /// Creates operations for the first waiting blocks, if the first block precedes all ready operations.
  ///
  /// Called before the next operation is taken from the ready ones.
  @inline(__always)
  mutating func makeOperationsIfNext() {
    if !waitingBlocks.isEmpty, isBlockNext { makeOperations(atMost: Self.mostMade) }
  }

  private var isBlockNext: Bool { waitingBlocks.firstSequence.map { $0 < endOfNextBlocks } ?? false }

  /// Blocks with lower numbers precede all ready operations.
  private var endOfNextBlocks: UInt64 {
    guard let (operation, level) = first.ready.first(placement.ownClass) else { return .max }
    let normal = QueuePriority.normal.level
    return level < normal ? .max : level == normal ? operation.turn : 0
  }

  /// Makes operations of the first waiting blocks and adds them to the ready ones.
  mutating func makeOperations(atMost count: Int = .max) {
    var made = 0
    while made < count, !waitingBlocks.isEmpty {
      made += 1
      let reference = waitingBlocks.popFirst()
      members.insert(reference, before: waitingBlocks.firstSequence)
      reference._withUnsafeGuaranteedRef { operation in
        operation.admission.place = .ready
        operation.admission.workerClass = placement.ownClass
        first.ready.insert(operation, level: QueuePriority.normal.level)
        let raised = waitingBlocks.raisedClass(of: operation.queueLinks.sequence)
        if raised != .background { raise(operation, to: raised) }
      }
    }
  }

  /// Moves the first waiting blocks into a batch, if no operation precedes them.
  ///
  /// Does so only if the queue has no limit, the batch has the class of the queue, and the first block was not raised.
  /// Otherwise, the operations must be in the queue's lists first. The thread of the batch holds the lock and has
  /// usually just run the operations that are reused.
  mutating func takeBlocks(into batch: Batch, atMost most: Int) {
    guard limit == .max, batch.workerClass == placement.ownClass, !waitingBlocks.isRaised else { return }
    let (count, end) = (batch.count, endOfNextBlocks)
    while batch.count < most, let sequence = waitingBlocks.firstSequence, sequence < end {
      let reference = waitingBlocks.popFirst()
      reference._withUnsafeGuaranteedRef { $0.admission.place = .taken }
      batch.append(reference, level: QueuePriority.normal.level)
    }
    members.noteTaken(batch.count - count, before: waitingBlocks.firstSequence)
  }

  /// Removes all blocks that have no operations, because they are cancelled.
  ///
  /// - Returns: The blocks, or nil if there are none.
  mutating func takeAllBlocks() -> CancelledBlocks? {
    guard !waitingBlocks.isEmpty else { return nil }
    assert(first.barrier == nil, "a block without an operation is before a barrier")
    first.unfinished -= waitingBlocks.count
    members.endInserting()
    return CancelledBlocks(taking: &waitingBlocks)
  }

  /// How many operations and waiting blocks workers of a class could start, as far as the limits allow it.
  @inline(__always)
  func readyCount(_ workerClass: WorkerClass) -> Int {
    first.ready.count(workerClass) + (workerClass == placement.ownClass ? waitingBlocks.count : 0)
  }

  /// How many operations and waiting blocks have this class or a less urgent class.
  func readyCount(downFrom workerClass: WorkerClass) -> Int {
    let includesBlocks = !placement.ownClass.isMoreUrgent(than: workerClass)
    return first.ready.count(downFrom: workerClass) + (includesBlocks ? waitingBlocks.count : 0)
  }
}
