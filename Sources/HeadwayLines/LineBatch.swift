/// Some whole lines that lie one behind the other in a file, as bytes.
///
/// ```swift
/// for try await batch in reader.batches {
///   batch.forEach { line in total += line.bytes.count }
/// }
/// ```
///
/// A batch has at least one line. Nothing is copied to make it: it refers to the memory the file was read into, and
/// keeps that for as long as it exists. Let go of a batch before asking for the next, and the same memory is used
/// again; keep many, and they take as much memory as the part of the file they hold.
///
/// A batch never changes, and may be sent to other threads and tasks.
public struct LineBatch: Sendable {
  let storage: LineStorage
  private let storageOffset: Int
  private let stripsCarriageReturn: Bool

  /// How many lines there are.
  ///
  /// Never zero.
  public let count: Int

  /// The number of the first line, counted from one.
  public let firstLineNumber: Int

  /// The place in the file where the first line starts, in bytes.
  public var byteOffset: Int { storageOffset + Int(storage.starts[0]) }

  /// The place in the file behind the last line and its line end, in bytes: how much of the file has been consumed when
  /// this batch has been.
  public let endByteOffset: Int

  init(
    storage: LineStorage, storageOffset: Int, stripsCarriageReturn: Bool, count: Int, firstLineNumber: Int,
    endByteOffset: Int
  ) {
    self.storage = storage
    self.storageOffset = storageOffset
    self.stripsCarriageReturn = stripsCarriageReturn
    self.count = count
    self.firstLineNumber = firstLineNumber
    self.endByteOffset = endByteOffset
  }

  /// The positions of the lines: `0 ..< count`.
  public var indices: Range<Int> { 0..<count }

  /// One of the lines, without a copy.
  ///
  /// ```swift
  /// let isComment = batch[0].bytes.first == UInt8(ascii: "#")
  /// ```
  ///
  /// - Parameter position: Which one, from 0.
  /// - Returns: The line, which can be looked at and not kept.
  /// - Precondition: `position` is in `indices`.
  /// - Complexity: O(1). No allocation.
  public subscript(position: Int) -> LineReader.Line {
    _read {
      precondition(indices.contains(position), "LineBatch: there is no line \(position) in a batch of \(count).")
      yield line(at: position)
      // The line points into the storage, which must not go before it.
      withExtendedLifetime(storage) {}
    }
  }

  /// One of the lines as a string.
  ///
  /// - Parameter position: Which one, from 0.
  /// - Returns: The line.
  /// - Throws: ``LineReaderError`` with the code `invalidUTF8`, when that is to be reported.
  /// - Precondition: `position` is in `indices`.
  /// - Complexity: O(n) in the length of the line.
  public func string(at position: Int) throws(LineReaderError) -> String {
    precondition(indices.contains(position), "LineBatch: there is no line \(position) in a batch of \(count).")
    defer { withExtendedLifetime(storage) {} }
    return try line(at: position).string
  }

  /// Calls a closure with each line, in order.
  ///
  /// - Parameter body: What to do with a line. It runs on the calling thread. The line can be looked at and not kept.
  /// - Throws: What `body` throws, at once.
  /// - Complexity: O(n) in the number of lines. No allocation and no reference counting for a line.
  public func forEach<Failure>(_ body: (borrowing LineReader.Line) throws(Failure) -> Void) throws(Failure) {
    defer { withExtendedLifetime(storage) {} }
    for position in 0..<count { try body(line(at: position)) }
  }

  @inline(__always)
  func line(at position: Int) -> LineReader.Line {
    let start = storage.starts[position]
    return LineReader.Line(
      bytes: storage.line(
        from: start, to: storage.starts[position &+ 1], strippingCarriageReturn: stripsCarriageReturn),
      number: firstLineNumber &+ position,
      byteOffset: storageOffset &+ Int(start),
      storage: .passUnretained(storage))
  }
}
