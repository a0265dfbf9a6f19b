// The less common cases: the start and the end of the stream, and malformed records.
extension RecordScanner {
  /// Skips a byte order mark or a line that is not a record.
  ///
  /// - Returns: The number of consumed bytes. The phase is `records` if a record follows.
  mutating func passOver(_ input: UnsafeRawBufferPointer, isFinal: Bool) -> Int {
    let passed: Int
    if phase == .streamStart {
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      let common = zip(input, mark).prefix { $0 == $1 }.count
      if common == input.count && common < mark.count && !isFinal { return 0 }
      passed = common == mark.count ? mark.count : 0
      phase = skippedLineCount > 0 ? .skippingLine : .records
    } else if phase == .skippingRecord {
      passed = min(input.count, skipped.length)
      skipped.length -= passed
      if skipped.length == 0 {
        lineNumber += skipped.lines
        phase = .records
      }
    } else if let ending = firstLineEnd(in: input, from: 0) {
      let mayBePair = ending.consumed == input.count && input[ending.consumed - 1] == UInt8(ascii: "\r")
      if mayBePair && !isFinal {
        passed = ending.length
      } else {
        passed = ending.consumed
        lineNumber += 1
        skippedLineCount = max(0, skippedLineCount - 1)
        phase = skippedLineCount > 0 ? .skippingLine : .records
      }
    } else {
      passed = input.count
    }
    byteOffset += passed
    return passed
  }

  /// Determines how to continue if the window of a record contains no line ending so far.
  mutating func result(
    withoutEndingIn input: UnsafeRawBufferPointer, at consumed: inout Int, isFinal: Bool
  ) -> CSVParser.Step {
    let isPastWindow = input.count >= maxLength + 2
    guard isPastWindow || (isFinal && !input.isEmpty) else { return .needsInput }
    let window = UnsafeRawBufferPointer(rebasing: input.prefix(maxLength + 2))

    // The meaning of the window's last byte might depend on the byte after it, which must not be examined.
    let undecided = isPastWindow && progress.region == .closingQuote ? window.count - progress.closingQuote : 0
    let last = window.count - 1
    if progress.region == .quoted || undecided == 1 {
      if isPastWindow, decidesLongQuotes {
        switch longQuote {
        case .unknown:
          awaitsLongQuote = true
          return .needsInput
        case .closed(let extent): return resultForLongRecord(extent, in: window, at: &consumed)
        case .passedOver(let extent, let isOpen):
          return resultForPassedRecord(extent, isOpen: isOpen, in: window, at: &consumed)
        case .stray: longQuote = .unknown
        }
      }
      // A quote that might be the first of two is treated as a closing quote, because then the lines after it are read
      // as records.
      return resultForUnclosedQuote(in: window, at: &consumed)
    }
    if dialect.hasExtensions, let start = window.baseAddress {
      let isBeforeReturn = undecided > 2 && window.last == UInt8(ascii: "\r")
      progress.passSpaces(before: isBeforeReturn ? last : window.count, in: start, dialect)
    }
    if undecided >= 2 && window.last == UInt8(ascii: "\r") && progress.closingQuote == last - 1 {
      // A CR that might be the first half of a line ending, and therefore not text after the closing quote.
      return resultForTruncated(.recordTooLong, in: input, at: &consumed)
    }
    let ending = Ending(length: window.count, consumed: window.count)
    if progress.endsField(at: window.count) && window.count <= maxLength {
      if dialect.hasExtensions, let start = window.baseAddress {
        progress.markSpaces(before: window.count, in: start, dialect)
      }
      table.ends[progress.fieldCount] = FieldEnd(position: window.count, flags: progress.fieldFlags)
      progress.fieldCount += 1
      return deliver(ending, in: input, lines: progress.innerLines, at: &consumed)
    }
    return result(forBadRecordEndingAt: ending, in: input, at: &consumed)
  }

