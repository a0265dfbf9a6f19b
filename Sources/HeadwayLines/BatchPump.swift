package import Headway
import Synchronization

/// A source that is read in batches, one after the other.
package protocol BatchSource: ~Copyable, SendableMetatype {
  associatedtype Batch: Sendable

  /// How many bytes have been read.
  var bytesRead: Int { get }

  /// Whether all batches have been read, or reading one has failed.
  var isFinished: Bool { get }

  /// Whether the last attempt to read a batch found nothing, and a later attempt might find something.
  ///
  /// Always false for a source that is not followed.
  var isWaiting: Bool { get }

  /// Opens the file if necessary and reads the next batch.
  ///
  /// The source must not be finished.
  ///
  /// - Parameter check: Called before each read that might take a long time. If it throws, reading ends.
  /// - Returns: The next batch of the source. Nil at the end, or while ``isWaiting`` is true.
  /// - Throws: An error that describes what is wrong with the file, or the error that `check` throws.
  mutating func nextBatch(_ check: () throws -> Void) throws -> Batch?

  /// Closes the file and releases the memory, after the last batch and after an error.
  mutating func finish()
}

extension BatchSource where Self: ~Copyable {
  package var isWaiting: Bool { false }

  /// Reads the next batch, which has at least one element.
  ///
  /// Opens the file if necessary. After the last batch or an error, closes the file and releases the memory.
  ///
  /// - Parameter check: Called before the file is opened, and before each read that might take a long time. If it
  ///   throws, reading ends.
  /// - Returns: The next batch of the source. Nil at the end, always after an error, and while ``isWaiting`` is true.
  /// - Throws: An error that describes what is wrong with the file, or the error that `check` throws.
  package mutating func next(beforeReading check: () throws -> Void) throws -> Batch? {
    if isFinished { return nil }
    do {
      if let batch = try nextBatch(check) { return batch }
      if !isWaiting { finish() }
      return nil
    } catch {
      finish()
      throw error
    }
  }
}

/// Delivers batches from a file to a task.
///
/// The task requests each batch, and an operation on a queue reads it.
///
/// Neither the task's thread nor any other thread of Swift's pool waits for the file. If a source waits for new bytes,
/// no thread waits: the task pauses, and requests another read after the pause.
package final class BatchPump<Source: BatchSource & ~Copyable>: Sendable {
  private let queue: OperationQueue
  /// Locked by the operation while it reads.
  ///
  /// The task requests one read at a time, so no thread waits for the lock. The exception is a read that a cancellation
  /// left behind, and after a cancellation no further reads are requested.
  private let source: Mutex<Source>
  private let isCancelled = Atomic<Bool>(false)
  /// Suspends the task until a source that waits should be read again.
  private let pause: @Sendable () async throws -> Void

  /// Stored with release ordering by the thread that passes the batch's memory on, and loaded with acquire ordering by
  /// the thread that receives it.
  ///
  /// The queue, the continuation, and `Mutex` already order the two. But on Linux, the thread sanitizer sees none of
  /// them and would report a race for every line that is read. It does see this variable.
  private let handover = Atomic<Bool>(false)

  /// Prepares to read.
  ///
  /// Nothing is read before the first batch is requested.
  ///
  /// - Parameters:
  ///   - source: The source to read. The pump closes it after the last batch or an error.
  ///   - queue: The queue that runs the read operations.
  ///   - pause: Called while ``BatchSource/isWaiting`` is true, before the source is read again.
  package init(
    _ source: consuming sending Source, queue: OperationQueue, pause: @escaping @Sendable () async throws -> Void = {}
  ) {
    self.queue = queue
    self.pause = pause
    self.source = Mutex(source)
  }

  /// How many bytes have been read from the file.
  ///
  /// Waits for a read that is in progress.
  package var bytesRead: Int { source.withLock { $0.bytesRead } }

  /// Reads the next batch.
  ///
  /// - Parameter isolation: The actor that the caller runs on, where it also resumes.
  /// - Returns: The batch, or nil at the end.
  /// - Throws: The error that the source throws, or `CancellationError` if the task or the queue's operation is
  ///   cancelled. After a cancellation, it does not wait for a read that is in progress.
  package func next(isolation: isolated (any Actor)? = #isolation) async throws -> Source.Batch? {
    while true {
      switch try await attempt(isolation: isolation) {
      case .batch(let batch): return batch
      case .end: return nil
      case .waiting: try await pause()
      }
    }
  }

  /// The result of one attempt to read a batch.
  private enum Reading: Sendable {
    case batch(Source.Batch)
    case waiting
    case end
  }

  private func attempt(isolation: isolated (any Actor)?) async throws -> Reading {
    try Task.checkCancellation()
    let answer = Answer<Reading>()
    handover.store(true, ordering: .releasing)
    defer { _ = handover.load(ordering: .acquiring) }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        answer.resumeWhenGiven(continuation)
        queue.addOperation { [self, owner = AnswerGuard(answer)] in owner.answer.give(read()) }
      }
    } onCancel: {
      // Relaxed: no other memory depends on this flag, and a read that misses it ends after its chunk.
      isCancelled.store(true, ordering: .relaxed)
      answer.give(.failure(CancellationError()))
    }
  }

  private func read() -> Result<Reading, any Error> {
    _ = handover.load(ordering: .acquiring)
    defer { handover.store(true, ordering: .releasing) }
    return Result {
      try source.withLock { source in
        let batch = try source.next { if isCancelled.load(ordering: .relaxed) { throw CancellationError() } }
        if let batch { return .batch(batch) }
        return source.isWaiting ? .waiting : .end
      }
    }
  }
}
