/// Reads a file in chunks and hands out the complete lines as batches.
///
/// Every form of ``LineReader`` uses this engine.
///
/// It owns one ``LineStorage``. The rest of a chunk is the start of the next line. After the complete lines of the
/// chunk have been handed out, the rest moves to the front of the storage, and the next chunk is read after it. A batch
/// refers to the storage itself. If the batch still exists when the next one is requested, the assembler uses a new
/// storage; otherwise it reuses the same one.
///
/// The assembler reads, and therefore can fail, only after it has handed out all complete lines. Therefore, an error
/// loses no line that has been read.
struct LineAssembler: BatchSource, ~Copyable, Sendable {
  private let path: String
  private let options: LineReader.Options
  private let scanner: LineScanner

  /// Nil before the file is opened, after the last batch or an error, and if the file is followed.
  private var source: FileSource?
  /// Nil if the file is not followed, and after an error.
  private var followed: FollowedFile?
  /// Nil before the first read, and after the last batch or an error.
  private var storage: LineStorage?
  private var window = LineScanner.Window()

  /// The offset of the storage's first byte in the file.
  private var storageOffset = 0
  private var nextLineNumber = 1
  private var isPastByteOrderMark: Bool
  private var reachedEnd = false
  private(set) var isFinished = false
  private(set) var isWaiting = false

  /// How many bytes have been read from the file.
  private(set) var bytesRead = 0

  init(_ reader: LineReader) {
    (path, options) = (reader.path, reader.options)
    scanner = LineScanner(lineEnding: options.lineEnding, maxLineLength: options.maxLineLength)
    isPastByteOrderMark = options.keepsByteOrderMark
    followed = reader.following.map { FollowedFile(path: reader.path, $0, lineEnding: reader.options.lineEnding) }
  }

  mutating func finish() {
    isFinished = true
    isWaiting = false
    source = nil
    followed = nil
    storage = nil
  }

  /// Reads one chunk, or more until a line ending.
  ///
  /// If a followed file has no further line yet, returns nil, and ``isWaiting`` is true.
  mutating func nextBatch(_ check: () throws -> Void) throws -> LineBatch? {
    isWaiting = false
    if source == nil, followed == nil {
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
        if reachedEnd {
          if let line = lastLine(in: storage) { return line }
          guard followed != nil else { return nil }
          beginNextFile()
        }
      }
      guard try readChunk(into: storage, check) else {
        isWaiting = true
        return nil
      }
    }
  }

  // MARK: Handing out

  private mutating func batch(of count: Int, in storage: LineStorage) -> LineBatch {
    defer { nextLineNumber += count }
    return LineBatch(
      storage: storage, storageOffset: storageOffset, stripsCarriageReturn: scanner.stripsCarriageReturn, count: count,
      firstLineNumber: nextLineNumber, endByteOffset: storageOffset + window.start)
  }

  /// The bytes after the last line ending, if there are any: a last line counts even if it has no line ending.
  private mutating func lastLine(in storage: LineStorage) -> LineBatch? {
    guard window.count > 0 else { return nil }
    storage.starts[0] = UInt32(window.start)
    // As if there were a line ending of one byte. A CR before it would be part of the line, because no LF follows.
    storage.starts[1] = UInt32(window.end) + 1
    window.start = window.end
    window.scanned = window.end
    return LineBatch(
      storage: storage, storageOffset: storageOffset, stripsCarriageReturn: false, count: 1,
      firstLineNumber: nextLineNumber, endByteOffset: storageOffset + window.end)
  }

  // MARK: Reading

  /// Reads the next bytes after those in the window.
  ///
  /// - Returns: False if a followed file has no further bytes yet.
  private mutating func readChunk(into storage: LineStorage, _ check: () throws -> Void) throws -> Bool {
    try check()
    if followed?.isOpen == false {
      guard let start = try followed?.open(check) else { return false }
      storageOffset = start
      if start > 0 { isPastByteOrderMark = true }
    }
    if window.start > 0 {
      storage.bytes.copyMemory(from: storage.bytes + window.start, byteCount: window.count)
      moveWindowToFront()
    }
    if window.end == storage.capacity {
      storage.grow(to: min(storage.capacity * 2, largestCapacity))
    }
    try source?.waitUntilReadable(check)
    // A buffer that has grown for a long line is still filled in chunks, because a cancellation must not wait for more
    // than one.
    let room = min(storage.capacity - window.end, options.chunkSize)
    let free = UnsafeMutableRawBufferPointer(start: storage.bytes + window.end, count: room)
    do throws(LineReaderError) {
      guard let count = try read(into: free) else { return false }
      window.end += count
      bytesRead += count
      reachedEnd = count == 0
      return true
    } catch {
      throw error.atLine(nextLineNumber)
    }
  }

  /// Reads the next bytes of the file.
  ///
  /// - Returns: The number of bytes. Zero at the end of the file, and nil if a followed file has none yet.
  private mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(LineReaderError) -> Int? {
    guard let progress = try followed?.read(into: buffer) else { return try source?.read(into: buffer) ?? 0 }
    switch progress {
    case .bytes(let count): return count
    case .nothingYet: return nil
    case .ended: return 0
    }
  }

  /// Prepares for the file that follows an ended one at the same path, or for the new content of a truncated one.
  private mutating func beginNextFile() {
    window = LineScanner.Window()
    storageOffset = 0
    nextLineNumber = 1
    isPastByteOrderMark = options.keepsByteOrderMark
    reachedEnd = false
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
    // A buffer that has grown for a long line is released when little remains in it.
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
