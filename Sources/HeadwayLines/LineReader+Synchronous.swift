extension LineReader {
  /// Calls a closure with each line of the file, on the calling thread, and returns when there are no more.
  ///
  /// ```swift
  /// var longest = 0
  /// try LineReader(path: "words.txt").forEachLine { line in longest = max(longest, line.bytes.count) }
  /// ```
  ///
  /// It blocks the thread while it reads, so it belongs in an operation or on a thread of your own, not in a task.
  ///
  /// - Parameter body: What to do with a line. The line can be looked at and not kept.
  /// - Throws: ``LineReaderError`` when the file cannot be read, and what `body` throws, at once.
  /// - Complexity: O(n) in the size of the file. No allocation and no reference counting for a line.
  public func forEachLine(_ body: (borrowing Line) throws -> Void) throws {
    try forEachBatch { batch, _ in try batch.forEach(body) }
  }

  /// Calls a closure with each line of the file, on the calling thread, until there are no more or it says to stop.
  ///
  /// ```swift
  /// try reader.forEachLine { line, stop in
  ///   header.append(try line.string)
  ///   stop = line.number == 10
  /// }
  /// ```
  ///
  /// Stopping is not an error. An operation that should end when it is cancelled says `stop = isCancelled`.
  ///
  /// - Parameter body: What to do with a line. It is not called again after it has set its second argument to true.
  /// - Throws: ``LineReaderError`` when the file cannot be read, and what `body` throws, at once.
  /// - Complexity: O(n) in the number of bytes up to where it stops, and a chunk.
  public func forEachLine(_ body: (borrowing Line, _ stop: inout Bool) throws -> Void) throws {
    try forEachBatch { batch, stop in
      defer { withExtendedLifetime(batch) {} }
      for position in batch.indices {
        try body(batch.line(at: position), &stop)
        if stop { return }
      }
    }
  }

  /// Calls a closure with all lines of the file, many at a time, on the calling thread, until there are no more or it
  /// says to stop.
  ///
  /// ```swift
  /// try reader.forEachBatch { batch, _ in total += batch.count }
  /// ```
  ///
  /// A batch may be kept and sent elsewhere; while one is, the memory of another chunk is used. It blocks the thread
  /// while it reads.
  ///
  /// - Parameter body: What to do with some lines. It is not called again after it has set its second argument to true.
  /// - Throws: ``LineReaderError`` when the file cannot be read, and what `body` throws, at once.
  /// - Complexity: O(n) in the size of the file.
  public func forEachBatch(_ body: (LineBatch, _ stop: inout Bool) throws -> Void) throws {
    var assembler = LineAssembler(path: path, options: options)
    var stop = false
    while !stop, let batch = try assembler.next(beforeReading: {}) {
      try body(batch, &stop)
    }
  }
}
