import Headway

/// A file open for reading from its start to its end.
///
/// ```swift
/// var source = try FileSource(path: "stops.txt")
/// while case let count = try source.read(into: buffer), count > 0 { consume(buffer[..<count]) }
/// ```
///
/// Reads regular files, pipes, terminals, and devices in the same way: a path such as `/dev/stdin` or the path of a
/// FIFO needs no special treatment. On Linux, opening a FIFO does not wait for a writer. Reading from it waits until
/// there is something to read, or until it has had a writer and has none left. ``waitUntilReadable(_:)`` waits in the
/// same way, and can be cancelled. Do neither on a thread that must not block. The file is closed when the value that
/// opened it is destroyed.
///
/// With the trait `Compression`, compressed files are unpacked while they are read, and a path can continue into a zip
/// archive: `feed.zip/stops.txt`.
package struct FileSource: ~Copyable, Sendable {
  /// The path of the file, as the caller specified it.
  package let path: String

  /// The size in bytes when the file was opened, or nil if it is not a regular file.
  ///
  /// For a compressed file, this is the compressed size.
  ///
  /// A regular file can contain more bytes than its size: it might have grown, or it might be in `/proc`, where all
  /// files have the size zero.
  package let size: Int?

  /// The number of bytes that have been read, which is the position in the file.
  ///
  /// For a compressed file, this counts compressed bytes.
  package private(set) var bytesRead = 0

  private let descriptor: Int32
  /// The identity of a regular file.
  private let identity: Platform.FileStatus.Identity?
  /// Whether this value, and not the descriptor, determines the position of the next bytes.
  ///
  /// Other code can move the position of a descriptor if it has closed its own file and still uses the same number by
  /// mistake.
  private let isSeekable: Bool
  /// Whether this value closes the descriptor.
  private let closesDescriptor: Bool
  private var reachedEnd = false
  /// Whether the descriptor belongs to a FIFO that has not been read, and might never have had a writer.
  ///
  /// A read would then return zero, as at the end.
  private var isNonblocking = false
  #if Compression
  private var unpacker: (any Unpacker)?
  #endif

  /// Whether ``size`` and ``bytesRead`` count compressed bytes.
  ///
  /// Known after the first read.
  ///
  /// For a file in an archive, the unpacked size is known, and unpacked bytes are counted.
  package var countsCompressedBytes: Bool {
    #if Compression
    unpacker?.countsCompressedBytes == true
    #else
    false
    #endif
  }

  /// Opens a file.
  ///
  /// Child processes that execute another program do not inherit the file.
  ///
  /// - Parameter path: The path of the file, absolute or relative to the working directory.
  /// - Throws: ``LineReaderError`` with the code `fileNotFound`, `isDirectory`, `permissionDenied`, `inputOutputError`
  ///   or `cannotOpen`. For a file in an archive, additionally with `damaged`, `encrypted` or `expandsTooFar`.
  package init(path: String) throws(LineReaderError) {
    self.path = path
    closesDescriptor = true
    let file: Platform.OpenFile
    do { file = try Platform.open(path) } catch {
      #if Compression
      if Platform.isNoFolder(error), let inArchive = ArchivePath(path) {
        let entry = try Self.open(inArchive, path: path)
        (descriptor, size, unpacker) = (entry.file.descriptor, entry.reader.size, entry.reader)
        (identity, isSeekable) = (nil, false)
        return
      }
      #endif
      throw LineReaderError(Platform.openingCode(error.errorNumber), path: path, systemErrorNumber: error.errorNumber)
    }
    (descriptor, size, isNonblocking) = (file.descriptor, file.status?.size, file.isNonblocking)
    (identity, isSeekable) = (file.status?.identity, file.isSeekable)
    #if Compression
    unpacker = nil
    #endif
  }

  /// Reads from a descriptor that is open for reading, starting at its current position.
  ///
  /// The descriptor is not closed. The size is not determined, because the descriptor can be anywhere in its file.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor, which must stay open while this value is used.
  ///   - path: The file's name in errors.
  package init(descriptor: Int32, path: String) {
    (self.path, self.descriptor, size, closesDescriptor) = (path, descriptor, nil, false)
    (identity, isSeekable) = (nil, false)
    #if Compression
    unpacker = nil
    #endif
  }

  #if Compression
  /// Opens an archive and finds a file in it.
  private static func open(
    _ inArchive: ArchivePath, path: String
  ) throws(LineReaderError) -> (file: Platform.OpenFile, reader: ZipEntryReader) {
    let file: Platform.OpenFile
    do { file = try Platform.open(inArchive.archive) } catch {
      throw LineReaderError(Platform.openingCode(error.errorNumber), path: path, systemErrorNumber: error.errorNumber)
    }
    do { return (file, try ZipEntryReader(inArchive, archiveSize: file.status?.size ?? 0)) } catch {
      Platform.close(file.descriptor)
      throw error.error(path: path)
    }
  }
  #endif

  deinit { if closesDescriptor { Platform.close(descriptor) } }

  /// The longest time between two checks for a cancellation while a file is silent.
  private static let checkInterval: Int32 = 100

  /// Blocks until reading would not block and checks for a cancellation ten times per second while it waits.
  ///
  /// Returns immediately for a regular file and at the end. It does not wait for a compressed file, because bytes that
  /// have been read from it might not have been unpacked.
  ///
  /// - Parameter check: Called at least once. If it throws, the wait ends.
  /// - Throws: The error that `check` throws.
  package mutating func waitUntilReadable(_ check: () throws -> Void) throws {
    try check()
    guard size == nil, !reachedEnd, !isUnpacking else { return }
    while !Platform.waitUntilReadable(descriptor, milliseconds: Self.checkInterval) { try check() }
    endNonblocking()
  }

  private var isUnpacking: Bool {
    #if Compression
    unpacker != nil
    #else
    false
    #endif
  }

  /// Makes further reads wait, after the FIFO has had a writer.
  private mutating func endNonblocking() {
    if isNonblocking { Platform.makeBlocking(descriptor) }
    isNonblocking = false
  }

  /// Reads the next bytes.
  ///
  /// Blocks until there is at least one.
  ///
  /// - Parameter buffer: The memory for the bytes. It must not be empty.
  /// - Returns: The number of bytes that were read, which can be less than the size of the buffer. Zero at the end of
  ///   the file, and in every later call.
  /// - Throws: ``LineReaderError`` with the code `inputOutputError` or `damaged`, or with `truncated` if a regular file
  ///   ends before the size that it had when it was opened.
  package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(LineReaderError) -> Int {
    require(!buffer.isEmpty, "FileSource.read(into:) for \(path): the buffer is empty. Give it room for a byte.")
    // Without this check, a terminal would be read again after its end.
    if reachedEnd { return 0 }
    if isNonblocking {
      while !Platform.waitUntilReadable(descriptor, milliseconds: nil) {}
      endNonblocking()
    }
    #if Compression
    if unpacker != nil { return try unpack(into: buffer) }
    if bytesRead == 0 { return try readStart(into: buffer) }
    #endif
    return try readPlain(into: buffer)
  }

  private mutating func readPlain(into buffer: UnsafeMutableRawBufferPointer) throws(LineReaderError) -> Int {
    var count = try readOnce(into: buffer)
    if count == 0, let isShorter = try isShorterAtEnd(), let size, bytesRead < size {
      // The file is truncated, unless its size was never correct: files in /sys always report 4096 and contain less.
      // If the file has the reported size now, it either grew back since the read above or is one of those files. A
      // second read distinguishes the two.
      if isShorter { throw LineReaderError(.truncated, path: path, byteOffset: bytesRead) }
      count = try readOnce(into: buffer)
    }
    bytesRead += count
    reachedEnd = count == 0
    return count
  }

  #if Compression
  /// Reads the first bytes and unpacks them if the file is compressed.
  private mutating func readStart(into buffer: UnsafeMutableRawBufferPointer) throws(LineReaderError) -> Int {
    var count = 0
    repeat {
      count += try readPlain(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
      // A pipe can deliver too few bytes to decide.
    } while !reachedEnd && count < buffer.count && Compression.isOpen(buffer[..<count])
    guard let compression = Compression(of: buffer[..<count]) else { return count }
    let head = Array(buffer[..<count])
    do {
      let input = CompressedBytes(head: head, descriptor: descriptor, isSeekable: isSeekable)
      unpacker = compression == .gzip ? GzipDecompressor(input) : try Decompressor(input)
    } catch { throw unpackingError(error) }
    reachedEnd = false
    return try unpack(into: buffer)
  }

  private mutating func unpack(into buffer: UnsafeMutableRawBufferPointer) throws(LineReaderError) -> Int {
    guard let unpacker else { return 0 }
    do {
      let count = try unpacker.read(into: buffer)
      bytesRead = unpacker.bytesRead
      guard count == 0 else { return count }
    } catch { throw unpackingError(error) }
    // The file can have ended between two compressed parts, which is not visible in them.
    if try isShorterAtEnd() == true { throw LineReaderError(.truncated, path: path, byteOffset: bytesRead) }
    reachedEnd = true
    return 0
  }

  private func unpackingError(_ problem: UnpackingProblem) -> LineReaderError {
    problem.error(path: path, byteOffset: bytesRead)
  }
  #endif

  private func readOnce(into buffer: UnsafeMutableRawBufferPointer) throws(LineReaderError) -> Int {
    let position = isSeekable ? bytesRead : nil
    do { return try Platform.read(descriptor, into: buffer, at: position) } catch { throw readingError(error) }
  }

  /// Returns whether the file is shorter than when it was opened; nil if it is not a regular file.
  private func isShorterAtEnd() throws(LineReaderError) -> Bool? {
    guard let size, let identity else { return nil }
    let status = try statusNow()
    // If other code has closed the descriptor by mistake, another file might now have the same descriptor.
    guard status.identity == identity else { throw readingError(.badDescriptor) }
    return status.size < size
  }

  private func statusNow() throws(LineReaderError) -> Platform.FileStatus {
    do { return try Platform.status(of: descriptor) } catch { throw readingError(error) }
  }

  private func readingError(_ failure: Platform.Failure) -> LineReaderError {
    let code = Platform.readingCode(failure.errorNumber)
    return LineReaderError(code, path: path, byteOffset: bytesRead, systemErrorNumber: failure.errorNumber)
  }
}
