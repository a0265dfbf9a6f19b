/// A block that is being added to a queue, and that has no operation yet.
///
/// It is in the inbox, or is about to be accepted by the queue.
struct AddedBlock {
  private static let memory = RecycledMemory(of: AddedBlock.self)

  /// The word of the next addition in the inbox: see ``Addition/next``.
  var next: UInt = 0
  let home: Unmanaged<OperationQueue>
  var block: BlockOperation.FirstBlock

  /// Creates a block that the caller owns.
  ///
  /// - Parameters:
  ///   - block: The function to run.
  ///   - queue: The queue that it is being added to.
  /// - Returns: The block, which the caller must free.
  static func make(_ block: @escaping ThrowingBlock, in queue: OperationQueue) -> UnsafeMutablePointer<AddedBlock> {
    let made = memory.take()
    made.initialize(to: AddedBlock(home: .passUnretained(queue), block: BlockOperation.FirstBlock(run: block)))
    return made
  }

  /// Frees a block whose function was exchanged for an empty one, which owns nothing.
  static func free(_ added: UnsafeMutablePointer<AddedBlock>) { memory.give(added) }

  /// Creates the operation of a block and frees the block.
  ///
  /// Runs no user code, so it can be called under the queue's lock.
  ///
  /// - Returns: The operation, which is not in the queue's lists, and which the caller owns. No other thread has a
  ///   reference to it.
  static func makeOperation(of added: UnsafeMutablePointer<AddedBlock>, isEnqueued: Bool) -> OperationReference {
    let operation = BlockOperation.make(&added.pointee.block, home: added.pointee.home)
    operation._withUnsafeGuaranteedRef { $0.state.reserveUnshared(isEnqueued: isEnqueued) }
    free(added)
    return operation
  }
}

extension BlockOperation {
  /// Creates an operation for a block that was added to a queue, or reuses an operation that has ended.
  ///
  /// - Parameters:
  ///   - block: The block to run. Afterward, it is an empty one.
  ///   - home: The queue that the block was added to.
  ///   - sequence: The number of the operation in the queue.
  /// - Returns: The operation, which the caller owns. No other thread has a reference to it.
  @inline(__always)
  static func make(
    _ block: inout FirstBlock, home: Unmanaged<OperationQueue>, sequence: UInt64 = 0
  ) -> OperationReference {
    let reference = RecycledOperations.take() ?? .passRetained(BlockOperation())
    reference._withUnsafeGuaranteedRef { operation in
      operation.queueLinks = QueueLinks(home: home, sequence: sequence)
      operation.admission = AdmissionRecord()
      unsafeDowncast(operation, to: BlockOperation.self).exchangeFirst(with: &block)
    }
    return reference
  }
}
