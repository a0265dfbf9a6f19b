public import Headway
import Synchronization

extension LineReader {
  /// Calls a closure with each line of the file, and another closure at the end, in an operation on a queue.
  ///
  /// ```swift
  /// let reading = reader.enumerateLines { line in
  ///   process(try line.string)
  /// } completion: { result in
  ///   print(result)  // success(4812), or failure and why
  /// }
  /// ```
  ///
  /// Both closures run on a thread of the queue. `eachLine` is called for one line after the other. The caller does not
  /// wait.
  ///
  /// Cancelling the operation, or all operations of the queue, ends the reading within one chunk. `eachLine` is not
  /// called again after the current line, and the completion receives `CancellationError`.
  ///
  /// If the file is followed, the operation ends only when it is cancelled, or with an error. While it waits for
  /// further lines, it holds no thread.
  ///
  /// - Parameters:
  ///   - queue: The queue that runs the operation. If nil, the queue of the reader. The operation occupies a
  ///     concurrency slot of the queue until the file has been read.
  ///   - eachLine: A closure that receives a line. It can read the line but not store it. If it throws, the reading
  ///     ends with that error.
  ///   - completion: Called once, after the last line, with the number of lines, or with a ``LineReaderError``, a
  ///     `CancellationError`, or the error that `eachLine` threw. It is called before the operation finishes, and
  ///     therefore before operations that depend on it start. If the operation was cancelled before it ran, it is
  ///     instead called shortly after the operation finishes.
  /// - Returns: The operation that reads, already in the queue. You can cancel it, wait for it, or make other
  ///   operations depend on it. Its completion block is in use: do not set another.
  @discardableResult
  public func enumerateLines(
    on queue: OperationQueue? = nil,
    eachLine: @escaping @Sendable (borrowing Line) throws -> Void,
    completion: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) -> Operation {
    let operation =
      following == nil
      ? EnumerateLinesOperation(reader: self, eachLine: eachLine, completion: completion)
      : followLines(eachLine: eachLine, completion: completion)
    (queue ?? self.queue).addOperation(operation)
    return operation
  }

  /// Creates an operation that follows the file and holds no thread while the file has no further line.
  private func followLines(
    eachLine: @escaping @Sendable (borrowing Line) throws -> Void,
    completion: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) -> Operation {
    let once = CompleteOnce(completion)
    let operation = TaskOperation {
      do {
        // There is no end: following ends with an error.
        try await readFollowedLines(eachLine)
      } catch {
        once(.failure(error))
        throw error
      }
    }
    // It has an effect only if the task did not run.
    operation.completionBlock = { once(.failure(CancellationError())) }
    return operation
  }

  /// Reads on the threads of the operation's queue, because another operation could wait in that queue for this one.
  private func readFollowedLines(_ eachLine: (borrowing Line) throws -> Void) async throws {
    var assembler = LineAssembler(self)
    while true {
      while let batch = try assembler.next(beforeReading: { try Task.checkCancellation() }) {
        try batch.forEach { line in
          try Task.checkCancellation()
          try eachLine(line)
        }
      }
      try await following?.pause()
    }
  }
}

/// The operation that ``LineReader/enumerateLines(on:eachLine:completion:)`` adds to the queue.
///
/// `@unchecked Sendable` only because every subclass of an operation must declare it: all added properties are constant
/// and Sendable.
private final class EnumerateLinesOperation: Operation, @unchecked Sendable {
  private let reader: LineReader
  private let eachLine: @Sendable (borrowing LineReader.Line) throws -> Void
  private let complete: @Sendable (Result<Int, any Error>) -> Void

  init(
    reader: LineReader, eachLine: @escaping @Sendable (borrowing LineReader.Line) throws -> Void,
    completion: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) {
    self.reader = reader
    self.eachLine = eachLine
    let once = CompleteOnce(completion)
    complete = { once($0) }
    super.init()
    // Called however the operation ends. It has an effect only if `main` did not run.
    completionBlock = { once(.failure(CancellationError())) }
  }

  override func main() throws {
    let result = Result { try readLines() }
    complete(result)
    _ = try result.get()
  }

  private func readLines() throws -> Int {
    var assembler = LineAssembler(reader)
    var count = 0
    while let batch = try assembler.next(beforeReading: throwIfCancelled) {
      try batch.forEach { line in
        try throwIfCancelled()
        try eachLine(line)
      }
      count += batch.count
    }
    return count
  }

  private func throwIfCancelled() throws {
    if isCancelled { throw CancellationError() }
  }
}

/// A completion that only the first call invokes.
private final class CompleteOnce: Sendable {
  private let completion: @Sendable (Result<Int, any Error>) -> Void
  private let isDone = Atomic<Bool>(false)

  init(_ completion: @escaping @Sendable (Result<Int, any Error>) -> Void) { self.completion = completion }

  func callAsFunction(_ result: Result<Int, any Error>) {
    // Relaxed: only the order of the calls matters. The completion's arguments contain everything that it needs.
    if !isDone.exchange(true, ordering: .relaxed) { completion(result) }
  }
}
