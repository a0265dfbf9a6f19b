extension RecordScanner {
  /// Advances to the next record and returns its kind.
  ///
  /// Its details are then in `delivery`, `table` and `defect`.
  ///
  /// - Parameters:
  ///   - bytes: The caller's bytes.
  ///   - consumed: The number of consumed bytes. It is advanced to the end of the record's line ending.
  ///   - isFinal: Whether the stream ends with these bytes.
  /// - Returns: The kind of record to deliver, if there is one.
  mutating func next(in bytes: UnsafeRawBufferPointer, at consumed: inout Int, isFinal: Bool) -> CSVParser.Step {
    guard let base = bytes.baseAddress else { return .needsInput }
    while true {
      let input = UnsafeRawBufferPointer(start: base + consumed, count: bytes.count &- consumed)
      if phase != .records {
        let isStart = phase == .streamStart
        let passed = passOver(input, isFinal: isFinal)
        consumed += passed
        // Another line to skip might follow a skipped line.
        let mayGoOn = phase == .skippingLine && consumed < bytes.count && (passed > 0 || isStart)
        guard phase == .records || mayGoOn else { return .needsInput }
        continue
      }
      if dialect.comment != nil, progress.position == 0, input.first == dialect.comment {
        phase = .skippingLine
        continue
      }
      delivery.start = consumed
      guard let ending = findEnding(in: input, isFinal: isFinal) else {
        return result(withoutEndingIn: input, at: &consumed, isFinal: isFinal)
      }
      if ending.length == 0 && !dialect.keepsBlankLines {
        finish(consuming: ending.consumed, lines: 1, at: &consumed)
        continue
      }
      guard progress.region == .unquoted && ending.length <= maxLength else {
        return result(forBadRecordEndingAt: ending, in: input, at: &consumed)
      }
      return deliver(ending, in: input, lines: progress.innerLines &+ 1, at: &consumed)
    }
  }

  /// Scans with the line endings of the dialect, with a separate loop for each kind.
  @inline(__always)
  private mutating func findEnding(in input: UnsafeRawBufferPointer, isFinal: Bool) -> Ending? {
    if dialect.hasExtensions {
      return scan(
        input, isFinal: isFinal, carriageReturnEnds: dialect.endsRecordsAtLoneCarriageReturn, hasExtensions: true)
    }
    if dialect.endsRecordsAtLoneCarriageReturn {
      return scan(input, isFinal: isFinal, carriageReturnEnds: true, hasExtensions: false)
    }
    return scan(input, isFinal: isFinal, carriageReturnEnds: false, hasExtensions: false)
  }

  /// Delivers a well-formed record whose fields are all in the table.
  @inline(__always)
  mutating func deliver(
    _ ending: Ending, in input: UnsafeRawBufferPointer, lines: Int, at consumed: inout Int
  ) -> CSVParser.Step {
    if progress.hasRewrittenFields {
      let record = UnsafeRawBufferPointer(rebasing: input[..<ending.length])
      unescaped.fill(from: record, ends: table.ends, count: progress.fieldCount, dialect)
    }
    describeDelivery(length: ending.length, isTruncated: false)
    finish(consuming: ending.consumed, lines: lines, at: &consumed)
    return .record
  }

  /// Sets the delivery's properties from the start of the record and counts the record.
  @inline(__always)
  mutating func describeDelivery(length: Int, isTruncated: Bool) {
    recordCount &+= 1
    delivery.length = length
    delivery.fieldCount = progress.fieldCount
    delivery.lineNumber = lineNumber
    delivery.recordNumber = recordCount
    delivery.byteOffset = byteOffset
    delivery.isTruncated = isTruncated
    delivery.hasStrayQuotes = progress.hasStrayQuotes
  }

  /// Advances to the position after a record.
  @inline(__always)
  mutating func finish(consuming length: Int, lines: Int, at consumed: inout Int) {
    consumed &+= length
    byteOffset &+= length
    lineNumber &+= lines
    progress = Progress()
  }
}
