extension RecordScanner {
  /// The position where a record ends.
  struct Ending {
    /// The number of bytes before the line ending.
    var length: Int
    /// The number of bytes including the line ending.
    var consumed: Int
  }

  /// Scans to the line ending that ends the current record and adds the record's fields to the table.
  ///
  /// This is the inner loop of the parser. It runs with the progress in a local copy, and examines only structural
  /// bytes.
  ///
  /// - Returns: The ending; `progress.region` is then `unquoted` if the record is well-formed. Nil if the window
  ///   contains no line ending so far; everything up to the window's end has then been scanned.
  @inline(__always)
  mutating func scan(
    _ input: UnsafeRawBufferPointer, isFinal: Bool, carriageReturnEnds: Bool, hasExtensions: Bool
  ) -> Ending? {
    let start = input.baseAddress.unsafelyUnwrapped
    let window = min(input.count, maxLength &+ 2)
    let structural = structural
    let delimiter = dialect.delimiter
    let quote = dialect.quote
    var scan = progress
    var ends = table.ends
    // One entry stays free for the field before the line ending.
    var room = table.capacity &- 1

    while scan.position < window {
      var hits = structural.hits(
        at: start + scan.position, count: window &- scan.position, carriageReturnToo: carriageReturnEnds,
        escapeToo: hasExtensions)
      while hits != 0 {
        let index = scan.position &+ (hits.trailingZeroBitCount &>> 3)
        hits &= hits &- 1
        let byte = start.load(fromByteOffset: index, as: UInt8.self)

        if hasExtensions, scan.passExtension(byte, at: index, in: start, dialect) { continue }
        if byte == delimiter {
          if hasExtensions { scan.passSpaces(before: index, in: start, dialect) }
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
          // If a CR ends a line, the LF of a CRLF was counted with its CR.
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
            } else if !isFinal && index <= maxLength {
              // The next byte determines whether the line ending is one byte or two.
              scan.position = index
              progress = scan
              return nil
            }
          } else if index > scan.fieldStart
            && start.load(fromByteOffset: index &- 1, as: UInt8.self) == UInt8(ascii: "\r")
          {
            ending.length = index &- 1
          }
          if hasExtensions { scan.passSpaces(before: ending.length, in: start, dialect) }
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
  /// Returns whether a delimiter or line ending at an index ends a field.
  ///
  /// It does outside quotes and directly after a closing quote.
  @inline(__always)
  mutating func endsField(at index: Int) -> Bool {
    if region == .unquoted { return true }
    guard region == .closingQuote else { return false }
    region = index == closingQuote &+ 1 ? .unquoted : .malformed
    return region == .unquoted
  }

  /// Processes a quote.
  @inline(__always)
  mutating func passQuote(at index: Int) {
    switch region {
    case .unquoted:
      // Anywhere except at the start of a field, a quote is data.
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
