/// Operations that a batch's thread is to release, or whose memory it is to give back.
///
/// Belongs to that thread.
///
/// What happens when an operation is freed, happens before the next one begins, which may wait for it. Memory alone is
/// given back for all of a batch at once: to do so one by one, between operations, costs half as much again as an
/// operation without work, where another thread allocates meanwhile (glibc's lock of its arena;
/// `Benchmarks/README.md`).
struct DeferredReleases: ~Copyable {
  /// What is to be released before the thread runs another operation, and when it holds nothing of the queue's that
  /// others need: that may run users' code.
  private var operations: [OperationReference] = []
  /// The last operation that the thread has run, which is to release its work, and then to be released itself.
  private var last: OperationReference?
  /// Operations of which only memory is to be released.
  ///
  /// Those of a batch, and the last one of the batch before.
  private let plain = UnsafeMutablePointer<OperationReference>.allocate(capacity: Batch.capacity + 1)
  private var plainCount = 0
  /// Operations that the thread has released: that each is unowned here keeps its memory, and nothing else of it.
  private let freed = UnsafeMutablePointer<Freed>.allocate(capacity: Batch.capacity)
  private var freedCount = 0

  private struct Freed { unowned let operation: Operation }

  deinit {
    plain.deallocate()
    freed.deallocate()
  }

  /// Whether there is something whose release may run users' code.
  var isEmpty: Bool { operations.isEmpty && last == nil }

  /// Takes over an ownership of an operation.
  mutating func append(_ operation: OperationReference) { operations.append(operation) }

  /// Takes over the ownership of the last operation that the thread has run.
  mutating func append(last operation: OperationReference) {
    assert(last == nil, "a batch has one last operation")
    last = operation
  }

  /// Takes out the last operation.
  mutating func takeLast() -> OperationReference? { last.take() }

  /// Takes over the ownership of an operation that the thread had taken and that has finished, whose release runs no
  /// users' code.
  mutating func append(plain operation: OperationReference) {
    plain[plainCount] = operation
    plainCount += 1
  }

  /// Keeps the memory of an operation that the thread had taken and that has finished, and is about to be released.
  mutating func appendMemory(of operation: OperationReference) {
    guard freedCount < Batch.capacity else { return }
    operation._withUnsafeGuaranteedRef { (freed + freedCount).initialize(to: Freed(operation: $0)) }
    freedCount += 1
  }

  /// Gives back what runs no users' code.
  ///
  /// Called between two batches.
  mutating func releaseMemory() {
    RecycledOperations.give(UnsafeBufferPointer(start: plain, count: plainCount))
    plainCount = 0
    freed.deinitialize(count: freedCount)
    freedCount = 0
  }

  /// Takes out what may run users' code when it is released.
  mutating func takeAll() -> [OperationReference] {
    var all: [OperationReference] = []
    swap(&all, &operations)
    return all
  }

  /// Takes the memory of an empty array for what comes next.
  mutating func reuse(_ empty: [OperationReference]) { if operations.isEmpty { operations = empty } }
}
