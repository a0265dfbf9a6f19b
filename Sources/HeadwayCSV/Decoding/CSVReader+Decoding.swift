extension CSVReader {
  /// The file's rows, each decoded as a value.
  ///
  /// ```swift
  /// struct Station: Decodable {
  ///   var id: Int
  ///   var name: String
  ///   var height: Double?
  /// }
  ///
  /// for try await station in CSVReader(path: path).rows(as: Station.self) {
  ///   print(station.name)
  /// }
  /// ```
  ///
  /// Values are decoded where the loop runs, like in ``CSVRow/decode(_:)``. A row that can't be decoded ends the loop
  /// with an error. To continue after it, decode the rows of ``rows`` yourself. Reading and cancelling work as
  /// described there.
  ///
  /// - Parameter type: The type of the values.
  /// - Returns: An asynchronous sequence of one value per row. Nothing is read before you request them.
  public func rows<Value: Decodable>(as type: Value.Type) -> Values<Value> { Values(rows: rows) }

  /// The rows of a file as values of a type.
  ///
  /// See ``CSVReader/rows(as:)``.
  public struct Values<Value: Decodable>: AsyncSequence {
    @usableFromInline let rows: Rows

    init(rows: Rows) { self.rows = rows }

    /// Creates an iterator that starts at the beginning of the file.
    ///
    /// - Returns: The iterator, which has not read anything.
    public func makeAsyncIterator() -> Iterator { Iterator(rows: rows.makeAsyncIterator()) }

    /// A position in the file.
    public struct Iterator: AsyncIteratorProtocol {
      @usableFromInline var rows: Rows.Iterator
      private var positions: KeyPositions?

      init(rows: Rows.Iterator) { self.rows = rows }

      /// Returns the value of the next row and reads a chunk if necessary.
      ///
      /// - Parameter actor: The actor that the caller runs on, where it also resumes.
      /// - Returns: The value of the next row. Nil at the end of the file and after a read error.
      /// - Throws: ``CSVReaderError``, or `CancellationError`.
      @inlinable
      public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
        guard let row = try await rows.next(isolation: actor) else { return nil }
        return try decode(row)
      }

      /// Returns the value of the next row and reads a chunk if necessary.
      ///
      /// - Returns: The value of the next row. Nil at the end of the file and after a read error.
      /// - Throws: ``CSVReaderError``, or `CancellationError`.
      @inlinable
      public mutating func next() async throws -> Value? { try await next(isolation: #isolation) }

      @usableFromInline
      mutating func decode(_ row: CSVRow) throws(CSVReaderError) -> Value {
        let known = positions ?? KeyPositions(row.header)
        positions = known
        return try row.decode(Value.self, known)
      }
    }
  }

  /// Calls a closure with each row of the file, decoded as a value, on the calling thread.
  ///
  /// ```swift
  /// struct Station: Decodable { var name: String }
  /// try CSVReader(path: path).forEachRow(as: Station.self) { print($0.name) }
  /// ```
  ///
  /// This method blocks the thread while it reads.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - body: A closure that receives a value.
  /// - Throws: ``CSVReaderError`` if the file or a row can't be read or decoded. The error that `body` throws,
  ///   immediately.
  /// - Complexity: O(*n*) in the size of the file.
  public func forEachRow<Value: Decodable>(as type: Value.Type, _ body: (Value) throws -> Void) throws {
    var positions: KeyPositions?
    try forEachRow { row in
      let known = positions ?? KeyPositions(row.header)
      positions = known
      try body(row.decode(type, known))
    }
  }

  /// Reads all rows of a file that fits into memory, on the calling thread.
  ///
  /// - Parameter type: The type of the values.
  /// - Returns: The value of each row, in file order.
  /// - Throws: ``CSVReaderError`` if the file or a row can't be read or decoded.
  /// - Complexity: O(*n*) in the size of the file.
  public func decodeAll<Value: Decodable>(as type: Value.Type) throws -> [Value] {
    var values: [Value] = []
    try forEachRow(as: type) { values.append($0) }
    return values
  }
}

extension CSVReader.Values: Sendable {}
