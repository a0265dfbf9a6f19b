import Headway

/// Consecutive complete lines of a file, as bytes.
///
/// ```swift
/// for try await batch in reader.batches {
///   batch.forEach { line in total += line.bytes.count }
/// }
/// ```
///
/// A batch has at least one line. Creating it copies nothing: it refers to the memory that the file was read into, and
/// keeps that memory as long as it exists. If you release a batch before you request the next one, the same memory is
/// used again. If you keep many batches, they need as much memory as the part of the file that they contain.
///
/// A batch never changes, and you can send it to other threads and tasks.
public struct LineBatch: Sendable {
  let storage: LineStorage
  private let storageOffset: Int
  private let stripsCarriageReturn: Bool

  /// The number of lines.
  ///
  /// Never zero.
  public let count: Int

  /// The number of the first line, starting at one.
  public let firstLineNumber: Int

  /// The part of the file that the lines occupy, in bytes, including their line endings.
  ///
  /// The upper bound is the number of bytes that have been consumed after this batch.
  public var byteRange: Range<Int> { storageOffset + Int(storage.starts[0])..<endByteOffset }

  private let endByteOffset: Int

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

  /// Accesses one of the lines, without a copy.
  ///
  /// ```swift
  /// let isComment = batch[0].bytes.first == UInt8(ascii: "#")
  /// ```
  ///
  /// - Parameter position: The position of the line, starting at 0.
  /// - Returns: The line, which you can read but not store.
  /// - Precondition: `position` is in `indices`.
  /// - Complexity: O(1). No allocation.
  public subscript(position: Int) -> LineReader.Line {
    _read {
      require(indices.contains(position), "LineBatch: there is no line \(position) in a batch of \(count).")
      yield line(at: position)
      // The line points into the storage, which must not be released before it.
      withExtendedLifetime(storage) {}
    }
  }

  /// Returns one of the lines as a string.
  ///
  /// - Parameter position: The position of the line, starting at 0.
  /// - Returns: The text of the line.
  /// - Throws: ``LineReaderError`` with the code `invalidUTF8`, if the line is not valid UTF-8 and the options reject
  ///   it.
  /// - Precondition: `position` is in `indices`.
  /// - Complexity: O(n) in the length of the line.
  public func string(at position: Int) throws(LineReaderError) -> String {
    require(indices.contains(position), "LineBatch: there is no line \(position) in a batch of \(count).")
    defer { withExtendedLifetime(storage) {} }
    return try line(at: position).string
  }

  /// Calls a closure with each line, in order.
  ///
  /// - Parameter body: A closure that receives a line. It runs on the calling thread. It can read the line but not
  ///   store it.
  /// - Throws: The error that `body` throws, immediately.
  /// - Complexity: O(n) in the number of lines. No allocation and no reference counting per line.
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
