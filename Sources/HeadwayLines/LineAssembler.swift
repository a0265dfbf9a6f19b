/// Reads a file in chunks and hands out the complete lines as batches.
///
/// Every form of ``LineReader`` uses this engine.
///
/// It owns one ``LineStorage``. After the complete lines of a chunk have been handed out, the rest, which is the start
/// of the next line, moves to the front of the storage, and the next chunk is read after it. A batch refers to the
/// storage itself. If the batch still exists when the next one is requested, the assembler uses a new storage;
/// otherwise it reuses the same one.
///
/// The assembler reads, and therefore can fail, only after it has handed out all complete lines. So an error loses no
/// line that has been read.
struct LineAssembler: BatchSource, ~Copyable, Sendable {
  private let path: String
  private let options: LineReader.Options
  private let scanner: LineScanner

  /// Nil before the file is opened, and after the last batch or an error.
  private var source: FileSource?
  /// Nil at the same times as `source`.
  private var storage: LineStorage?
  private var window = LineScanner.Window()

  /// The offset of the storage's first byte in the file.
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
    scanner = LineScanner(lineEnding: options.lineEnding, maxLineLength: options.maxLineLength)
    isPastByteOrderMark = options.keepsByteOrderMark
  }

  mutating func finish() {
    isFinished = true
    source = nil
    storage = nil
  }

  /// Reads one chunk, or more until a line ends.
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
      try source?.waitUntilReadable(check)
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

  /// The bytes after the last line end, if there are any: a last line counts even if it has no line end.
  private mutating func lastLine(in storage: LineStorage) -> LineBatch? {
    guard window.count > 0 else { return nil }
    storage.starts[0] = UInt32(window.start)
    // As if there were a line end of one byte. A CR before it would be part of the line, because no LF follows.
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
    // A buffer that has grown for a long line is still filled in chunks, because a cancellation must not wait for more
    // than one.
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

  /// Determines whether the file starts with a byte order mark, once there are enough bytes, and skips it.
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
  /// The size of the buffer while lines are short: room for a chunk after the incomplete line that the previous chunk
  /// left.
  private var usualCapacity: Int { options.chunkSize + options.chunkSize / 8 }

  /// Room for the longest line with its CRLF, or for a byte order mark.
  private var largestCapacity: Int { max(usualCapacity, options.maxLineLength + 2, 3) }

  /// Returns a storage that no batch refers to, with the rest of the last chunk in it.
  private mutating func writableStorage() -> LineStorage {
    // A buffer that has grown for a long line is released when little is left in it.
    let isOversized = (storage?.capacity ?? 0) > usualCapacity && window.count <= usualCapacity / 2
    if isKnownUniquelyReferenced(&storage), !isOversized, let storage { return storage }
    let fresh = LineStorage(
      capacity: max(usualCapacity, window.count),
      // Lines of fewer than 8 bytes are delivered in smaller batches, so that the table is not larger than half a
      // chunk.
      lineCapacity: max(1, options.chunkSize / 8),
      path: path, invalidUTF8Policy: options.invalidUTF8Policy)
    if let storage, window.count > 0 {
      fresh.bytes.copyMemory(from: storage.bytes + window.start, byteCount: window.count)
    }
    moveWindowToFront()
    storage = fresh
    return fresh
  }
}
