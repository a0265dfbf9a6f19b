import Headway

extension CSVParser {
  /// Delivers every complete record in some bytes, in file order.
  ///
  /// `bytes` starts with the first byte that the last call did not consume: the start of the incomplete record,
  /// followed by more bytes. Scanning resumes where it stopped, so the cost is linear even if you pass single bytes.
  ///
  /// A closure ends the call early by returning ``CSVParser/IterationControl/stop`` or by throwing. In both cases the
  /// record that it received counts as consumed. After a throw, ``byteOffset`` is the position that the parser has
  /// reached. You can resume parsing with the bytes after that record.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that have not been consumed, followed by more.
  ///   - isFinal: Whether the stream ends with these bytes. If true, all of them are consumed unless a closure stops
  ///     the call. To continue after a closure has stopped the call, call this method again with the remaining bytes,
  ///     and with `isFinal` set again.
  ///   - record: Receives each well-formed record.
  ///   - malformed: Receives each malformed record.
  /// - Returns: The number of consumed bytes: those of all delivered records, their line endings, and everything that
  ///   was skipped.
  /// - Throws: The error that a closure throws. The parser itself does not throw: it delivers defects.
  /// - Complexity: O(*n*) in the number of new bytes. In the worst case, each is scanned twice, after an unclosed
  ///   quote. No allocation, except to grow the parser's buffers to the size of the largest record, and to describe a
  ///   defect.
  @inlinable
  public mutating func parse<Failure: Error>(
    _ bytes: UnsafeRawBufferPointer,
    isFinal: Bool,
    _ record: (borrowing CSVRecord) throws(Failure) -> IterationControl,
    malformed: (borrowing MalformedRecord) throws(Failure) -> IterationControl
  ) throws(Failure) -> Int {
    checkStart(of: bytes)
    var consumed = 0
    while true {
      let flow: IterationControl
      switch step(in: bytes, at: &consumed, isFinal: isFinal) {
      case .needsInput: return consumed
      case .record: flow = try record(self.record(in: bytes))
      case .malformed: flow = try malformed(malformedRecord(in: bytes))
      }
      if flow == .stop { return consumed }
    }
  }
}

// The parts that the loop above needs when it is inlined into a caller. The scanner stays out of the module's
// interface. It must: Swift 6.3.1 crashes on the setter of a `@usableFromInline` property that owns memory and can't be
// copied.
extension CSVParser {
  /// The result of a step of the scanner.
  @usableFromInline
  enum Step {
    case needsInput
    case record
    case malformed
  }

  /// Stops the program if the bytes can't be the rest of the last call followed by more.
  @usableFromInline
  func checkStart(of bytes: UnsafeRawBufferPointer) {
    require(
      bytes.count >= scanner.progress.position,
      """
      CSVParser: the bytes do not start with the \(scanner.progress.position) that the last call did not consume. Pass \
      these again, followed by more.
      """)
  }

  /// Moves on to the next record.
  @usableFromInline
  mutating func step(in bytes: UnsafeRawBufferPointer, at consumed: inout Int, isFinal: Bool) -> Step {
    scanner.next(in: bytes, at: &consumed, isFinal: isFinal)
  }

  /// The well-formed record of the last step.
  @usableFromInline
  func record(in bytes: UnsafeRawBufferPointer) -> CSVRecord {
    let delivery = scanner.delivery
    return CSVRecord(
      start: bytes.baseAddress.unsafelyUnwrapped + delivery.start, length: delivery.length, ends: scanner.table.ends,
      count: delivery.fieldCount, unescaped: scanner.unescaped.view, lineNumber: delivery.lineNumber,
      recordNumber: delivery.recordNumber,
      byteOffset: delivery.byteOffset, hasStrayQuotes: delivery.hasStrayQuotes)
  }

  /// The malformed record of the last step.
  @usableFromInline
  func malformedRecord(in bytes: UnsafeRawBufferPointer) -> MalformedRecord {
    let delivery = scanner.delivery
    guard let defect = scanner.defect else { misuse("A malformed record has no defect.") }
    let raw = UnsafeRawBufferPointer(rebasing: bytes[delivery.start...].prefix(delivery.length))
    return MalformedRecord(
      error: defect, lineNumber: delivery.lineNumber, recordNumber: delivery.recordNumber,
      byteOffset: delivery.byteOffset, rawBytes: raw,
      isTruncated: delivery.isTruncated)
  }
}
