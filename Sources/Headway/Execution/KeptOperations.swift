/// Operations that a batch's thread is to release, or whose memory it is to give back.
///
/// Belongs to that thread.
///
/// What happens when an operation is freed, happens before the next one begins, which may wait for it. Memory alone is
/// given back for all of a batch at once: to do so one by one, between operations, costs half as much again as an
/// operation without work, where another thread allocates meanwhile (glibc's lock of its arena;
/// `Benchmarks/README.md`).
struct KeptOperations: ~Copyable {
  /// What is to be released before the thread runs another operation, and when it holds nothing of the queue's that
  /// others need: that may run users' code.
  private var kept: [OperationReference] = []
  /// Operations of the batch that have ended, which are to release their work; the release of the operations themselves
  /// runs no users' code.
  private var ended: [OperationReference] = []
  /// Operations of which only memory is to be released.
  private let plain = UnsafeMutablePointer<OperationReference>.allocate(capacity: Batch.capacity)
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
  var isEmpty: Bool { kept.isEmpty && ended.isEmpty }

  /// Takes over an ownership of an operation.
  mutating func append(_ operation: OperationReference) { kept.append(operation) }

  /// Takes over the ownership of an operation that the thread had taken and that has ended, and has not released its
  /// work.
  mutating func append(ended operation: OperationReference) { ended.append(operation) }

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
    SpareOperations.give(UnsafeBufferPointer(start: plain, count: plainCount))
    plainCount = 0
    freed.deinitialize(count: freedCount)
    freedCount = 0
  }

  /// Takes out what may run users' code when it is released.
  mutating func takeAll() -> (kept: [OperationReference], ended: [OperationReference]) {
    var all: (kept: [OperationReference], ended: [OperationReference]) = ([], [])
    swap(&all.kept, &kept)
    swap(&all.ended, &ended)
    return all
  }

  /// Takes the memory of empty arrays for what comes next.
  mutating func reuse(_ empty: (kept: [OperationReference], ended: [OperationReference])) {
    if kept.isEmpty { kept = empty.kept }
    if ended.isEmpty { ended = empty.ended }
  }
}
