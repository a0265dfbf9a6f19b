package import Headway
import Synchronization

/// What is read in batches, one after the other.
package protocol BatchSource: ~Copyable, SendableMetatype {
  associatedtype Batch: Sendable

  /// How many bytes have been read.
  var bytesRead: Int { get }

  /// Whether all batches have been read, or reading one has failed.
  var isFinished: Bool { get }

  /// Reads the next batch of a source that is not finished; opens the file first.
  ///
  /// - Parameter check: Called before each read that may take long. What it throws ends the reading.
  /// - Returns: The batch, or nil when there are no more.
  /// - Throws: What is wrong with the file, or what `check` throws.
  mutating func nextBatch(_ check: () throws -> Void) throws -> Batch?

  /// Closes the file and releases the memory, at the end and after an error.
  mutating func finish()
}

extension BatchSource where Self: ~Copyable {
  /// Reads the next batch, which has at least one element.
  ///
  /// Opens the file first. After an error or the end, the file is closed and the memory released.
  ///
  /// - Parameter check: Called before the file is opened and before each read that may take long. What it throws ends
  ///   the reading.
  /// - Returns: The batch; nil when there are no more, and forever after an error.
  /// - Throws: What is wrong with the file, or what `check` throws.
  package mutating func next(beforeReading check: () throws -> Void) throws -> Batch? {
    if isFinished { return nil }
    do {
      if let batch = try nextBatch(check) { return batch }
      finish()
      return nil
    } catch {
      finish()
      throw error
    }
  }
}

/// Brings batches from a file to a task: each read is an operation on a queue, asked for by the task.
///
/// Neither the task's thread nor any other of Swift's pool ever waits for the file.
package final class BatchPump<Source: BatchSource & ~Copyable>: Sendable {
  private let queue: OperationQueue
  /// Locked by the operation while it reads.
  ///
  /// One read at a time is asked for, so nobody waits for the lock, unless a read was left behind by a cancellation;
  /// and then nobody asks again.
  private let source: Mutex<Source>
  private let isCancelled = Atomic<Bool>(false)

  /// Stored with release by whoever passes the batch's memory on, loaded with acquire by whoever gets it.
  ///
  /// The queue and the continuation order the two already, and so does `Mutex`. But the thread sanitizer sees none of
  /// them on Linux, and would see a race in every line that is read; it sees this.
  private let handover = Atomic<Bool>(false)

  /// Prepares to read; nothing is read before the first batch is asked for.
  ///
  /// - Parameters:
  ///   - source: What is read.
  ///   - queue: Where to read.
  package init(_ source: consuming sending Source, queue: OperationQueue) {
    self.queue = queue
    self.source = Mutex(source)
  }

  /// How many bytes have been read from the file.
  ///
  /// Waits for a read that goes on.
  package var bytesRead: Int { source.withLock { $0.bytesRead } }

  /// Reads the next batch.
  ///
  /// - Parameter isolation: Where the caller runs, and where it goes on.
  /// - Returns: The batch, or nil when there are no more.
  /// - Throws: What the source throws, or `CancellationError` when the task or the queue's operation is cancelled,
  ///   without waiting for a read that goes on then.
  package func next(isolation: isolated (any Actor)? = #isolation) async throws -> Source.Batch? {
    try Task.checkCancellation()
    let answer = Answer<Source.Batch?>()
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

  private func read() -> Result<Source.Batch?, any Error> {
    _ = handover.load(ordering: .acquiring)
    defer { handover.store(true, ordering: .releasing) }
    return Result {
      try source.withLock { source in
        try source.next { if isCancelled.load(ordering: .relaxed) { throw CancellationError() } }
      }
    }
  }
}
