/// A file open for reading from its start to its end.
///
/// ```swift
/// var source = try FileSource(path: "stops.txt")
/// while case let count = try source.read(into: buffer), count > 0 { consume(buffer[..<count]) }
/// ```
///
/// Regular files, pipes, terminals and devices alike: a path such as `/dev/stdin` or that of a FIFO needs nothing
/// special. Opening a FIFO waits until it has a writer, and reading from it until there is something to read, so
/// neither belongs on a thread that must not block. A file that this has opened is closed when the value goes out of
/// existence.
///
/// With the trait `Compression`, a file that is compressed is unpacked while it is read, and a path may go on into a
/// zip archive: `feed.zip/stops.txt`.
package struct FileSource: ~Copyable, Sendable {
  /// The file, as it was named.
  package let path: String

  /// The size in bytes, of a compressed file as it is compressed, when the file was opened, or nil when it is not a
  /// regular file.
  ///
  /// A regular file may hold more than its size: it grew since, or it is one of those in `/proc`, which are all said to
  /// be empty.
  package let size: Int?

  /// How many bytes have been read, of a compressed file as it is compressed: the place in the file.
  package private(set) var bytesRead = 0

  private let descriptor: Int32
  /// Whether the descriptor is this value's own.
  private let closesDescriptor: Bool
  private var reachedEnd = false
  #if Compression
  private var unpacker: (any Unpacker)?
  #endif

  /// Whether ``size`` and ``bytesRead`` count compressed bytes, which are unpacked; known once something was read.
  ///
  /// Of a file in an archive it is known how many bytes come out of it, and these are counted.
  package var countsCompressedBytes: Bool {
    #if Compression
    unpacker?.countsCompressedBytes == true
    #else
    false
    #endif
  }

  /// Opens a file.
  ///
  /// It is not inherited by child processes that execute another program.
  ///
  /// - Parameter path: Its name, absolute or relative to the working directory.
  /// - Throws: ``LineReaderError`` with the code `fileNotFound`, `isDirectory`, `permissionDenied`, `inputOutput` or
  ///   `cannotOpen`; of a file in an archive, also `damaged`, `encrypted` or `expandsTooFar`.
  package init(path: String) throws(LineReaderError) {
    self.path = path
    closesDescriptor = true
    let file: Platform.OpenFile
    do { file = try Platform.open(path) } catch {
      #if Compression
      if Platform.isNoFolder(error), let inArchive = ArchivePath(path) {
        let entry = try Self.open(inArchive, path: path)
        (descriptor, size, unpacker) = (entry.file.descriptor, entry.reader.size, entry.reader)
        return
      }
      #endif
      throw LineReaderError(Platform.openingCode(error.errorNumber), path: path, errorNumber: error.errorNumber)
    }
    (descriptor, size) = (file.descriptor, file.size)
    #if Compression
    unpacker = nil
    #endif
  }

  /// Takes a descriptor that is open for reading, and reads from the place where it is.
  ///
  /// It is not closed. Its size is not asked for, since it may be anywhere in its file.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor, which must stay open while this is used.
  ///   - path: What errors call it.
  package init(descriptor: Int32, path: String) {
    (self.path, self.descriptor, size, closesDescriptor) = (path, descriptor, nil, false)
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
      throw LineReaderError(Platform.openingCode(error.errorNumber), path: path, errorNumber: error.errorNumber)
    }
    do { return (file, try ZipEntryReader(inArchive, archiveSize: file.size ?? 0)) } catch {
      Platform.close(file.descriptor)
      throw error.error(path: path)
    }
  }
  #endif

  deinit { if closesDescriptor { Platform.close(descriptor) } }

  /// Reads the bytes that come next.
  ///
  /// Blocks until there are some.
  ///
  /// - Parameter buffer: Where to put them. Not empty.
  /// - Returns: How many were read, which may be fewer than there is room for. Zero at the end of the file, and again
  ///   whenever it is called after that.
  /// - Throws: ``LineReaderError`` with the code `inputOutput`, `damaged`, or `truncated` when a regular file ends
  ///   before the size it had when it was opened.
  package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(LineReaderError) -> Int {
    precondition(!buffer.isEmpty, "FileSource.read(into:) for \(path): the buffer is empty. Give it room for a byte.")
    // Without this, a terminal would be asked again after its end.
    if reachedEnd { return 0 }
    #if Compression
    if unpacker != nil { return try unpack(into: buffer) }
    if bytesRead == 0 { return try readStart(into: buffer) }
    #endif
    return try readPlain(into: buffer)
  }

  private mutating func readPlain(into buffer: UnsafeMutableRawBufferPointer) throws(LineReaderError) -> Int {
    var count = try readOnce(into: buffer)
    if count == 0, let size, bytesRead < size {
      // Truncated, unless the size was never true: files in /sys say 4096 and hold less, and go on saying so. If it has
      // the promised size now, it either grew back since the read above, or is one of those; a second read tells.
      guard try sizeNow() >= size else { throw LineReaderError(.truncated, path: path, byteOffset: bytesRead) }
      count = try readOnce(into: buffer)
    }
    bytesRead += count
    reachedEnd = count == 0
    return count
  }

  #if Compression
  /// Reads the first bytes; if they are those of a compressed file, unpacks them.
  private mutating func readStart(into buffer: UnsafeMutableRawBufferPointer) throws(LineReaderError) -> Int {
    var count = 0
    repeat {
      count += try readPlain(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
      // A pipe may give less than tells.
    } while !reachedEnd && count < buffer.count && Compression.isOpen(buffer[..<count])
    guard let compression = Compression(of: buffer[..<count]) else { return count }
    let head = Array(buffer[..<count])
    do {
      unpacker =
        compression == .gzip
        ? GzipDecompressor(head: head, descriptor: descriptor) : try Decompressor(head: head, descriptor: descriptor)
    } catch { throw unpackingError(error) }
    reachedEnd = false
    return try unpack(into: buffer)
  }

  private mutating func unpack(into buffer: UnsafeMutableRawBufferPointer) throws(LineReaderError) -> Int {
    guard let unpacker else { return 0 }
    do {
      let count = try unpacker.read(into: buffer)
      bytesRead = unpacker.bytesRead
      reachedEnd = count == 0
      return count
    } catch { throw unpackingError(error) }
  }

  private func unpackingError(_ problem: UnpackingProblem) -> LineReaderError {
    problem.error(path: path, byteOffset: bytesRead)
  }
  #endif

  private func readOnce(into buffer: UnsafeMutableRawBufferPointer) throws(LineReaderError) -> Int {
    do { return try Platform.read(descriptor, into: buffer) } catch { throw readingError(error) }
  }

  private func sizeNow() throws(LineReaderError) -> Int {
    do { return try Platform.size(of: descriptor) } catch { throw readingError(error) }
  }

  private func readingError(_ failure: Platform.Failure) -> LineReaderError {
    let code = Platform.readingCode(failure.errorNumber)
    return LineReaderError(code, path: path, byteOffset: bytesRead, errorNumber: failure.errorNumber)
  }
}
