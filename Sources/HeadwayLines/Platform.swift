import Headway
import HeadwayFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
#error("HeadwayLines needs a POSIX C library.")
#endif

/// Everything that this module uses from the C library.
///
/// No other file of this module imports a C library.
package enum Platform {
  /// Properties of a file that are known after opening it.
  struct OpenFile {
    let descriptor: Int32
    /// The status of a regular file.
    ///
    /// Nil for any other kind of file: a pipe or a terminal has no size.
    let status: FileStatus?
    /// Whether bytes at any position can be read.
    let isSeekable: Bool
    /// Whether the file is a FIFO that was opened without waiting for a writer.
    let isNonblocking: Bool
  }

  /// Properties of a file that can be replaced by another one at the same path, or be truncated.
  struct FileStatus {
    struct Identity: Equatable {
      let device: UInt64
      let number: UInt64
    }

    let identity: Identity
    let size: Int

    fileprivate init(_ status: stat) {
      identity = Identity(
        device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino))
      size = Int(status.st_size)
    }
  }

  /// A system call that failed.
  struct Failure: Error {
    let errorNumber: Int32

    /// The descriptor no longer belongs to the file that was opened.
    static let badDescriptor = Failure(errorNumber: EBADF)
  }

  // MARK: Files

  static func open(_ path: String) throws(Failure) -> OpenFile {
    // The C string would end at a NUL, and a different file than the requested one would be opened.
    guard !path.utf8.contains(0) else { throw Failure(errorNumber: EINVAL) }
    let descriptor = try openDescriptor(path)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      let failure = Failure(errorNumber: errno)
      close(descriptor)
      throw failure
    }
    let kind = status.st_mode & S_IFMT
    guard kind != S_IFDIR else {
      close(descriptor)
      throw Failure(errorNumber: EISDIR)
    }
    #if canImport(Darwin)
    let isNonblocking = false
    #else
    let isNonblocking = kind == S_IFIFO
    // It has no effect on regular files. The mode of a terminal or device belongs only to this opening.
    if kind != S_IFREG, !isNonblocking { makeBlocking(descriptor) }
    // Doubles the kernel's read-ahead on Linux. This is only advice: it has no effect in a file system without
    // read-ahead.
    _ = posix_fadvise(descriptor, 0, 0, Int32(POSIX_FADV_SEQUENTIAL))
    #endif
    let isRegular = kind == S_IFREG
    // Some regular files of the system and of user-space file systems can only be read sequentially.
    return OpenFile(
      descriptor: descriptor, status: isRegular ? FileStatus(status) : nil,
      isSeekable: isRegular && lseek(descriptor, 0, SEEK_CUR) == 0, isNonblocking: isNonblocking)
  }

  /// Opens a file and does not wait for the writer of a FIFO.
  private static func openDescriptor(_ path: String) throws(Failure) -> Int32 {
    #if !canImport(Darwin)
    // On Linux, `poll` then waits until the FIFO has had a writer. Darwin does not document this, so opening waits on
    // that platform.
    do { return Int32(try retryingInterrupted { Int(openForReading(path, O_NONBLOCK)) }) } catch {
      // Another process holds a lease on the file, for example a file server. Opening waits until it gives the file up.
      guard error.errorNumber == EAGAIN else { throw error }
    }
    #endif
    return Int32(try retryingInterrupted { Int(openForReading(path, 0)) })
  }

  /// Makes reads wait for bytes.
  static func makeBlocking(_ descriptor: Int32) {
    let flags = fcntl(descriptor, F_GETFL)
    if flags >= 0 { _ = fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) }
  }

  /// Waits until a read would not block: there are bytes, or the writers have closed the file, or reading would fail.
  ///
  /// A FIFO that has never had a writer since it was opened is not readable, although a nonblocking read would return
  /// zero.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor of an open file. Regular files are always readable.
  ///   - milliseconds: The maximum time to wait; nil to wait forever.
  /// - Returns: Whether the file is readable. False after the maximum time, and possibly after a signal.
  static func waitUntilReadable(_ descriptor: Int32, milliseconds: Int32?) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let count = pollDescriptor(&request, milliseconds ?? -1)
    return count > 0 || (count < 0 && errno != EINTR)
  }

  /// Reads the available bytes, at most the buffer's size.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor of an open file.
  ///   - buffer: The memory for the bytes.
  ///   - position: The position in the file; nil to read at the position of the descriptor and advance it.
  /// - Returns: The number of bytes; zero at or after the end of the file.
  /// - Throws: `Failure` if the system call fails.
  static func read(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at position: Int?
  ) throws(Failure) -> Int {
    // Linux transfers at most 2 GiB minus one page per call; Darwin rejects more than 2 GiB - 1.
    let count = min(buffer.count, 1 << 30)
    return try retryingInterrupted {
      guard let position else { return readBytes(descriptor, buffer.baseAddress, count) }
      return pread(descriptor, buffer.baseAddress, count, off_t(position))
    }
  }

  static func status(of descriptor: Int32) throws(Failure) -> FileStatus {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure(errorNumber: errno) }
    return FileStatus(status)
  }

  /// Returns the status of the file at a path; nil if there is none, or if it is not accessible.
  static func status(ofFileAt path: String) -> FileStatus? {
    var status = stat()
    return path.withPathBytes { stat($0, &status) } == 0 ? FileStatus(status) : nil
  }

  static func close(_ descriptor: Int32) {
    // Not repeated after EINTR: by then Linux has released the number, and another thread might own it.
    _ = closeDescriptor(descriptor)
  }

  private static func retryingInterrupted(_ call: () -> Int) throws(Failure) -> Int {
    while true {
      let result = call()
      if result >= 0 { return result }
      let errorNumber = errno
      guard errorNumber == EINTR else { throw Failure(errorNumber: errorNumber) }
    }
  }

  // MARK: Archives

  /// Returns whether a file begins like a zip archive that contains a file.
  ///
  /// Nil if there is no such file. False for folders and for all other files that are not regular, which are not read.
  static func isZip(_ path: String) -> Bool? {
    var status = stat()
    guard path.withPathBytes({ stat($0, &status) }) == 0 else { return nil }
    guard status.st_mode & S_IFMT == S_IFREG, let descriptor = try? open(path).descriptor else { return false }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 4, alignment: 1) { bytes in
      guard (try? read(descriptor, into: bytes, at: 0)) == 4 else { return false }
      return bytes.elementsEqual([0x50, 0x4B, 3, 4])
    }
  }

  /// Returns whether a path continues after a component that is not a folder.
  static func isNoFolder(_ failure: Failure) -> Bool { failure.errorNumber == ENOTDIR }

  /// Runs `body` with UTF-8 as the character encoding of the calling thread.
  static func withUnicodeLocale<Answer>(_ body: () -> Answer) -> Answer {
    guard let locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) else { return body() }
    let old = uselocale(locale)
    defer {
      uselocale(old)
      freelocale(locale)
    }
    return body()
  }

  // MARK: Errors

  /// The kind of error for a failure to open a file.
  static func openingCode(_ errorNumber: Int32) -> LineReaderError.Code {
    switch errorNumber {
    case ENOENT, ENOTDIR: .fileNotFound
    case EISDIR: .isDirectory
    case EACCES, EPERM: .permissionDenied
    case EIO: .inputOutputError
    default: .cannotOpen
    }
  }

  /// The kind of error for a failure to read from an open file.
  static func readingCode(_ errorNumber: Int32) -> LineReaderError.Code {
    errorNumber == EISDIR ? .isDirectory : .inputOutputError
  }

  /// The system's description of an error number.
  package static func text(of errorNumber: Int32) -> String {
    // strerror itself is not thread-safe on every platform. The C libraries differ in the result of strerror_r, but all
    // except glibc leave the text in the buffer. glibc's strerror is thread-safe since 2.32.
    #if canImport(Darwin)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let start = buffer.baseAddress, strerror_r(errorNumber, start, buffer.count) == 0 else {
        return "error \(errorNumber)"
      }
      return String(cString: start)
    }
    #else
    guard let text = strerror(errorNumber) else { return "error \(errorNumber)" }
    return String(cString: text)
    #endif
  }

  // MARK: Memory

  static func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    guard let memory = malloc(byteCount) else { fatalError("Out of memory: \(byteCount) bytes for lines.") }
    return memory
  }

  /// Grows a block of memory.
  ///
  /// Where it can, the C library moves pages instead of copying large blocks, so a long line does not exist twice while
  /// the buffer grows.
  static func reallocate(_ memory: UnsafeMutableRawPointer, _ byteCount: Int) -> UnsafeMutableRawPointer {
    guard let memory = realloc(memory, byteCount) else { fatalError("Out of memory: \(byteCount) bytes for lines.") }
    return memory
  }

  static func deallocate(_ memory: UnsafeMutableRawPointer) { free(memory) }

  /// Returns the position of a byte in `start ..< end`, or `end`.
  @inline(__always)
  static func position(of byte: UInt8, in bytes: UnsafeRawPointer, from start: Int, to end: Int) -> Int {
    guard start < end, let hit = memchr(bytes + start, Int32(byte), end - start) else { return end }
    return bytes.distance(to: UnsafeRawPointer(hit))
  }

  /// Returns whether two byte ranges are equal.
  @inline(__always)
  static func areEqual(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer, count: Int) -> Bool {
    memcmp(first, second, count) == 0
  }
}

// Inside `Platform`, the bare names refer to its own functions.

private func openForReading(_ path: String, _ flags: Int32) -> Int32 {
  // O_NOCTTY: a terminal that is opened by path must not become the controlling terminal of the process.
  path.withPathBytes { open($0, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags) }
}

private func pollDescriptor(_ request: inout pollfd, _ milliseconds: Int32) -> Int32 { poll(&request, 1, milliseconds) }

private func readBytes(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(descriptor, bytes, count)
}

private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
