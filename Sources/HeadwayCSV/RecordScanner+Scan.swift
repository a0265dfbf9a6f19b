extension RecordScanner {
  /// Where a record ends.
  struct Ending {
    /// The bytes before the line end.
    var length: Int
    /// The bytes including the line end.
    var consumed: Int
  }

  /// Scans on to the line end that ends the current record, entering its fields in the table.
  ///
  /// This is the inner loop of the parser. It runs with the progress in a local copy, and touches only structural
  /// bytes.
  ///
  /// - Returns: The ending, with `progress.region` telling whether the record is well-formed (`unquoted`); or nothing
  ///   when there is no line end in the window so far, with everything up to the window's end scanned.
  @inline(__always)
  mutating func scan(
    _ input: UnsafeRawBufferPointer, isFinal: Bool, carriageReturnEnds: Bool, hasExtensions: Bool
  ) -> Ending? {
    let start = input.baseAddress.unsafelyUnwrapped
    let window = min(input.count, maximumLength &+ 2)
    let structural = structural
    let delimiter = dialect.delimiter
    let quote = dialect.quote
    var scan = progress
    var ends = table.ends
    // One entry stays free, for the field that the line end ends.
    var room = table.capacity &- 1

    while scan.position < window {
      var hits = structural.hits(
        at: start + scan.position, count: window &- scan.position, carriageReturnToo: carriageReturnEnds,
        escapeToo: hasExtensions)
      while hits != 0 {
        let index = scan.position &+ hits.trailingZeroBitCount &>> 3
        hits &= hits &- 1
        let byte = start.load(fromByteOffset: index, as: UInt8.self)

        if hasExtensions, scan.passExtension(byte, at: index, in: start, dialect) { continue }
        if byte == delimiter {
          guard scan.endsField(at: index) else { continue }
          if hasExtensions { scan.markSpaces(before: index, in: start, dialect) }
          if scan.fieldCount == room {
            table.grow(keeping: scan.fieldCount)
            ends = table.ends
            room = table.capacity &- 1
          }
          ends[scan.fieldCount] = FieldEnd(position: index, flags: scan.fieldFlags)
          scan.fieldCount &+= 1
          scan.fieldStart = index &+ 1
          scan.fieldFlags = 0
        } else if byte == quote {
          scan.passQuote(at: index)
        } else if scan.region == .quoted {
          // The LF of a CRLF was counted with its CR where a CR counts.
          let ended = carriageReturnEnds && byte == UInt8(ascii: "\n")
          if !(ended && start.load(fromByteOffset: index &- 1, as: UInt8.self) == UInt8(ascii: "\r")) {
            scan.innerLines &+= 1
          }
        } else {
          var ending = Ending(length: index, consumed: index &+ 1)
          if carriageReturnEnds && byte == UInt8(ascii: "\r") {
            if index &+ 1 < input.count {
              let isPair = start.load(fromByteOffset: index &+ 1, as: UInt8.self) == UInt8(ascii: "\n")
              ending.consumed &+= isPair ? 1 : 0
            } else if !isFinal && index <= maximumLength {
              // The next byte tells whether the line end is one byte or two.
              scan.position = index
              progress = scan
              return nil
            }
          } else if index > scan.fieldStart
            && start.load(fromByteOffset: index &- 1, as: UInt8.self) == UInt8(ascii: "\r")
          {
            ending.length = index &- 1
          }
          if scan.endsField(at: ending.length) {
            if hasExtensions { scan.markSpaces(before: ending.length, in: start, dialect) }
            ends[scan.fieldCount] = FieldEnd(position: ending.length, flags: scan.fieldFlags)
            scan.fieldCount &+= 1
          }
          progress = scan
          return ending
        }
      }
      scan.position &+= 8
    }
    scan.position = window
    progress = scan
    return nil
  }
}

extension RecordScanner.Progress {
  /// Whether a delimiter or line end at an index ends a field, which it does outside quotes and right behind them.
  @inline(__always)
  mutating func endsField(at index: Int) -> Bool {
    if region == .unquoted { return true }
    guard region == .closingQuote else { return false }
    region = index == closingQuote &+ 1 ? .unquoted : .malformed
    return region == .unquoted
  }

  /// Takes in a quote.
  @inline(__always)
  mutating func passQuote(at index: Int) {
    switch region {
    case .unquoted:
      // Elsewhere than at the start of a field it is data.
      if index == fieldStart {
        region = .quoted
        fieldFlags = FieldEnd.quoted
        openingQuote = index
        linesBeforeOpeningQuote = innerLines
      } else {
        hasStrayQuotes = true
      }
    case .quoted:
      region = .closingQuote
      closingQuote = index
    case .closingQuote:
      if index == closingQuote &+ 1 {
        region = .quoted
        fieldFlags = FieldEnd.quoted | FieldEnd.rewritten
        hasRewrittenFields = true
      } else {
        region = .malformed
      }
    case .malformed:
      break
    }
  }
}
