import Foundation
import HeadwayJobs

/// A file that contains the changed rows of each transaction, one transaction per line.
///
/// A line consists of a checksum, a space, and text without line feeds. Each line is flushed to the disk before the
/// next one is written. Therefore, only the last line can be incomplete after a crash.
final class Journal {
  private let path: String
  private var descriptor: Int32
  /// The length of all complete lines in bytes.
  private(set) var size = 0
  /// The length in bytes at which tests simulate a full disk; nil for no limit.
  var maxSize: Int?
  private let isFlushed: Bool
  /// Whether a loss of power could remove the file, because its folder has not been flushed since it was created.
  private var needsFolder = true

  private static let header = "headway file job store 1\n"

  /// Opens a journal, or creates it.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - isFlushed: False for tests whose journals need not survive a loss of power.
  /// - Throws: `JobError` with the code `unusableStore`.
  init(_ path: String, isFlushed: Bool) throws {
    self.path = path
    self.isFlushed = isFlushed
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw JobError(.unusableStore, "\(path) can't be opened: \(Self.lastError)") }
  }

  deinit { close(descriptor) }

  /// Reads all lines.
  ///
  /// If the last line is incomplete, the function removes it.
  ///
  /// - Parameter body: The function to call with each line.
  /// - Throws: `JobError`, or the error of the function.
  func read(_ body: ([UInt8]) throws -> Void) throws {
    let bytes = try contents()
    let header = Array(Self.header.utf8)
    // The process ended while it was creating the file.
    if bytes.count < header.count, header.starts(with: bytes) { return try reset(header) }
    guard bytes.starts(with: header) else {
      throw JobError(.unusableStore, "\(path) is not a journal of jobs. Choose another folder.")
    }
    size = header.count
    while size < bytes.count {
      let end = bytes[size...].firstIndex(of: UInt8(ascii: "\n"))
      guard let end, let text = Self.text(of: bytes[size..<end]) else {
        guard end == nil || end == bytes.count - 1 else {
          throw JobError(.unusableStore, "\(path) is damaged at byte \(size). Restore the file from a backup.")
        }
        return try truncate()
      }
      try body(text)
      size = end + 1
    }
  }

  /// Adds a line.
  ///
  /// - Parameter text: The text, without line feeds.
  /// - Throws: `JobError`. The line was not added.
  func append(_ text: [UInt8]) throws {
    if needsFolder { try flushFolder() }
    do {
      let line = Self.line(text)
      try write(line, at: size)
      try flush(descriptor)
      size += line.count
    } catch {
      try truncate()
      throw error
    }
  }

  /// Replaces the file with a new one, so that a crash leaves either the old or the new file.
  ///
  /// - Parameter texts: The contents of the new lines, without line feeds.
  /// - Throws: `JobError`. The old file remains.
  func replace(with texts: [[UInt8]]) throws {
    let new = try Journal(path + ".new", isFlushed: isFlushed)
    do {
      try new.reset(Array(Self.header.utf8) + texts.flatMap(Self.line))
      guard rename(new.path, path) == 0 else { throw Self.failure("\(path) can't be replaced") }
    } catch {
      // An incomplete file would use the space that the next transactions need.
      unlink(new.path)
      throw error
    }
    swap(&descriptor, &new.descriptor)
    size = new.size
    needsFolder = true
  }

  // MARK: Lines

  private static func line(_ text: [UInt8]) -> [UInt8] {
    let digits = String(checksum(text[...]), radix: 16)
    return Array((String(repeating: "0", count: 16 - digits.count) + digits + " ").utf8) + text + [UInt8(ascii: "\n")]
  }

  /// The text of a line; nil if it is incomplete.
  private static func text(of line: ArraySlice<UInt8>) -> [UInt8]? {
    guard line.count > 17, let sum = UInt64(String(decoding: line.prefix(16), as: UTF8.self), radix: 16) else {
      return nil
    }
    let text = line.dropFirst(17)
    return checksum(text) == sum ? Array(text) : nil
  }

  /// FNV-1a.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  // MARK: The file

  private func contents() throws -> [UInt8] {
    do {
      return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw JobError(.unusableStore, "\(path) can't be read: \(error)", underlyingError: error)
    }
  }

  private func reset(_ bytes: [UInt8]) throws {
    size = 0
    try truncate()
    try write(bytes, at: 0)
    try flush(descriptor)
    size = bytes.count
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws {
    var count = 0
    while count < bytes.count {
      let room = min(bytes.count - count, (maxSize ?? .max) - offset - count)
      if room <= 0 { errno = ENOSPC }
      let written =
        room <= 0
        ? -1
        : bytes.withUnsafeBytes { buffer in
          pwrite(descriptor, buffer.baseAddress?.advanced(by: count), room, off_t(offset + count))
        }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw Self.failure("\(path) can't be written") }
      count += written
    }
  }

  private func truncate() throws {
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw Self.failure("\(path) can't be shortened") }
    try flush(descriptor)
  }

  /// Makes the file and its folder survive a loss of power.
  private func flushFolder() throws {
    let folder = (path as NSString).deletingLastPathComponent
    for path in [folder, folder + "/.."] {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      defer { close(descriptor) }
      try flush(descriptor)
    }
    needsFolder = false
  }

  private func flush(_ descriptor: Int32) throws {
    guard !isFlushed || fsync(descriptor) == 0 else { throw Self.failure("\(path) can't be flushed to the disk") }
  }

  private static func failure(_ what: String) -> JobError {
    let code: JobError.Code = errno == ENOSPC || errno == EDQUOT ? .storeFull : .storeFailed
    return JobError(code, "\(what): \(lastError). Nothing was changed.")
  }

  private static var lastError: String { String(cString: strerror(errno)) }
}
