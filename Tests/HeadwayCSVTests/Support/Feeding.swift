import HeadwayCSV
import Testing

/// How a test cuts its input.
struct Feeding {
  /// The sizes of the pieces, which are used repeatedly in this order.
  var sizes: [Int]
  /// Whether the end of the stream is reported in a separate call, without new bytes.
  var announcesEndAlone = false
  var dialect = CSVDialect()
  var maxRecordLength = 16 << 20

  /// Parses an input in pieces and returns every record.
  ///
  /// Each call gets a buffer of exactly the bytes that it may read, so a sanitizer detects any read beyond them. Each
  /// call also checks that the parser leaves at most as many bytes as documented.
  func records(of input: [UInt8]) -> [ParsedRecord] {
    var parser = CSVParser(dialect: dialect, maxRecordLength: maxRecordLength)
    var records: [ParsedRecord] = []
    var start = 0
    var end = 0
    var round = 0
    var isFinal = false
    while !isFinal {
      let size = sizes[round % sizes.count]
      round += 1
      isFinal = announcesEndAlone ? end == input.count : end + size >= input.count
      end = min(end + size, input.count)
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: end - start, alignment: 1)
      defer { buffer.deallocate() }
      buffer.copyBytes(from: input[start..<end])
      start += parser.parse(UnsafeRawBufferPointer(buffer), isFinal: isFinal) { record in
        records.append(ParsedRecord(record))
        return .continue
      } malformed: { record in
        records.append(ParsedRecord(record))
        return .continue
      }
      if parser.byteOffset != start || (!isFinal && end - start >= parser.requiredCapacity) {
        Issue.record("\(end - start) bytes remain at \(start); the parser is at \(parser.byteOffset)")
      }
    }
    if start != input.count {
      Issue.record("\(input.count - start) bytes are not consumed at the end")
    }
    return records
  }
}

/// Expects that an input gives the same records, lines, offsets and defects no matter how it is cut.
///
/// The pieces have every size from 1 to the length of the input plus one. The end is reported along with the last
/// piece, and separately.
func expectSameInAllPieces(
  _ input: [UInt8], as expected: [ParsedRecord], dialect: CSVDialect = CSVDialect(),
  maxRecordLength: Int = 16 << 20, sourceLocation: SourceLocation = #_sourceLocation
) {
  for size in 1...(input.count + 1) {
    for announcesEndAlone in [false, true] {
      let feeding = Feeding(
        sizes: [size], announcesEndAlone: announcesEndAlone, dialect: dialect, maxRecordLength: maxRecordLength)
      let records = feeding.records(of: input)
      if records != expected {
        let text = String(decoding: input, as: UTF8.self).debugDescription
        Issue.record(
          "\(text) in pieces of \(size), end alone: \(announcesEndAlone):\n\(records)\nexpected:\n\(expected)",
          sourceLocation: sourceLocation)
        return
      }
    }
  }
}
