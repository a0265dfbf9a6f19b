extension CSVParser {
  /// Hands out every record that is complete in some bytes, in the order of the file.
  ///
  /// `bytes` starts with the first byte that the last call did not consume: the start of the record that was
  /// incomplete, with more bytes appended. Scanning resumes where it stopped, so even single bytes cost linear time.
  ///
  /// A closure ends the call early by returning ``CSVFlow/stop`` or by throwing. The record that it was given counts as
  /// consumed either way; after a throw ``byteOffset`` tells how far the parser came. Parsing can be taken up again
  /// with the bytes behind that record.
  ///
  /// - Parameters:
  ///   - bytes: The bytes not consumed so far, and more.
  ///   - isFinal: Whether the stream ends with these bytes. Then all are consumed, unless a closure stopped the call:
  ///     call again with the rest, and `isFinal` again, to go on.
  ///   - record: Receives each well-formed record.
  ///   - malformed: Receives each malformed record.
  /// - Returns: How many bytes are consumed: those of all records handed out, their line ends, and whatever was
  ///   skipped.
  /// - Throws: What a closure throws. The parser has no errors of its own: defects are delivered.
  /// - Complexity: O(*n*) in the number of bytes not seen before; at worst each is scanned twice, behind an unclosed
  ///   quote. No allocation, except to grow the parser's buffers to the largest record and to describe a defect.
  @inlinable
  public mutating func parse<Failure: Error>(
    _ bytes: UnsafeRawBufferPointer,
    isFinal: Bool,
    _ record: (borrowing CSVRecord) throws(Failure) -> CSVFlow,
    malformed: (borrowing CSVMalformedRecord) throws(Failure) -> CSVFlow
  ) throws(Failure) -> Int {
    checkStart(of: bytes)
    var consumed = 0
    while true {
      let flow: CSVFlow
      switch step(in: bytes, at: &consumed, isFinal: isFinal) {
      case .needsInput: return consumed
      case .record: flow = try record(self.record(in: bytes))
      case .malformed: flow = try malformed(malformedRecord(in: bytes))
      }
      if flow == .stop { return consumed }
    }
  }
}

// What the loop above needs when it is inlined into a caller. The scanner stays out of the module's interface (and
// must: Swift 6.3.1 crashes on the setter of a `@usableFromInline` property that owns memory and cannot be copied).
extension CSVParser {
  /// What the scanner found.
  @usableFromInline
  enum Step {
    case needsInput
    case record
    case malformed
  }

  /// Stops the program when the bytes cannot be the rest of the last call and more.
  @usableFromInline
  func checkStart(of bytes: UnsafeRawBufferPointer) {
    precondition(
      bytes.count >= scanner.progress.position, "The bytes must start with those that the last call did not consume")
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
      count: delivery.fieldCount, unescaped: scanner.unescaped.view, line: delivery.line, ordinal: delivery.ordinal,
      byteOffset: delivery.byteOffset, hasStrayQuotes: delivery.hasStrayQuotes)
  }

  /// The malformed record of the last step.
  @usableFromInline
  func malformedRecord(in bytes: UnsafeRawBufferPointer) -> CSVMalformedRecord {
    let delivery = scanner.delivery
    guard let defect = scanner.defect else { preconditionFailure("A malformed record has a defect") }
    let raw = UnsafeRawBufferPointer(rebasing: bytes[delivery.start...].prefix(delivery.length))
    return CSVMalformedRecord(
      error: defect, line: delivery.line, ordinal: delivery.ordinal, byteOffset: delivery.byteOffset, rawBytes: raw,
      isTruncated: delivery.isTruncated)
  }
}
