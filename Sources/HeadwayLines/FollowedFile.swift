/// A file that is read while it grows, and the files that later replace it at the same path.
///
/// No call waits for bytes. The caller decides when to check again.
///
/// Checking at intervals was chosen instead of inotify, which reports nothing about changes that other machines make in
/// a network file system, exists only on Linux, and has a limit per user. Its events also do not show whether the old
/// file has been read to its end.
///
/// The open file is compared with the file at the path only when it has been read to its end. If they differ, the open
/// file is read once more at the next call. Bytes could have been written to it between the read and the comparison, or
/// by a writer that has not opened the new file yet. As long as the old file is open, no other file can have its inode
/// number, so the comparison is reliable.
struct FollowedFile: ~Copyable, Sendable {
  /// The result of an attempt to read.
  enum Progress {
    case bytes(Int)
    /// The file has been read to its end, and it might grow.
    case nothingYet
    /// There are no further bytes in this file, or in the content before it was truncated.
    ///
    /// The next attempt reads the next file, or the new content.
    case ended
  }

  private let path: String
  private let lineEnding: LineReader.Options.LineEnding
  private var start: LineReader.StartPosition
  private var mustExist: Bool
  /// The file that is being read.
  private var descriptor: Int32?
  /// The position in the file of the next byte to read.
  private var position = 0
  /// Whether the path led to another file when the end of this one was reached before.
  private var isReplaced = false
  /// Whether the last attempt to open a file failed for a reason that might be temporary.
  private var failedToOpen = false

  init(path: String, _ following: LineReader.Following, lineEnding: LineReader.Options.LineEnding) {
    self.path = path
    self.lineEnding = lineEnding
    (start, mustExist) = (following.start, following.mustExist)
  }

  deinit { if let descriptor { Platform.close(descriptor) } }

  /// Whether a file is open.
  ///
  /// If not, the caller opens one before it reads.
  var isOpen: Bool { descriptor != nil }

  // MARK: Opening

  /// Opens the file that is now at the path.
  ///
  /// - Parameter check: Called before each read while the start position is searched. If it throws, opening ends.
  /// - Returns: The position where reading begins. Nil if the caller should try again later.
  /// - Throws: ``LineReaderError``, or the error that `check` throws.
  mutating func open(_ check: () throws -> Void) throws -> Int? {
    guard let file = try openIfPossible() else { return nil }
    // Owned from now on, so that it is closed after an error.
    descriptor = file.descriptor
    // For directories and missing permissions, opening has failed.
    guard let size = file.status?.size else { throw LineReaderError(.cannotFollow, path: path) }
    switch start {
    case .beginning: position = 0
    case .end: position = try startOfLastLines(0, size: size, check)
    case .lastLines(let count): position = try startOfLastLines(count, size: size, check)
    }
    (start, mustExist, failedToOpen) = (.beginning, false, false)
    return position
  }

  private mutating func openIfPossible() throws(LineReaderError) -> Platform.OpenFile? {
    do throws(Platform.Failure) { return try Platform.open(path) } catch {
      let code = Platform.openingCode(error.errorNumber)
      if code == .fileNotFound, !mustExist {
        // A file that appears later has only new lines.
        start = .beginning
        failedToOpen = false
        return nil
      }
      // A file that has just been created might not have its permissions yet.
      if !mustExist, !failedToOpen {
        failedToOpen = true
        return nil
      }
      throw LineReaderError(code, path: path, systemErrorNumber: error.errorNumber)
    }
  }

  private func startOfLastLines(_ count: Int, size: Int, _ check: () throws -> Void) throws -> Int {
    guard let descriptor else { return 0 }
    let search = LastLines(descriptor: descriptor, size: size, lineEnding: lineEnding)
    do { return try search.start(ofLast: count, check) } catch let failure as Platform.Failure { throw error(failure) }
  }

  // MARK: Reading

  /// Reads the bytes that have been written, at most the buffer's size.
  ///
  /// - Parameter buffer: The memory for the bytes. It must not be empty.
  /// - Returns: The number of bytes, or the reason why there are none.
  /// - Throws: ``LineReaderError`` with the code `inputOutputError` or `cannotFollow`.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(LineReaderError) -> Progress {
    guard let descriptor else { return .nothingYet }
    let count = try read(descriptor, into: buffer, at: position)
    guard count == 0 else {
      position += count
      return .bytes(count)
    }
    let status = try status(of: descriptor)
    if status.size < position {
      try requireSize(of: descriptor)
      position = 0
      return .ended
    }
    guard let current = Platform.status(ofFileAt: path), current.identity != status.identity else {
      isReplaced = false
      return .nothingYet
    }
    guard isReplaced else {
      isReplaced = true
      return .nothingYet
    }
    Platform.close(descriptor)
    self.descriptor = nil
    isReplaced = false
    return .ended
  }

  /// Checks that a file that looks truncated does not have bytes although its size is zero.
  ///
  /// Files in `/proc` are of this kind, and would look truncated after each read.
  private func requireSize(of descriptor: Int32) throws(LineReaderError) {
    let count = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { byte throws(LineReaderError) in
      try read(descriptor, into: byte, at: 0)
    }
    guard count > 0, try status(of: descriptor).size == 0 else { return }
    throw LineReaderError(.cannotFollow, path: path)
  }

  private func read(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at position: Int
  ) throws(LineReaderError) -> Int {
    do { return try Platform.read(descriptor, into: buffer, at: position) } catch { throw self.error(error) }
  }

  private func status(of descriptor: Int32) throws(LineReaderError) -> Platform.FileStatus {
    do { return try Platform.status(of: descriptor) } catch { throw self.error(error) }
  }

  private func error(_ failure: Platform.Failure) -> LineReaderError {
    LineReaderError(
      Platform.readingCode(failure.errorNumber), path: path, byteOffset: position,
      systemErrorNumber: failure.errorNumber)
  }
}
