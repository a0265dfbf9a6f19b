/// Finds the ends of lines.
///
/// Knows nothing of files, and keeps nothing between calls.
struct LineScanner: Sendable {
  static let lineFeed: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D

  let lineEnds: LineReader.Options.LineEnds
  let maximumLineLength: Int

  /// The part of a buffer that holds bytes not yet handed out.
  struct Window: Sendable {
    /// The start of the first line not handed out.
    var start = 0
    /// No line ends between `start` and here, so that a line spread over many chunks is looked through once.
    var scanned = 0
    /// The end of the bytes.
    var end = 0

    /// The number of bytes not handed out.
    var count: Int { end - start }
  }

  struct Finding {
    /// How many lines were put into the table.
    var lineCount: Int
    /// Whether the line after these has an end and is longer than allowed.
    ///
    /// The window then starts at it.
    var isNextTooLong = false
  }

  /// Whether a CR before the last byte of a line belongs to the line end.
  var stripsCarriageReturn: Bool { lineEnds != .lf }

  /// Takes whole lines from the window and puts them into the table, until one of the two is exhausted.
  ///
  /// - Parameters:
  ///   - window: The bytes to look at. Afterwards without the lines found.
  ///   - storage: Where the bytes are, and the table.
  ///   - isLast: Whether no bytes will follow those in the window.
  /// - Returns: How many lines were found, and whether the next is too long.
  func takeLines(from window: inout Window, in storage: LineStorage, isLast: Bool) -> Finding {
    let before = window
    storage.starts[0] = UInt32(window.start)
    let count =
      switch lineEnds {
      case .lf, .lfOrCRLF: takeLinesWithLineFeed(from: &window, in: storage)
      case .any: takeLinesWithAnyEnd(from: &window, in: storage, isLast: isLast)
      }
    // Most often the limit is larger than the buffer, and no line need be measured.
    guard before.count > maximumLineLength else { return Finding(lineCount: count) }
    return measuring(count, of: &window, in: storage)
  }

  /// Whether the bytes of the window, in which no line ends, are the start of a line longer than allowed.
  ///
  /// One byte more than the limit is let pass while bytes may follow: it may be the CR of a CRLF, which is not part of
  /// the line.
  func isTooLong(unfinished window: Window, isLast: Bool) -> Bool {
    window.count > maximumLineLength + (isLast ? 0 : 1)
  }

  private func measuring(_ count: Int, of window: inout Window, in storage: LineStorage) -> Finding {
    for position in 0..<count {
      let start = storage.starts[position]
      let next = storage.starts[position + 1]
      let line = storage.line(from: start, to: next, strippingCarriageReturn: stripsCarriageReturn)
      if line.count > maximumLineLength {
        window.start = Int(start)
        window.scanned = Int(start)
        return Finding(lineCount: position, isNextTooLong: true)
      }
    }
    return Finding(lineCount: count)
  }

  private func takeLinesWithLineFeed(from window: inout Window, in storage: LineStorage) -> Int {
    // Lines of one file are alike. Those of the first blocks tell how to find the others: in blocks, which costs the
    // same however many there are, or by `memchr`, which is quicker from about 96 bytes a line on.
    let sampleEnd = min(window.end, window.scanned + 16 * NewlineMask.blockSize)
    let sampleSize = sampleEnd - window.scanned
    var count = takeLinesInBlocks(upTo: sampleEnd, from: &window, in: storage, count: 0)
    if count * 96 < sampleSize {
      count = takeLinesOneByOne(from: &window, in: storage, count: count)
    } else {
      count = takeLinesInBlocks(upTo: window.end, from: &window, in: storage, count: count)
    }
    if count > 0 { window.start = Int(storage.starts[count]) }
    return count
  }

  private func takeLinesOneByOne(from window: inout Window, in storage: LineStorage, count found: Int) -> Int {
    let bytes = UnsafeRawPointer(storage.bytes)
    let (starts, room, end) = (storage.starts + 1, storage.lineCapacity, window.end)
    var (scanned, count) = (window.scanned, found)
    while scanned < end, count < room {
      let hit = Platform.position(of: Self.lineFeed, in: bytes, from: scanned, to: end)
      scanned = hit
      guard hit < end else { break }
      scanned = hit &+ 1
      starts[count] = UInt32(truncatingIfNeeded: scanned)
      count &+= 1
    }
    window.scanned = scanned
    return count
  }

  private func takeLinesInBlocks(
    upTo end: Int, from window: inout Window, in storage: LineStorage, count found: Int
  ) -> Int {
    let bytes = UnsafeRawPointer(storage.bytes)
    let (starts, room) = (storage.starts + 1, storage.lineCapacity)
    var (scanned, count) = (window.scanned, found)
    while scanned < end, count < room {
      // Past the end the block reaches into bytes that are not asked for, or the storage's slack.
      var bits = NewlineMask.bits(of: bytes + scanned)
      let remaining = end &- scanned
      if remaining < NewlineMask.blockSize { bits &= (1 &<< UInt64(truncatingIfNeeded: remaining)) &- 1 }
      let base = UInt32(truncatingIfNeeded: scanned) &+ 1
      let next = count &+ bits.nonzeroBitCount
      // Four at a time, needed or not: the table has slack, and a branch that is rarely guessed wrong is what counts.
      while count < next {
        for step in 0..<4 {
          starts[count &+ step] = base &+ UInt32(truncatingIfNeeded: bits.trailingZeroBitCount)
          bits &= bits &- 1
        }
        count &+= 4
      }
      count = next
      scanned &+= NewlineMask.blockSize
    }
    window.scanned = min(scanned, end)
    return count
  }

  private func takeLinesWithAnyEnd(from window: inout Window, in storage: LineStorage, isLast: Bool) -> Int {
    let bytes = UnsafeRawPointer(storage.bytes)
    let end = window.end
    var count = 0
    // The next of each kind is kept until it is passed. Looking for both from every line's start would look through the
    // whole rest of the buffer for each line of a file that has only one of them.
    var nextLineFeed = Platform.position(of: Self.lineFeed, in: bytes, from: window.scanned, to: end)
    var nextReturn = Platform.position(of: Self.carriageReturn, in: bytes, from: window.scanned, to: end)
    while count < storage.lineCapacity {
      let hit = min(nextLineFeed, nextReturn)
      window.scanned = hit
      guard hit < end else { break }
      var next = hit + 1
      if hit == nextReturn {
        // At the edge, only the byte that comes next tells whether this is a CR or a CRLF.
        if next == end, !isLast { break }
        // `end` stands for "none", so it is not a place to find one at.
        if next < end, next == nextLineFeed { next += 1 }
      }
      count += 1
      storage.starts[count] = UInt32(next)
      window.start = next
      window.scanned = next
      if nextLineFeed < next { nextLineFeed = Platform.position(of: Self.lineFeed, in: bytes, from: next, to: end) }
      if nextReturn < next { nextReturn = Platform.position(of: Self.carriageReturn, in: bytes, from: next, to: end) }
    }
    return count
  }
}
