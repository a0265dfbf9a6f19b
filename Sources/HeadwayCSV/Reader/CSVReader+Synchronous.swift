internal import HeadwayLines

extension CSVReader {
  /// Calls a closure with each row of the file, on the calling thread, and returns when there are no more.
  ///
  /// ```swift
  /// let height = CSVColumn("height")
  /// var highest = 0.0
  /// try CSVReader(path: "stations.csv").forEachRow { row in
  ///   highest = max(highest, try row.value(height) ?? 0)
  /// }
  /// ```
  ///
  /// It blocks the thread while it reads, so it belongs in an operation or on a thread of your own, not in a task.
  ///
  /// - Parameter body: What to do with a row.
  /// - Throws: ``CSVReaderError`` when the file or a row cannot be read, and what `body` throws, at once.
  /// - Complexity: O(*n*) in the size of the file. No allocation for a row.
  public func forEachRow(_ body: (CSVRow) throws -> Void) throws {
    var source = RowSource(self)
    while let batch = try source.next(beforeReading: {}) {
      for position in 0..<batch.count { try body(batch.row(at: position)) }
    }
  }

  /// Calls a closure with each row of the file, on the calling thread, until there are no more or it says to stop.
  ///
  /// ```swift
  /// try CSVReader(path: path).forEachRow { row, stop in
  ///   print(try row.fields)
  ///   stop = row.number == 10
  /// }
  /// ```
  ///
  /// Stopping is not an error. An operation that should end when it is cancelled says `stop = isCancelled`.
  ///
  /// - Parameter body: What to do with a row. It is not called again after it has set its second argument to true.
  /// - Throws: ``CSVReaderError`` when the file or a row cannot be read, and what `body` throws, at once.
  /// - Complexity: O(*n*) in the number of bytes up to where it stops, and a chunk.
  public func forEachRow(_ body: (CSVRow, _ stop: inout Bool) throws -> Void) throws {
    var source = RowSource(self)
    var stop = false
    while let batch = try source.next(beforeReading: {}) {
      for position in 0..<batch.count {
        try body(batch.row(at: position), &stop)
        if stop { return }
      }
    }
  }

  /// What a file is like: what was said of it, and what was found in its beginning.
  public struct Form: Sendable, Hashable {
    /// The names of the columns.
    public let columns: [String]

    /// How it is written: the delimiter, the quote and so on.
    public let dialect: CSVDialect

    /// The encoding.
    public let encoding: TextEncoding
  }

  /// Opens the file and looks at its beginning, on the calling thread.
  ///
  /// What is read of a pipe, a descriptor or standard input for this is not read again.
  ///
  /// - Returns: The names of the columns, the dialect and the encoding.
  /// - Throws: ``CSVReaderError`` with the code `cannotRead`, `foreignContent` or `badHeader`.
  public func readForm() throws(CSVReaderError) -> Form {
    var source = RowSource(self)
    return try source.readForm()
  }
}
