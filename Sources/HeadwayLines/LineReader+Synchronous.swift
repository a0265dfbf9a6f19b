import Headway

extension LineReader {
  /// Calls a closure with each line of the file, on the calling thread, and returns after the last line.
  ///
  /// ```swift
  /// var longest = 0
  /// try LineReader(path: "words.txt").forEachLine { line in longest = max(longest, line.bytes.count) }
  /// ```
  ///
  /// It blocks the thread while it reads, so call it in an operation or on your own thread, not in a task.
  ///
  /// - Parameter body: A closure that receives a line. It can read the line but not store it.
  /// - Throws: ``LineReaderError`` if the file can't be read. The error that `body` throws, immediately.
  /// - Precondition: The file is not followed.
  /// - Complexity: O(n) in the size of the file. No allocation and no reference counting per line.
  public func forEachLine(_ body: (borrowing Line) throws -> Void) throws {
    try forEachBatch { batch, _ in try batch.forEach(body) }
  }

  /// Calls a closure with each line of the file, on the calling thread, until the end or until the closure stops the
  /// reading.
  ///
  /// ```swift
  /// try reader.forEachLine { line, stop in
  ///   header.append(try line.string)
  ///   stop = line.number == 10
  /// }
  /// ```
  ///
  /// Stopping is not an error. In an operation that should end when it is cancelled, set `stop = isCancelled`.
  ///
  /// - Parameter body: A closure that receives a line. It is not called again after it has set its second argument to
  ///   true.
  /// - Throws: ``LineReaderError`` if the file can't be read. The error that `body` throws, immediately.
  /// - Precondition: The file is not followed.
  /// - Complexity: O(n) in the number of bytes up to the position where it stops, plus a chunk.
  public func forEachLine(_ body: (borrowing Line, _ stop: inout Bool) throws -> Void) throws {
    try forEachBatch { batch, stop in
      defer { withExtendedLifetime(batch) {} }
      for position in batch.indices {
        try body(batch.line(at: position), &stop)
        if stop { return }
      }
    }
  }

  /// Calls a closure with all lines of the file, many at a time, on the calling thread, until the end or until the
  /// closure stops the reading.
  ///
  /// ```swift
  /// try reader.forEachBatch { batch, _ in total += batch.count }
  /// ```
  ///
  /// You can keep a batch and send it to another thread. While you keep it, the memory for another chunk is used. This
  /// method blocks the thread while it reads.
  ///
  /// - Parameter body: A closure that receives some lines. It is not called again after it has set its second argument
  ///   to true.
  /// - Throws: ``LineReaderError`` if the file can't be read. The error that `body` throws, immediately.
  /// - Precondition: The file is not followed.
  /// - Complexity: O(n) in the size of the file.
  public func forEachBatch(_ body: (LineBatch, _ stop: inout Bool) throws -> Void) throws {
    require(
      following == nil,
      "LineReader: \(path) is followed, so this call would never return. Use batches, lines, or enumerateLines."
    )
    var assembler = LineAssembler(self)
    var stop = false
    while !stop, let batch = try assembler.next(beforeReading: {}) {
      try body(batch, &stop)
    }
  }
}
