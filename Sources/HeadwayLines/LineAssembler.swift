/// Reads a file chunk by chunk and hands out the whole lines as batches: the one engine behind every form of
/// ``LineReader``.
///
/// It holds one ``LineStorage``. What is left of a chunk when its whole lines are handed out, the start of the next
/// line, moves to the front of the storage, and the next chunk is read behind it. A batch refers to the storage itself;
/// if it still exists when the next one is wanted, the assembler takes a new storage, and otherwise the same again.
///
/// So that nothing read is lost, it reads, and therefore fails, only when all whole lines it has are handed out.
struct LineAssembler: BatchSource, ~Copyable, Sendable {
  private let path: String
  private let options: LineReader.Options
  private let scanner: LineScanner

  /// Nil before the file is opened, and when all is done.
  private var source: FileSource?
  /// Nil at the same times.
  private var storage: LineStorage?
  private var window = LineScanner.Window()

  /// The place in the file of the storage's first byte.
  private var storageOffset = 0
  private var nextLineNumber = 1
  private var isPastByteOrderMark: Bool
  private var reachedEnd = false
  private(set) var isFinished = false

  /// How many bytes have been read from the file.
  private(set) var bytesRead = 0

  init(path: String, options: LineReader.Options) {
    self.path = path
    self.options = options
    scanner = LineScanner(lineEnds: options.lineEnds, maximumLineLength: options.maximumLineLength)
    isPastByteOrderMark = options.keepsByteOrderMark
  }

  mutating func finish() {
    isFinished = true
    source = nil
    storage = nil
  }

  /// Reads one chunk, or more while no line ends.
  mutating func nextBatch(_ check: () throws -> Void) throws -> LineBatch? {
    if source == nil {
      try check()
      source = try FileSource(path: path)
    }
    let storage = writableStorage()
    while true {
      skipByteOrderMark(in: storage)
      if isPastByteOrderMark {
        let finding = scanner.takeLines(from: &window, in: storage, isLast: reachedEnd)
        if finding.lineCount > 0 { return batch(of: finding.lineCount, in: storage) }
        if finding.isNextTooLong || scanner.isTooLong(unfinished: window, isLast: reachedEnd) {
          throw LineReaderError(
            .lineTooLong, path: path, lineNumber: nextLineNumber, byteOffset: storageOffset + window.start)
        }
        if reachedEnd { return lastLine(in: storage) }
      }
      try check()
      try readChunk(into: storage)
    }
  }

  // MARK: Handing out

  private mutating func batch(of count: Int, in storage: LineStorage) -> LineBatch {
    defer { nextLineNumber += count }
    return LineBatch(
      storage: storage, storageOffset: storageOffset, stripsCarriageReturn: scanner.stripsCarriageReturn, count: count,
      firstLineNumber: nextLineNumber, endByteOffset: storageOffset + window.start)
  }

  /// The bytes behind the last line end, if there are any: a last line without an end counts.
  private mutating func lastLine(in storage: LineStorage) -> LineBatch? {
    guard window.count > 0 else { return nil }
    storage.starts[0] = UInt32(window.start)
    // As if there were a line end of one byte. A CR before it would be part of the line, since no LF follows.
    storage.starts[1] = UInt32(window.end) + 1
    window.start = window.end
    window.scanned = window.end
    return LineBatch(
      storage: storage, storageOffset: storageOffset, stripsCarriageReturn: false, count: 1,
      firstLineNumber: nextLineNumber, endByteOffset: storageOffset + window.end)
  }

  // MARK: Reading

  private mutating func readChunk(into storage: LineStorage) throws {
    if window.start > 0 {
      storage.bytes.copyMemory(from: storage.bytes + window.start, byteCount: window.count)
      moveWindowToFront()
    }
    if window.end == storage.capacity {
      storage.grow(to: min(storage.capacity * 2, largestCapacity))
    }
    // A buffer that has grown for a long line is still filled by chunks: cancelling must not wait for more than one.
    let room = min(storage.capacity - window.end, options.chunkSize)
    do throws(LineReaderError) {
      let count = try source!.read(into: UnsafeMutableRawBufferPointer(start: storage.bytes + window.end, count: room))
      window.end += count
      bytesRead += count
      reachedEnd = count == 0
    } catch {
      throw error.atLine(nextLineNumber)
    }
  }

  private mutating func moveWindowToFront() {
    storageOffset += window.start
    window = LineScanner.Window(start: 0, scanned: window.scanned - window.start, end: window.count)
  }

  /// Decides whether the file starts with a byte order mark, once there are enough bytes to tell, and steps over it.
  private mutating func skipByteOrderMark(in storage: LineStorage) {
    guard !isPastByteOrderMark else { return }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let start = UnsafeRawBufferPointer(start: storage.bytes, count: min(window.end, mark.count))
    let isMarkSoFar = mark.starts(with: start)
    if isMarkSoFar, start.count == mark.count {
      window.start = mark.count
      window.scanned = mark.count
      isPastByteOrderMark = true
    } else {
      isPastByteOrderMark = !isMarkSoFar || reachedEnd
    }
  }
}

// MARK: Storage

extension LineAssembler {
  /// The size of the buffer while lines are short: room for a chunk behind the start of a line that the one before
  /// left.
  private var usualCapacity: Int { options.chunkSize + options.chunkSize / 8 }

  /// The longest line and its CRLF fit, and a byte order mark.
  private var largestCapacity: Int { max(usualCapacity, options.maximumLineLength + 2, 3) }

  /// A storage that no batch refers to, with the rest of the last chunk in it.
  private mutating func writableStorage() -> LineStorage {
    // A buffer that grew for a long line is given back when little is left in it.
    let isOversized = (storage?.capacity ?? 0) > usualCapacity && window.count <= usualCapacity / 2
    if isKnownUniquelyReferenced(&storage), !isOversized, let storage { return storage }
    let fresh = LineStorage(
      capacity: max(usualCapacity, window.count),
      // Lines of fewer than 8 bytes come in smaller batches, and the table is not larger than half a chunk.
      lineCapacity: max(1, options.chunkSize / 8),
      path: path, invalidUTF8: options.invalidUTF8)
    if let storage, window.count > 0 {
      fresh.bytes.copyMemory(from: storage.bytes + window.start, byteCount: window.count)
    }
    moveWindowToFront()
    storage = fresh
    return fresh
  }
}
