internal import HeadwayLines

extension CSVReader {
  /// The file's rows, one at a time.
  ///
  /// ```swift
  /// for try await row in CSVReader(path: path).rows {
  ///   print(try row["name"])
  /// }
  /// ```
  ///
  /// The loop runs in your task. When all rows that have been read are used up, an operation on the reader's queue
  /// reads a chunk while the task is suspended. Nothing is read before then.
  ///
  /// Cancelling the task ends the loop with `CancellationError` when it requests the next row, even if rows have been
  /// read that it has not received. If no writer has opened a FIFO at that time, the read ends within a tenth of a
  /// second. A read that is blocked for another reason is abandoned, and its file is closed when the read returns. The
  /// same error ends the loop when the queue's operations are cancelled. Leaving the loop closes the file.
  public var rows: Rows { Rows(reader: self) }

  /// The rows of a file.
  ///
  /// See ``CSVReader/rows``.
  public struct Rows: AsyncSequence, Sendable {
    let reader: CSVReader

    /// Creates an iterator that starts at the beginning of the file.
    ///
    /// - Returns: The iterator, which has not read anything.
    public func makeAsyncIterator() -> Iterator {
      Iterator(pump: BatchPump(RowSource(reader), queue: reader.queue))
    }

    /// A position in the file.
    public struct Iterator: AsyncIteratorProtocol {
      /// Nil at the end of the file and after an error.
      private var pump: BatchPump<RowSource>?
      private var batch: RowBatch?
      private var position = 0
      /// The number of remaining rows in the batch.
      ///
      /// Where `next` is inlined, it reads only this property.
      @usableFromInline var remaining = 0

      init(pump: BatchPump<RowSource>) { self.pump = pump }

      /// How many bytes have been read from the file.
      ///
      /// For tests.
      package var bytesRead: Int { pump?.bytesRead ?? 0 }

      /// Returns the next row and reads a chunk if necessary.
      ///
      /// - Parameter actor: The actor that the caller runs on, where it also resumes.
      /// - Returns: The next row of the file. Nil at the end of the file and after an error.
      /// - Throws: ``CSVReaderError``, or `CancellationError`.
      @inlinable
      public mutating func next(isolation actor: isolated (any Actor)?) async throws -> CSVRow? {
        // Inlined, so that rows in the batch cost no asynchronous call. That call would be most of their cost.
        if remaining > 0 { return try nextOfBatch() }
        return try await firstOfNextBatch(isolation: actor)
      }

      /// Returns the next row and reads a chunk if necessary.
      ///
      /// - Returns: The next row of the file. Nil at the end of the file and after an error.
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
        // Released first, so that its memory can be used for the next rows.
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
