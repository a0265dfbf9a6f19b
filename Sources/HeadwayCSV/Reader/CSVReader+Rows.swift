internal import HeadwayLines

extension CSVReader {
  /// The rows of the file, one by one.
  ///
  /// ```swift
  /// for try await row in CSVReader(path: path).rows {
  ///   print(try row["name"])
  /// }
  /// ```
  ///
  /// The loop runs where your task does. When the rows that have been read are used up, a chunk is read in an operation
  /// on the reader's queue while the task is suspended; nothing is read before.
  ///
  /// Cancelling the task ends the loop with `CancellationError` when it asks for the next row, though rows may have
  /// been read that it has not seen. A read that is blocked then, on a FIFO say, is left alone: its file is closed when
  /// it returns. The same error ends the loop when the queue's operations are cancelled. Leaving the loop closes the
  /// file.
  public var rows: Rows { Rows(reader: self) }

  /// The rows of a file.
  ///
  /// See ``CSVReader/rows``.
  public struct Rows: AsyncSequence, Sendable {
    let reader: CSVReader

    /// Starts from the beginning of the file.
    ///
    /// - Returns: The rows, of which none has been read.
    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(pump: BatchPump(RowSource(reader), queue: reader.queue))
    }

    /// A place in the file.
    public struct AsyncIterator: AsyncIteratorProtocol {
      /// Nil at the end of the file and after an error.
      private var pump: BatchPump<RowSource>?
      private var batch: RowBatch?
      private var position = 0
      /// How many rows of the batch are left.
      ///
      /// Where `next` is inlined, it looks at nothing else.
      @usableFromInline var remaining = 0

      init(pump: BatchPump<RowSource>) { self.pump = pump }

      /// How many bytes have been read from the file.
      ///
      /// For tests.
      package var bytesRead: Int { pump?.bytesRead ?? 0 }

      /// Gives the next row, and reads a chunk if there is none.
      ///
      /// - Parameter actor: Where the caller runs, and where it goes on.
      /// - Returns: A row, or nil at the end of the file and after an error.
      /// - Throws: ``CSVReaderError``, or `CancellationError`.
      @inlinable
      public mutating func next(isolation actor: isolated (any Actor)?) async throws -> CSVRow? {
        // Inlined, so that rows that have been read cost no asynchronous call, which would be most of their cost.
        if remaining > 0 { return try nextOfBatch() }
        return try await firstOfNextBatch(isolation: actor)
      }

      /// Gives the next row, and reads a chunk if there is none.
      ///
      /// - Returns: A row, or nil at the end of the file and after an error.
      /// - Throws: ``CSVReaderError``, or `CancellationError`.
      @inlinable
      public mutating func next() async throws -> CSVRow? { try await next(isolation: #isolation) }

      @usableFromInline
      mutating func nextOfBatch() throws -> CSVRow? {
        do { try Task.checkCancellation() } catch {
          finish()
          throw error
        }
        remaining &-= 1
        position &+= 1
        return batch?.row(at: position)
      }

      @usableFromInline
      mutating func firstOfNextBatch(isolation actor: isolated (any Actor)?) async throws -> CSVRow? {
        // Released first, so that its memory can take the next rows.
        batch = nil
        do {
          if let next = try await pump?.next(isolation: actor) {
            (batch, remaining, position) = (next, next.count - 1, 0)
            return next.row(at: 0)
          }
        } catch {
          finish()
          throw error
        }
        finish()
        return nil
      }

      private mutating func finish() { (pump, batch, remaining) = (nil, nil, 0) }
    }
  }
}
