extension LineReader {
  /// The lines of the file as strings, one at a time.
  ///
  /// ```swift
  /// for try await line in reader.lines {
  ///   print(line)
  /// }
  /// ```
  ///
  /// The loop runs in your task, and each string is created there when you request it. When the lines of a chunk are
  /// used up, an operation on the reader's queue reads the next chunk while the task is suspended. Nothing is read
  /// before then.
  ///
  /// Cancelling the task ends the loop with `CancellationError` when it requests the next line, even if lines have been
  /// read that it has not received. A read that waits for a FIFO at that time ends within a tenth of a second; one that
  /// is blocked for another reason is abandoned, and its file is closed when the read returns. The same error ends the
  /// loop when the queue's operations are cancelled. Leaving the loop closes the file.
  public var lines: Lines { Lines(reader: self) }

  /// The lines of a file.
  ///
  /// See ``LineReader/lines``.
  public struct Lines: AsyncSequence, Sendable {
    let reader: LineReader

    /// Creates an iterator that starts at the beginning of the file.
    ///
    /// - Returns: The iterator, which has not read anything.
    public func makeAsyncIterator() -> Iterator { Iterator(pump: reader.makePump()) }

    /// A position in the file.
    public struct Iterator: AsyncIteratorProtocol {
      /// Nil at the end of the file and after an error.
      private var pump: BatchPump<LineAssembler>?
      private var batch: LineBatch?
      private var position = 0
      /// The number of remaining lines in the batch.
      ///
      /// Where `next` is inlined, it reads only this property.
      @usableFromInline var remaining = 0

      init(pump: BatchPump<LineAssembler>) { self.pump = pump }

      /// How many bytes have been read from the file.
      ///
      /// For tests.
      package var bytesRead: Int { pump?.bytesRead ?? 0 }

      /// Returns the next line and reads a chunk if necessary.
      ///
      /// - Parameter actor: The actor that the caller runs on, where it also resumes.
      /// - Returns: The next line of the file. Nil at the end of the file and after an error.
      /// - Throws: ``LineReaderError``, including for a line that is not UTF-8, or `CancellationError`.
      @inlinable
      public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
        // Inlined, so that lines in the batch cost no asynchronous call. That call would be most of their cost.
        if remaining > 0 { return try nextOfBatch() }
        return try await firstOfNextBatch(isolation: actor)
      }

      /// Returns the next line and reads a chunk if necessary.
      ///
      /// - Returns: The next line of the file. Nil at the end of the file and after an error.
      /// - Throws: ``LineReaderError``, including for a line that is not UTF-8, or `CancellationError`.
      @inlinable
      public mutating func next() async throws -> String? { try await next(isolation: #isolation) }

      @usableFromInline
      mutating func nextOfBatch() throws -> String? {
        do {
          try Task.checkCancellation()
          remaining &-= 1
          position &+= 1
          return try batch?.string(at: position)
        } catch {
          finish()
          throw error
        }
      }

      @usableFromInline
      mutating func firstOfNextBatch(isolation actor: isolated (any Actor)?) async throws -> String? {
        // Released first, so that its memory can be used for the next chunk.
        batch = nil
        do {
          if let next = try await pump?.next(isolation: actor) {
            batch = next
            remaining = next.count - 1
            position = 0
            return try next.string(at: 0)
          }
        } catch {
          finish()
          throw error
        }
        finish()
        return nil
      }

      private mutating func finish() {
        pump = nil
        batch = nil
        remaining = 0
      }
    }
  }
}
