import Headway
import Synchronization

/// Brings batches from a file to a task: each read is an operation on a queue, asked for by the task.
///
/// Neither the task's thread nor any other of Swift's pool ever waits for the file.
final class LinePump: Sendable {
  private let queue: OperationQueue
  /// Locked by the operation while it reads.
  ///
  /// One read at a time is asked for, so nobody waits for the lock, unless a read was left behind by a cancellation;
  /// and then nobody asks again.
  private let assembler: Mutex<LineAssembler>
  private let isCancelled = Atomic<Bool>(false)

  /// Stored with release by whoever passes the batch's memory on, loaded with acquire by whoever gets it.
  ///
  /// The queue and the continuation order the two already, and so does `Mutex`. But the thread sanitizer sees none of
  /// them on Linux, and would see a race in every line that is read; it sees this.
  private let handover = Atomic<Bool>(false)

  init(_ reader: LineReader) {
    queue = reader.queue
    assembler = Mutex(LineAssembler(path: reader.path, options: reader.options))
  }

  /// How many bytes have been read from the file.
  ///
  /// Waits for a read that goes on.
  var bytesRead: Int { assembler.withLock { $0.bytesRead } }

  /// The next lines, or nil when there are no more.
  ///
  /// - Throws: ``LineReaderError``, or `CancellationError` when the task or the queue's operation is cancelled, without
  ///   waiting for a read that goes on then.
  func next(isolation: isolated (any Actor)? = #isolation) async throws -> LineBatch? {
    try Task.checkCancellation()
    let answer = Answer<LineBatch?>()
    handover.store(true, ordering: .releasing)
    defer { _ = handover.load(ordering: .acquiring) }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        answer.resumeWhenGiven(continuation)
        queue.addOperation { [self, owner = AnswerGuard(answer)] in owner.answer.give(read()) }
      }
    } onCancel: {
      // Relaxed: nothing else is read because of it, and a read that misses it ends with its chunk.
      isCancelled.store(true, ordering: .relaxed)
      answer.give(.failure(CancellationError()))
    }
  }

  private func read() -> Result<LineBatch?, any Error> {
    _ = handover.load(ordering: .acquiring)
    defer { handover.store(true, ordering: .releasing) }
    return Result {
      try assembler.withLock { assembler in
        try assembler.next { if isCancelled.load(ordering: .relaxed) { throw CancellationError() } }
      }
    }
  }
}
