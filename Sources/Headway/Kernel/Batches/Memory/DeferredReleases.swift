/// Operations that a batch's thread must release later, or whose memory it must hand over later.
///
/// Belongs to that thread.
///
/// Code that runs when an operation is freed runs before the next operation begins, because the next operation may wait
/// for it. Memory alone is handed over for all operations of a batch together. Freeing it between operations, one by
/// one, adds half the cost of an operation without work if another thread allocates at the same time, because of
/// glibc's lock of its arena (`Benchmarks/README.md`).
///
/// See `Docs/decisions/0017-batches-own.md`.
struct DeferredReleases: ~Copyable {
  /// Operations to release before the thread runs another operation, while it holds neither a lock nor a slot that
  /// other threads need.
  ///
  /// Releasing them can run user code.
  private var operations: [OperationReference] = []
  /// The last operation that the thread has run.
  ///
  /// Its work must be released first, and then the operation itself.
  private var last: OperationReference?
  /// Operations whose release only frees memory.
  ///
  /// Holds the operations of one batch, and the last one of the previous batch.
  private let plain = UnsafeMutablePointer<OperationReference>.allocate(capacity: Batch.capacity + 1)
  private var plainCount = 0
  /// The memory of operations that were released.
  private var returned = ReturnedMemory.Chain()

  deinit {
    plain.deallocate()
    var returned = returned
    returned.giveAway(atLeast: 1)
  }

  /// Whether no deferred release can run user code.
  var isEmpty: Bool { operations.isEmpty && last == nil }

  /// Whether there are deferred releases that can run user code, in addition to the last operation's.
  var hasOthers: Bool { !operations.isEmpty }

  /// Whether there is only a last operation, and only the release of its work can run user code.
  var isOnlyWork: Bool {
    guard operations.isEmpty, let last else { return false }
    return last._withUnsafeGuaranteedRef { !$0.runsUserCodeWhenFreed }
  }

  /// Takes over one ownership of an operation.
  mutating func append(_ operation: OperationReference) { operations.append(operation) }

  /// Takes over the ownership of the last operation that the thread has run.
  mutating func append(last operation: OperationReference) {
    assert(last == nil, "a batch has one last operation")
    last = operation
  }

  /// Removes and returns the last operation.
  mutating func takeLast() -> OperationReference? { last.take() }

  /// Takes over the ownership of an operation that the thread took and that has finished.
  ///
  /// Its release runs no user code.
  mutating func append(plain operation: OperationReference) {
    plain[plainCount] = operation
    plainCount += 1
  }

  /// Releases a finished operation that the thread took, without freeing its memory.
  mutating func release(_ operation: OperationReference) { returned.release(operation) }

  /// Recycles operations whose release runs no user code, or hands over their memory.
  ///
  /// Also hands over the memory of operations that were released.
  ///
  /// Called between two batches.
  mutating func releaseMemory() {
    RecycledOperations.give(UnsafeBufferPointer(start: plain, count: plainCount), returning: &returned)
    plainCount = 0
    returned.giveAway(atLeast: Batch.capacity)
  }

  /// Removes and returns the operations whose release can run user code.
  mutating func takeAll() -> [OperationReference] {
    var all: [OperationReference] = []
    swap(&all, &operations)
    return all
  }

  /// Reuses the memory of an empty array for later operations.
  mutating func reuse(_ empty: [OperationReference]) { if operations.isEmpty { operations = empty } }
}
