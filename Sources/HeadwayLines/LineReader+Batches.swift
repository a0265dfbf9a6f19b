extension LineReader {
  /// The lines of the file, many at a time, as bytes.
  ///
  /// ```swift
  /// for try await batch in reader.batches {
  ///   batch.forEach { line in total += line.bytes.count }
  /// }
  /// ```
  ///
  /// The loop runs where your task does. When it asks for the next batch, one chunk is read in an operation on the
  /// reader's queue while the task is suspended; nothing is read before. See ``LineBatch`` for the memory it uses.
  ///
  /// Cancelling the task ends the loop with `CancellationError`, at once when it waits for a batch, and otherwise when
  /// it asks for the next. A read that is blocked then, on a FIFO say, is left alone: its file is closed when it
  /// returns. The same error ends the loop when the queue's operations are cancelled. Leaving the loop closes the file.
  public var batches: Batches { Batches(reader: self) }

  /// The lines of a file, many at a time.
  ///
  /// See ``LineReader/batches``.
  public struct Batches: AsyncSequence, Sendable {
    let reader: LineReader

    /// Starts from the beginning of the file.
    ///
    /// - Returns: The batches, of which none has been read.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pump: reader.makePump()) }

    /// A place in the file.
    public struct AsyncIterator: AsyncIteratorProtocol {
      private let pump: BatchPump<LineAssembler>

      init(pump: BatchPump<LineAssembler>) { self.pump = pump }

      /// How many bytes have been read from the file.
      ///
      /// For tests.
      package var bytesRead: Int { pump.bytesRead }

      /// Reads the next lines.
      ///
      /// - Parameter actor: Where the caller runs, and where it goes on.
      /// - Returns: At least one line, or nil at the end of the file and after an error.
      /// - Throws: ``LineReaderError``, or `CancellationError`.
      public mutating func next(isolation actor: isolated (any Actor)?) async throws -> LineBatch? {
        try await pump.next(isolation: actor)
      }

      /// Reads the next lines.
      ///
      /// - Returns: At least one line, or nil at the end of the file and after an error.
      /// - Throws: ``LineReaderError``, or `CancellationError`.
      public mutating func next() async throws -> LineBatch? { try await pump.next() }
    }
  }
}
