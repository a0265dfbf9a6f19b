public import Headway
import Synchronization

extension LineReader {
  /// Calls a closure with each line of the file, and another when all is done, in an operation on a queue.
  ///
  /// ```swift
  /// let reading = reader.enumerateLines { line in
  ///   process(try line.string)
  /// } completion: { result in
  ///   print(result)  // success(4812), or failure and why
  /// }
  /// ```
  ///
  /// Both closures run on a thread of the queue, `eachLine` for one line after the other. The caller waits for nothing.
  ///
  /// Cancelling the operation, or all operations of the queue, ends the reading within one chunk: `eachLine` is not
  /// called again after the line it has in hand, and the completion gets `CancellationError`.
  ///
  /// - Parameters:
  ///   - queue: Where to read. When nil, the queue of the reader. The operation occupies one of its places until the
  ///     file is read.
  ///   - eachLine: What to do with a line, which can be looked at and not kept. When it throws, the reading ends with
  ///     that error.
  ///   - completion: Called once, after the last line: with the number of lines, or with a ``LineReaderError``, a
  ///     `CancellationError`, or what `eachLine` threw. It is called before the operation finishes, and so before what
  ///     depends on it starts; only when the operation was cancelled before it ran is it called soon after instead.
  /// - Returns: The operation that reads, already in the queue: to be cancelled, waited for, depended on. Its
  ///   completion block is taken: do not set another.
  @discardableResult
  public func enumerateLines(
    on queue: OperationQueue? = nil,
    eachLine: @escaping @Sendable (borrowing Line) throws -> Void,
    completion: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) -> Operation {
    let operation = EnumerateLinesOperation(reader: self, eachLine: eachLine, completion: completion)
    (queue ?? self.queue).addOperation(operation)
    return operation
  }
}

/// What ``LineReader/enumerateLines(on:eachLine:completion:)`` puts into the queue.
///
/// `@unchecked Sendable` only as any subclass of an operation must say so: all it adds is constant and Sendable.
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
    // Whatever becomes of the operation, this is called; it counts only when `main` was not.
    completionBlock = { once(.failure(CancellationError())) }
  }

  override func main() throws {
    let result = Result { try readLines() }
    complete(result)
    _ = try result.get()
  }

  private func readLines() throws -> Int {
    var assembler = LineAssembler(path: reader.path, options: reader.options)
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

/// A completion that is called by the first who comes.
private final class CompleteOnce: Sendable {
  private let completion: @Sendable (Result<Int, any Error>) -> Void
  private let isDone = Atomic<Bool>(false)

  init(_ completion: @escaping @Sendable (Result<Int, any Error>) -> Void) { self.completion = completion }

  func callAsFunction(_ result: Result<Int, any Error>) {
    // Relaxed: only who is first matters; what the completion needs is in its arguments.
    if !isDone.exchange(true, ordering: .relaxed) { completion(result) }
  }
}
