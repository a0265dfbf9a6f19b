extension RecordScanner {
  /// Moves on to the next record and says what it is; its particulars are then in `delivery`, `table` and `defect`.
  ///
  /// - Parameters:
  ///   - bytes: The caller's bytes.
  ///   - consumed: How many of them are consumed; moved behind the record and its line end.
  ///   - isFinal: Whether the stream ends with these bytes.
  /// - Returns: What there is to hand out, if anything.
  mutating func next(in bytes: UnsafeRawBufferPointer, at consumed: inout Int, isFinal: Bool) -> CSVParser.Step {
    guard let base = bytes.baseAddress else { return .needsInput }
    while true {
      let input = UnsafeRawBufferPointer(start: base + consumed, count: bytes.count &- consumed)
      if phase != .records {
        let isStart = phase == .streamStart
        let passed = passOver(input, isFinal: isFinal)
        consumed += passed
        // Behind a skipped line there may be another one.
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
      guard progress.region == .unquoted && ending.length <= maximumLength else {
        return result(forBadRecordEndingAt: ending, in: input, at: &consumed)
      }
      return deliver(ending, in: input, lines: progress.innerLines &+ 1, at: &consumed)
    }
  }

  /// Scans with the line ends of the dialect, each kind in a loop of its own.
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

  /// Hands out a well-formed record whose fields are all in the table.
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

  /// Fills in the delivery from where the record starts, and counts it.
  @inline(__always)
  mutating func describeDelivery(length: Int, isTruncated: Bool) {
    recordCount &+= 1
    delivery.length = length
    delivery.fieldCount = progress.fieldCount
    delivery.line = line
    delivery.ordinal = recordCount
    delivery.byteOffset = byteOffset
    delivery.isTruncated = isTruncated
    delivery.hasStrayQuotes = progress.hasStrayQuotes
  }

  /// Leaves a record behind.
  @inline(__always)
  mutating func finish(consuming length: Int, lines: Int, at consumed: inout Int) {
    consumed &+= length
    byteOffset &+= length
    line &+= lines
    progress = Progress()
  }
}
