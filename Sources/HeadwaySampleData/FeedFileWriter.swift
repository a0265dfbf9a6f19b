import Headway
import HeadwayFiles

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Writes the files of a feed one after another, through one buffer.
///
/// Appending a field does not check for room: the buffer always has ``rowLimit`` bytes left when a row begins, and only
/// ``endRow()`` writes to the file. A longer row is a programming error and traps.
struct FeedFileWriter: ~Copyable {
  /// The largest number of bytes in a row; rows of a sample feed have fewer than 500.
  static let rowLimit = 4096

  private let buffer: UnsafeMutableBufferPointer<UInt8>
  private var count = 0
  private var isAtStartOfRow = true
  private let isCRLF: Bool
  private var descriptor: Int32 = -1
  private var path = ""

  /// Creates a writer that has no file open.
  ///
  /// Buffers larger than 256 KiB are not faster.
  init(lineEnding: SampleFeed.LineEnding, capacity: Int = 256 * 1024) {
    require(capacity >= 2 * Self.rowLimit, "A buffer of \(capacity) bytes is smaller than two rows.")
    buffer = .allocate(capacity: capacity)
    isCRLF = lineEnding == .crlf
  }

  deinit {
    if descriptor >= 0 { _ = systemClose(descriptor) }
    buffer.deallocate()
  }

  /// Creates a file, or truncates an existing one.
  mutating func open(_ path: String) throws(SampleFeedError) {
    require(descriptor < 0, "\(self.path) is still open: close it first.")
    descriptor = systemCreate(path)
    guard descriptor >= 0 else {
      throw SampleFeedError(.cannotCreateFile, path: path, systemErrorNumber: errno)
    }
    self.path = path
    count = 0
    isAtStartOfRow = true
  }

  /// Writes the rest of the buffer and closes the file.
  mutating func close() throws(SampleFeedError) {
    try flush()
    let closing = descriptor
    descriptor = -1
    // After EINTR, the descriptor is already closed on Linux, and the data has been written.
    guard systemClose(closing) == 0 || errno == EINTR else {
      let errorNumber = errno
      _ = path.withPathBytes { unlink($0) }
      throw SampleFeedError(.cannotWrite, path: path, systemErrorNumber: errorNumber)
    }
  }

  /// Closes the file, if one is open, and removes it.
  mutating func discard() {
    guard descriptor >= 0 else { return }
    _ = systemClose(descriptor)
    descriptor = -1
    _ = path.withPathBytes { unlink($0) }
  }

  /// Ends the row and writes the buffer if it might have no room for another one.
  mutating func endRow() throws(SampleFeedError) {
    if isCRLF { append(UInt8(ascii: "\r")) }
    append(UInt8(ascii: "\n"))
    isAtStartOfRow = true
    if count > buffer.count - Self.rowLimit { try flush() }
  }

  private mutating func flush() throws(SampleFeedError) {
    var written = 0
    while written < count {
      let result = systemWrite(descriptor, UnsafeRawBufferPointer(buffer), from: written, to: count)
      if result >= 0 {
        written += result
      } else if errno != EINTR {
        throw SampleFeedError(.cannotWrite, path: path, systemErrorNumber: errno)
      }
    }
    count = 0
  }
}

// MARK: Fields

extension FeedFileWriter {
  /// Begins a field whose parts are then added with `append`.
  @inline(__always)
  mutating func beginField() {
    if isAtStartOfRow {
      isAtStartOfRow = false
    } else {
      append(UInt8(ascii: ","))
    }
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    require(count < buffer.count, "A row of \(path) is longer than \(buffer.count) bytes.")
    buffer[count] = byte
    count += 1
  }

  /// Appends a nonnegative number in decimal, with leading zeros up to `width`.
  @inline(__always)
  mutating func append(_ number: Int, width: Int = 1) {
    require(number >= 0, "The number \(number) is negative.")
    var limit = 10
    var digits = 1
    while number >= limit && digits < 18 {
      limit *= 10
      digits += 1
    }
    if number >= limit { digits += 1 }
    digits = max(digits, width)
    require(count + digits <= buffer.count, "A row of \(path) is longer than \(buffer.count) bytes.")
    var rest = UInt64(number)
    var position = count + digits
    while position > count {
      position -= 1
      buffer[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    count += digits
  }

  /// Appends a whole line, without its line ending: a header, or a row of constants.
  mutating func line(_ text: StaticString) throws(SampleFeedError) {
    text.withUTF8Buffer { bytes in
      for byte in bytes { append(byte) }
    }
    try endRow()
  }

  mutating func field(_ number: Int) {
    beginField()
    append(number)
  }

  /// Appends an empty field.
  mutating func emptyField() {
    beginField()
  }

  /// Appends an empty field in quotes, which the feed of Berlin has in some columns.
  mutating func quotedEmptyField() {
    beginField()
    append(UInt8(ascii: "\""))
    append(UInt8(ascii: "\""))
  }

  /// Appends a text, in quotes if it contains a comma or a quote.
  mutating func field(_ text: some Collection<UInt8>) {
    beginField()
    let comma = UInt8(ascii: ",")
    let quote = UInt8(ascii: "\"")
    guard text.contains(where: { $0 == comma || $0 == quote }) else {
      for byte in text { append(byte) }
      return
    }
    append(quote)
    for byte in text {
      if byte == quote { append(quote) }
      append(byte)
    }
    append(quote)
  }

  mutating func field(_ text: String) {
    field(text.utf8)
  }

  /// Appends a time of day as `HH:MM:SS`; the hour can exceed 24.
  @inline(__always)
  mutating func field(secondsOfDay seconds: Int) {
    beginField()
    append(seconds / 3600, width: 2)
    append(UInt8(ascii: ":"))
    append(seconds / 60 % 60, width: 2)
    append(UInt8(ascii: ":"))
    append(seconds % 60, width: 2)
  }

  /// Appends a latitude or longitude, which are positive around Berlin, with six decimal places.
  mutating func field(microdegrees: Int) {
    beginField()
    append(microdegrees / 1_000_000)
    append(UInt8(ascii: "."))
    append(microdegrees % 1_000_000, width: 6)
  }
}

// MARK: System calls

// Members of this type are also called `open`, `close` and `write`, and hide the system's functions.

private func systemCreate(_ path: String) -> Int32 {
  path.withPathBytes { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666) }
}

private func systemClose(_ descriptor: Int32) -> Int32 {
  close(descriptor)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int {
  guard let base = bytes.baseAddress else { return 0 }
  return write(descriptor, base + start, end - start)
}
