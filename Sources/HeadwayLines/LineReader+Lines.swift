extension LineReader {
  /// The lines of the file, one by one, as strings.
  ///
  /// ```swift
  /// for try await line in reader.lines {
  ///   print(line)
  /// }
  /// ```
  ///
  /// The loop runs where your task does, and strings are made there, each when it is asked for. When a chunk's lines
  /// are used up, the next is read in an operation on the reader's queue while the task is suspended; nothing is read
  /// before.
  ///
  /// Cancelling the task ends the loop with `CancellationError` when it asks for the next line, though lines may have
  /// been read that it has not seen. A read that is blocked then, on a FIFO say, is left alone: its file is closed when
  /// it returns. The same error ends the loop when the queue's operations are cancelled. Leaving the loop closes the
  /// file.
  public var lines: Lines { Lines(reader: self) }

  /// The lines of a file.
  ///
  /// See ``LineReader/lines``.
  public struct Lines: AsyncSequence, Sendable {
    let reader: LineReader

    /// Starts from the beginning of the file.
    ///
    /// - Returns: The lines, of which none has been read.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pump: reader.makePump()) }

    /// A place in the file.
    public struct AsyncIterator: AsyncIteratorProtocol {
      /// Nil at the end of the file and after an error.
      private var pump: BatchPump<LineAssembler>?
      private var batch: LineBatch?
      private var position = 0
      /// How many lines of the batch are left.
      ///
      /// Where `next` is inlined, it looks at nothing else.
      @usableFromInline var remaining = 0

      init(pump: BatchPump<LineAssembler>) { self.pump = pump }

      /// How many bytes have been read from the file.
      ///
      /// For tests.
      package var bytesRead: Int { pump?.bytesRead ?? 0 }

      /// Gives the next line, and reads a chunk if there is none.
      ///
      /// - Parameter actor: Where the caller runs, and where it goes on.
      /// - Returns: A line, or nil at the end of the file and after an error.
      /// - Throws: ``LineReaderError``, also for a line that is not UTF-8; or `CancellationError`.
      @inlinable
      public mutating func next(isolation actor: isolated (any Actor)?) async throws -> String? {
        // Inlined, so that lines that have been read cost no asynchronous call, which would be most of their cost.
        if remaining > 0 { return try nextOfBatch() }
        return try await firstOfNextBatch(isolation: actor)
      }

      /// Gives the next line, and reads a chunk if there is none.
      ///
      /// - Returns: A line, or nil at the end of the file and after an error.
      /// - Throws: ``LineReaderError``, also for a line that is not UTF-8; or `CancellationError`.
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
        // Let go of first, so that its memory can take the next chunk.
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
