import HeadwayLines

/// A line as a test sees it.
struct SeenLine: Hashable, Sendable {
  var bytes: [UInt8]
  var number: Int
  var byteOffset: Int

  init(bytes: [UInt8], number: Int, byteOffset: Int) {
    self.bytes = bytes
    self.number = number
    self.byteOffset = byteOffset
  }

  init(_ line: borrowing LineReader.Line) {
    self.init(bytes: Array(line.bytes), number: line.number, byteOffset: line.byteOffset)
  }
}

/// Splits bytes into lines one byte at a time, as plainly as possible, for comparison with `LineReader`.
func referenceLines(_ bytes: [UInt8], _ ends: LineReader.Options.LineEnding) -> [SeenLine] {
  let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
  var lines: [SeenLine] = []
  var start = 0
  var position = 0
  while position < bytes.count {
    let isReturnAndFeed =
      bytes[position] == carriageReturn && position + 1 < bytes.count && bytes[position + 1] == lineFeed
    var endLength = 0
    switch ends {
    case .lf: endLength = bytes[position] == lineFeed ? 1 : 0
    case .lfOrCRLF: endLength = isReturnAndFeed ? 2 : bytes[position] == lineFeed ? 1 : 0
    case .any:
      endLength = isReturnAndFeed ? 2 : bytes[position] == lineFeed || bytes[position] == carriageReturn ? 1 : 0
    }
    if endLength > 0 {
      lines.append(SeenLine(bytes: Array(bytes[start..<position]), number: lines.count + 1, byteOffset: start))
      start = position + endLength
    }
    position += max(1, endLength)
  }
  if start < bytes.count {
    lines.append(SeenLine(bytes: Array(bytes[start...]), number: lines.count + 1, byteOffset: start))
  }
  return lines
}
