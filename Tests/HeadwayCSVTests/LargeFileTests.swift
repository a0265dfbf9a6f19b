import HeadwayCSV
import Testing

/// Parses with one buffer, as an importer does.
private func parse(
  _ input: [UInt8], pieces: Int, maxRecordLength: Int = 16 << 20, largestBuffer: inout Int,
  record: (borrowing CSVRecord) -> Void, malformed: (borrowing CSVParser.MalformedRecord) -> Void
) {
  var parser = CSVParser(maxRecordLength: maxRecordLength)
  var buffer = [UInt8](repeating: 0, count: pieces)
  var filled = 0
  var read = 0
  while read < input.count || filled > 0 {
    if filled == buffer.count {
      buffer += [UInt8](repeating: 0, count: min(buffer.count, parser.requiredCapacity - buffer.count))
    }
    let count = min(buffer.count - filled, pieces, input.count - read)
    buffer.replaceSubrange(filled..<(filled + count), with: input[read..<(read + count)])
    filled += count
    read += count
    let consumed = buffer.withUnsafeBytes { bytes in
      parser.parse(UnsafeRawBufferPointer(rebasing: bytes[..<filled]), isFinal: read == input.count) { row in
        record(row)
        return .continue
      } malformed: { row in
        malformed(row)
        return .continue
      }
    }
    buffer.withUnsafeMutableBytes { bytes in
      bytes.copyBytes(from: Array(bytes[consumed..<filled]))
    }
    filled -= consumed
    largestBuffer = max(largestBuffer, buffer.count)
  }
}

private func rows(_ range: Range<Int>) -> [UInt8] {
  range.reduce(into: []) { $0 += Array("\($1),06:20:00,\"\",stop \($1)\n".utf8) }
}

@Suite(.hangLimit) struct LargeFileTests {
  @Test("I3: a stray quote in a large file affects only its own line", arguments: [0, 40_000, 79_999])
  func strayQuote(at position: Int) {
    let input = rows(0..<position) + Array("stray,\"06:20:00,,\n".utf8) + rows(position..<80_000)
    #expect(input.count > 2_000_000)
    for maximum in [16 << 20, 1 << 16] {
      var next = 0
      var wrong = 0
      var errors: [CSVError] = []
      var largest = 0
      parse(input, pieces: 1 << 16, maxRecordLength: maximum, largestBuffer: &largest) { record in
        wrong += record.count == 4 && record.string(at: 0) == "\(next)" ? 0 : 1
        next += 1
      } malformed: { record in
        #expect(String(decoding: record.rawBytes, as: UTF8.self) == "stray,\"06:20:00,,")
        #expect(record.recordNumber == position + 1)
        errors.append(record.error)
      }
      #expect(next == 80_000)
      #expect(wrong == 0)
      #expect(errors.map(\.code) == [.unclosedQuote])
      #expect(errors.map(\.lineNumber) == [position + 1])
      #expect(largest <= maximum + 2)
    }
  }

  @Test("I3: a record of any length needs a buffer of the maximum length and two bytes")
  func constantMemory() {
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 3_000_000)
    let input = rows(0..<10) + long + Array("\r\n".utf8) + rows(10..<20)
    var largest = 0
    var count = 0
    var lengths: [Int] = []
    parse(input, pieces: 1000, maxRecordLength: 5000, largestBuffer: &largest) { _ in
      count += 1
    } malformed: { record in
      lengths.append(record.rawBytes.count)
      #expect(record.isTruncated && record.error.code == .recordTooLong)
    }
    #expect(count == 20)
    #expect(lengths == [5000])
    #expect(largest <= 5002)
  }

  @Test("I3: a record of a megabyte that arrives byte by byte is parsed in linear time")
  func singleBytes() {
    // Quadratic time would be 5 * 10^11 steps.
    let text = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    let input = Array("\"".utf8) + text + Array("\",b\n".utf8)
    var parser = CSVParser()
    var lengths: [Int] = []
    input.withUnsafeBytes { bytes in
      for end in 1...bytes.count {
        let piece = UnsafeRawBufferPointer(rebasing: bytes[..<end])
        let consumed = parser.parse(piece, isFinal: end == bytes.count) { record in
          lengths.append(record.unsafeBytes(at: 0).count)
          return .continue
        } malformed: { _ in
          .continue
        }
        #expect((consumed > 0) == (end == bytes.count))
      }
    }
    #expect(lengths == [text.count])
  }

  @Test("I3: returning to the next line after each unclosed quote takes linear time")
  func goingBack() {
    // From each of these lines on, the rest of the file reads as one record with an unclosed last quote.
    var input: [UInt8] = Array("a,\"\n".utf8)
    for _ in 0..<400_000 { input += Array("b\",\"\n".utf8) }
    input += rows(0..<10)
    var largest = 0
    var count = 0
    var rawCount = 0
    parse(input, pieces: 1 << 20, largestBuffer: &largest) { record in
      count += 1
      rawCount += record.rawBytes.count + 1
    } malformed: { record in
      rawCount += record.rawBytes.count + 1
    }
    #expect(count == 10)
    #expect(rawCount == input.count)
  }
}
