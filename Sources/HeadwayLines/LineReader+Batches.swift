extension LineReader {
  /// The lines of the file as bytes, many at a time.
  ///
  /// ```swift
  /// for try await batch in reader.batches {
  ///   batch.forEach { line in total += line.bytes.count }
  /// }
  /// ```
  ///
  /// The loop runs in your task. When it requests the next batch, an operation on the reader's queue reads one chunk
  /// while the task is suspended. Nothing is read before then. See ``LineBatch`` for the memory that it uses.
  ///
  /// Cancelling the task ends the loop with `CancellationError`: immediately if it waits for a batch, otherwise when it
  /// requests the next one. A read that waits for a FIFO at that time ends within a tenth of a second; one that is
  /// blocked for another reason is abandoned, and its file is closed when the read returns. The same error ends the
  /// loop when the queue's operations are cancelled. Leaving the loop closes the file.
  public var batches: Batches { Batches(reader: self) }

  /// The lines of a file, many at a time.
  ///
  /// See ``LineReader/batches``.
  public struct Batches: AsyncSequence, Sendable {
    let reader: LineReader

    /// Creates an iterator that starts at the beginning of the file.
    ///
    /// - Returns: The iterator, which has not read anything.
    public func makeAsyncIterator() -> Iterator { Iterator(pump: reader.makePump()) }

    /// A position in the file.
    public struct Iterator: AsyncIteratorProtocol {
      private let pump: BatchPump<LineAssembler>

      init(pump: BatchPump<LineAssembler>) { self.pump = pump }

      /// How many bytes have been read from the file.
      ///
      /// For tests.
      package var bytesRead: Int { pump.bytesRead }

      /// Reads the next lines.
      ///
      /// - Parameter actor: The actor that the caller runs on, where it also resumes.
      /// - Returns: At least one line. Nil at the end of the file and after an error.
      /// - Throws: ``LineReaderError``, or `CancellationError`.
      public mutating func next(isolation actor: isolated (any Actor)?) async throws -> LineBatch? {
        try await pump.next(isolation: actor)
      }

      /// Reads the next lines.
      ///
      /// - Returns: At least one line. Nil at the end of the file and after an error.
      /// - Throws: ``LineReaderError``, or `CancellationError`.
      public mutating func next() async throws -> LineBatch? { try await pump.next() }
    }
  }
}
