extension CSVReader {
  /// The rows of the file, each as a value of a type.
  ///
  /// ```swift
  /// struct Station: Decodable {
  ///   var id: Int
  ///   var name: String
  ///   var height: Double?
  /// }
  ///
  /// for try await station in CSVReader(path: path).rows(of: Station.self) {
  ///   print(station.name)
  /// }
  /// ```
  ///
  /// Values are made where the loop runs, as ``CSVRow/decode(_:)`` does it. A row of which none can be made ends the
  /// loop with an error; to go on behind it, decode the rows of ``rows`` yourself. What is said of reading and
  /// cancelling there holds here too.
  ///
  /// - Parameter type: The type of the values.
  /// - Returns: The values; nothing is read before they are asked for.
  public func rows<Value: Decodable>(of type: Value.Type) -> Values<Value> { Values(rows: rows) }

  /// The rows of a file as values of a type.
  ///
  /// See ``CSVReader/rows(of:)``.
  public struct Values<Value: Decodable>: AsyncSequence {
    @usableFromInline let rows: Rows

    init(rows: Rows) { self.rows = rows }

    /// Starts from the beginning of the file.
    ///
    /// - Returns: The values, of which none has been read.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rows: rows.makeAsyncIterator()) }

    /// A place in the file.
    public struct AsyncIterator: AsyncIteratorProtocol {
      @usableFromInline var rows: Rows.AsyncIterator
      private var positions: KeyPositions?

      init(rows: Rows.AsyncIterator) { self.rows = rows }

      /// Gives the value of the next row, and reads a chunk if there is none.
      ///
      /// - Parameter actor: Where the caller runs, and where it goes on.
      /// - Returns: A value, or nil at the end of the file and after an error of reading.
      /// - Throws: ``CSVReaderError``, or `CancellationError`.
      @inlinable
      public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
        guard let row = try await rows.next(isolation: actor) else { return nil }
        return try decode(row)
      }

      /// Gives the value of the next row, and reads a chunk if there is none.
      ///
      /// - Returns: A value, or nil at the end of the file and after an error of reading.
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

  /// Calls a closure with each row of the file as a value of a type, on the calling thread.
  ///
  /// ```swift
  /// struct Station: Decodable { var name: String }
  /// try CSVReader(path: path).forEachRow(of: Station.self) { print($0.name) }
  /// ```
  ///
  /// It blocks the thread while it reads.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - body: What to do with a value.
  /// - Throws: ``CSVReaderError`` when the file or a row cannot be read or decoded, and what `body` throws, at once.
  /// - Complexity: O(*n*) in the size of the file.
  public func forEachRow<Value: Decodable>(of type: Value.Type, _ body: (Value) throws -> Void) throws {
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
  /// - Returns: The value of each row, in the order of the file.
  /// - Throws: ``CSVReaderError`` when the file or a row cannot be read or decoded.
  /// - Complexity: O(*n*) in the size of the file.
  public func decodeAll<Value: Decodable>(_ type: Value.Type) throws -> [Value] {
    var values: [Value] = []
    try forEachRow(of: type) { values.append($0) }
    return values
  }
}

extension CSVReader.Values: Sendable {}