  /// Delivers a record that ended malformed, or that is well-formed but too long.
  mutating func result(
    forBadRecordEndingAt ending: Ending, in input: UnsafeRawBufferPointer, at consumed: inout Int
  ) -> CSVParser.Step {
    let code: CSVError.Code = progress.region == .malformed ? .textAfterClosingQuote : .recordTooLong
    guard ending.length <= maxLength else {
      return resultForTruncated(code, in: input, at: &consumed)
    }
    setDefect(code, in: input)
    describeDelivery(length: ending.length, isTruncated: false)
    let lines = progress.innerLines + (ending.consumed > ending.length ? 1 : 0)
    finish(consuming: ending.consumed, lines: lines, at: &consumed)
    return .malformed
  }

  /// Delivers a record up to the end of the line where its last quote opened.
  ///
  /// Scanning continues after that line.
  private mutating func resultForUnclosedQuote(
    in window: UnsafeRawBufferPointer, at consumed: inout Int
  ) -> CSVParser.Step {
    let wholeInput = Ending(length: window.count, consumed: window.count)
    let ending = firstLineEnd(in: window, from: progress.openingQuote) ?? wholeInput
    guard ending.length <= maxLength else {
      return resultForTruncated(.recordTooLong, in: window, at: &consumed)
    }
    setDefect(.unclosedQuote, in: window)
    describeDelivery(length: ending.length, isTruncated: false)
    let lines = progress.linesBeforeOpeningQuote + (ending.consumed > ending.length ? 1 : 0)
    finish(consuming: ending.consumed, lines: lines, at: &consumed)
    return .malformed
  }

  /// Delivers the start of a record that is too long but well-formed, up to the maximum length.
  ///
  /// The rest of the record is skipped.
  private mutating func resultForLongRecord(
    _ extent: LongRecord.Extent, in input: UnsafeRawBufferPointer, at consumed: inout Int
  ) -> CSVParser.Step {
    setDefect(.recordTooLong, in: input, detail: extent.tooLong)
    describeDelivery(length: maxLength, isTruncated: true)
    finish(consuming: maxLength, lines: 0, at: &consumed)
    skipped = LongRecord.Extent(length: extent.length - maxLength, lines: extent.lines)
    longQuote = .unknown
    phase = .skippingRecord
    return .malformed
  }

  /// Delivers the start of a record, up to the maximum length.
  ///
  /// The caller has already skipped the rest.
  private mutating func resultForPassedRecord(
    _ extent: LongRecord.Extent, isOpen: Bool, in window: UnsafeRawBufferPointer, at consumed: inout Int
  ) -> CSVParser.Step {
    if isOpen {
      setDefect(
        .unclosedQuote, in: window,
        detail: "a quote that is never closed, so the last \(extent.length) bytes can't be read as records")
    } else {
      setDefect(.recordTooLong, in: window, detail: extent.tooLong)
    }
    describeDelivery(length: maxLength, isTruncated: true)
    finish(consuming: window.count, lines: extent.lines, at: &consumed)
    byteOffset += extent.length - window.count
    longQuote = .unknown
    return .malformed
  }

  /// Delivers the start of a record, up to the maximum length.
  ///
  /// The rest of the line is skipped.
  private mutating func resultForTruncated(
    _ code: CSVError.Code, in input: UnsafeRawBufferPointer, at consumed: inout Int
  ) -> CSVParser.Step {
    setDefect(code, in: input)
    describeDelivery(length: maxLength, isTruncated: true)
    // Counted again, because the scan might have counted a line ending after the part that is consumed here.
    var lines = 0
    var position = 0
    let part = UnsafeRawBufferPointer(rebasing: input[..<maxLength])
    while let ending = firstLineEnd(in: part, from: position) {
      lines += 1
      position = ending.consumed
    }
    finish(consuming: maxLength, lines: lines, at: &consumed)
    phase = .skippingLine
    return .malformed
  }
}

extension LongRecord.Extent {
  /// The reason why the record is malformed.
  fileprivate var tooLong: String { "a record of \(length) bytes, which is longer than the maximum" }
}
