internal import HeadwayLines

extension CSVReader {
  /// Calls a closure with each row of the file, on the calling thread, and returns after the last row.
  ///
  /// ```swift
  /// let height = CSVColumn("height")
  /// var highest = 0.0
  /// try CSVReader(path: "stations.csv").forEachRow { row in
  ///   highest = max(highest, try row.value(height) ?? 0)
  /// }
  /// ```
  ///
  /// This method blocks the thread while it reads, so call it in an operation or on your own thread, not in a task.
  ///
  /// - Parameter body: A closure that receives a row.
  /// - Throws: ``CSVReaderError`` if the file or a row can't be read. The error that `body` throws, immediately.
  /// - Complexity: O(*n*) in the size of the file. No allocation per row.
  public func forEachRow(_ body: (CSVRow) throws -> Void) throws {
    var source = RowSource(self)
    while let batch = try source.next(beforeReading: {}) {
      for position in 0..<batch.count { try body(batch.row(at: position)) }
    }
  }

  /// Calls a closure with each row of the file, on the calling thread, until the end or until the closure stops the
  /// reading.
  ///
  /// ```swift
  /// try CSVReader(path: path).forEachRow { row, stop in
  ///   print(try row.fields)
  ///   stop = row.rowNumber == 10
  /// }
  /// ```
  ///
  /// Stopping is not an error. In an operation that should end when it is cancelled, set `stop = isCancelled`.
  ///
  /// - Parameter body: A closure that receives a row. It is not called again after it has set its second argument to
  ///   true.
  /// - Throws: ``CSVReaderError`` if the file or a row can't be read. The error that `body` throws, immediately.
  /// - Complexity: O(*n*) in the number of bytes up to the position where it stops, plus a chunk.
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

  /// Opens the file and reads its beginning, on the calling thread.
  ///
  /// The bytes that are read from a pipe, a descriptor or standard input for this purpose are not read again.
  ///
  /// - Returns: The column names, the dialect, the encoding and so on.
  /// - Throws: ``CSVReaderError`` with the code `cannotRead`, `foreignContent` or `badHeader`.
  public func detectLayout() throws(CSVReaderError) -> CSVLayout {
    var source = RowSource(self)
    return try source.detectLayout()
  }
}
