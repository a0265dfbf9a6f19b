/// Finds the ends of lines.
///
/// It has no access to files and keeps no state between calls.
struct LineScanner: Sendable {
  static let lineFeed: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D

  let lineEnding: LineReader.Options.LineEnding
  let maxLineLength: Int

  /// The part of a buffer that contains bytes that have not been handed out.
  struct Window: Sendable {
    /// The start of the first line that has not been handed out.
    var start = 0
    /// There is no line ending between `start` and this position.
    ///
    /// Therefore, a line that spans many chunks is scanned only once.
    var scanned = 0
    /// The end of the bytes.
    var end = 0

    /// The number of bytes that have not been handed out.
    var count: Int { end - start }
  }

  struct Finding {
    /// The number of lines that were added to the table.
    var lineCount: Int
    /// Whether the line after these has an end and is longer than allowed.
    ///
    /// The window then starts at it.
    var isNextTooLong = false
  }

  /// Whether a CR before the last byte of a line belongs to the line ending.
  var stripsCarriageReturn: Bool { lineEnding != .lf }

  /// Moves complete lines from the window to the table, until the window has none left or the table is full.
  ///
  /// - Parameters:
  ///   - window: The bytes to scan. The lines found are removed from it.
  ///   - storage: The storage that contains the bytes and the table.
  ///   - isLast: Whether no bytes will follow those in the window.
  /// - Returns: The number of lines found, and whether the next line is too long.
  func takeLines(from window: inout Window, in storage: LineStorage, isLast: Bool) -> Finding {
    let before = window
    storage.starts[0] = UInt32(window.start)
    let count =
      switch lineEnding {
      case .lf, .lfOrCRLF: takeLinesWithLineFeed(from: &window, in: storage)
      case .any: takeLinesWithAnyEnd(from: &window, in: storage, isLast: isLast)
      }
    // Usually the limit is larger than the buffer, so no line has to be measured.
    guard before.count > maxLineLength else { return Finding(lineCount: count) }
    return measuring(count, of: &window, in: storage)
  }

  /// Returns whether the window, which contains no line ending, is the start of a line longer than allowed.
  ///
  /// While more bytes might follow, one byte more than the limit is accepted: it might be the CR of a CRLF, which is
  /// not part of the line.
  func isTooLong(unfinished window: Window, isLast: Bool) -> Bool {
    window.count > maxLineLength + (isLast ? 0 : 1)
  }

  private func measuring(_ count: Int, of window: inout Window, in storage: LineStorage) -> Finding {
    for position in 0..<count {
      let start = storage.starts[position]
      let next = storage.starts[position + 1]
      let line = storage.line(from: start, to: next, strippingCarriageReturn: stripsCarriageReturn)
      if line.count > maxLineLength {
        window.start = Int(start)
        window.scanned = Int(start)
        return Finding(lineCount: position, isNextTooLong: true)
      }
    }
    return Finding(lineCount: count)
  }

  private func takeLinesWithLineFeed(from window: inout Window, in storage: LineStorage) -> Int {
    // The lines of one file are similar. The lines in the first blocks determine how to find the remaining lines: in
    // blocks or with `memchr`. Blocks cost the same however many lines there are; `memchr` is faster from about 96
    // bytes per line.
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
      // At the end, the block extends into bytes that are not to be scanned, or into the storage's slack.
      var bits = NewlineMask.bits(of: bytes + scanned)
      let remaining = end &- scanned
      if remaining < NewlineMask.blockSize { bits &= (1 &<< UInt64(truncatingIfNeeded: remaining)) &- 1 }
      let base = UInt32(truncatingIfNeeded: scanned) &+ 1
      let next = count &+ bits.nonzeroBitCount
      // Writes four entries at a time, whether needed or not. The table has slack, and the goal is a branch that is
      // rarely mispredicted.
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
    // Keeps the position of the next byte of each kind until it has been passed. In a file that has only one of the two
    // kinds, searching for both from the start of every line would scan the whole rest of the buffer for each line.
    var nextLineFeed = Platform.position(of: Self.lineFeed, in: bytes, from: window.scanned, to: end)
    var nextReturn = Platform.position(of: Self.carriageReturn, in: bytes, from: window.scanned, to: end)
    while count < storage.lineCapacity {
      let hit = min(nextLineFeed, nextReturn)
      window.scanned = hit
      guard hit < end else { break }
      var next = hit + 1
      if hit == nextReturn {
        // At the end of the bytes, only the next byte determines whether this is a CR or a CRLF.
        if next == end, !isLast { break }
        // `end` means "none", so there is nothing to find at this position.
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
