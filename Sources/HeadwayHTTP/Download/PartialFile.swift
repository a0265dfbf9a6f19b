#if HTTP
import Foundation
import HeadwayFiles
import NIOCore
import NIOHTTP1
import NIOPosix

#if canImport(CryptoKit)
import CryptoKit
#endif

/// A file that is being downloaded.
///
/// While the download runs, the content is in `PATH.headway-part`, next to its destination. A note in
/// `PATH.headway-part.json` contains what a later download needs to continue. The note also shows that Headway created
/// the file: other files with these names are not touched. A pipe, a device, or standard output is written in place,
/// and such a download can't be started over.
///
/// Work that might wait for the disk runs on NIO's threads for blocking work.
final class PartialFile: @unchecked Sendable {  // Used by a single task, one call at a time.
  /// The number of bytes received so far.
  var count: Int { writer.end }
  /// The metadata that the server has sent about the content.
  private(set) var content = ContentIdentity()

  /// The path of the file that is replaced at the end, with links resolved.
  private let path: String
  private let isInPlace: Bool
  private let threads: NIOThreadPool
  private let url: String
  private let descriptor: Int32
  private let checksum: SHA256Checksum?
  private var writer: PieceWriter
  /// The progress in hashing the bytes of an earlier download; nil once they have all been hashed.
  private var earlier: (hash: SHA256, count: Int)?

  /// The number of bytes of an existing file that are read at a time.
  private static let hashedBytes = 8 << 20

  private struct Note: Codable {
    let url: String
    let validator: String?
    let size: Int?
    let coding: String?
    let entityTag: String?
  }

  private static let partEnding = DownloadOperation.partialEndings[0]
  private static let noteEnding = DownloadOperation.partialEndings[1]

  /// The path of the file that is written.
  private var partPath: String { isInPlace ? path : path + Self.partEnding }
  private var notePath: String { path + Self.noteEnding }

  private init(
    _ path: String, _ url: String, _ checksum: SHA256Checksum?, inPlace: Int32?, _ threads: NIOThreadPool
  ) throws {
    let isInPlace = inPlace != nil
    let isLink = FileSystem.kind(of: path, followsLinks: false) == .other
    self.path = isLink ? FileSystem.resolved(path) ?? path : path
    (self.url, self.checksum, self.isInPlace, self.threads) = (url, checksum, isInPlace, threads)
    if !isInPlace, FileSystem.isFolder(path) {
      throw RequestError(.cannotWriteFile, url: url, context: "\(path.shownPath) is a folder.")
    }
    descriptor = try inPlace ?? Self.openAlone(self.path + Self.partEnding, url)
    writer = PieceWriter(descriptor, at: 0, hash: nil, on: threads, isSeekable: !isInPlace)
  }

  deinit {
    // A process that this one has forked, and that hasn't executed its program yet, has the same open file. In that
    // case, closing the file doesn't release the lock.
    if !isInPlace { flock(descriptor, LOCK_UN) }
    Foundation.close(descriptor)
    if isInPlace { threads.shutdownGracefully { _ in } }
  }

  /// Computes the checksum of a file piece by piece.
  ///
  /// - Returns: The checksum; nil if the file can't be opened.
  static func checksum(of path: String) async throws -> SHA256Checksum? {
    let descriptor = path.withPathBytes { Foundation.open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { return nil }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var hash = SHA256()
    while let piece = try? await performing({ try file.read(upToCount: hashedBytes) }), !piece.isEmpty {
      hash.update(data: piece)
      try Task.checkCancellation()
    }
    return SHA256Checksum(hash.finalize())
  }

  /// Reads the record of a file on a thread that can block.
  static func record(of path: String, url: String, isDecoded: Bool) async throws -> DownloadRecord? {
    try await performing { DownloadRecord.of(path, url: url, isDecoded: isDecoded) }
  }

  private static func performing<Answer: Sendable>(
    on threads: NIOThreadPool = .singleton, _ body: @escaping @Sendable () throws -> Answer
  ) async throws -> Answer {
    try await threads.runIfActive(body)
  }

  private func performing<Answer: Sendable>(
    _ body: @escaping @Sendable () throws -> Answer
  ) async throws -> Answer {
    try await Self.performing(on: threads, body)
  }

  // MARK: Opening

  /// Opens the file exclusively for this download, with the content that an earlier download of the same URL left.
  ///
  /// - Parameters:
  ///   - path: The destination of the file.
  ///   - url: The URL of the content.
  ///   - checksum: The checksum that the content must have.
  ///   - isDecoded: Whether the download decompresses content. It then can't continue a file of compressed content.
  /// - Returns: The open partial file.
  /// - Throws: ``RequestError`` with the code `fileInUse`, or with `cannotWriteFile`, for example if a foreign file has
  ///   the name of the partial file.
  static func open(
    _ path: String, for url: String, _ checksum: SHA256Checksum?, isDecoded: Bool
  ) async throws -> PartialFile {
    let isInPlace = isInPlace(path)
    // Writing to a pipe waits for its reader. Other files must not wait for this reader, so the pipe has its own
    // thread.
    let threads = isInPlace ? NIOThreadPool(numberOfThreads: 1) : .singleton
    if isInPlace { threads.start() }
    do {
      let descriptor = isInPlace ? try await openInPlace(path, url, on: threads) : nil
      return try await performing(on: threads) {
        let file = try PartialFile(path, url, checksum, inPlace: descriptor, threads)
        try file.takeUp(isDecoded: isDecoded)
        return file
      }
    } catch {
      if isInPlace { try? await threads.shutdownGracefully() }
      throw error
    }
  }

  /// Returns whether a path is standard output, a device, or a pipe, which are not replaced.
  private static func isInPlace(_ path: String) -> Bool {
    DownloadOperation.isStandardOutput(path) || FileSystem.kind(of: path) == .other
  }

  /// The pause between two attempts to open a pipe that has no reader.
  private static let pauseBeforeReader = Duration.milliseconds(20)

  /// Opens standard output, a device, or a pipe; waits until a pipe has a reader.
  ///
  /// A thread that opens a pipe blocks until there is a reader and can't be cancelled while it waits. Therefore this
  /// method tries to open a pipe repeatedly without blocking, and sleeps in between. The pipe stays non-blocking, so a
  /// write can be cancelled, too.
  private static func openInPlace(_ path: String, _ url: String, on threads: NIOThreadPool) async throws -> Int32 {
    while true {
      let descriptor = try await performing(on: threads) { () throws -> Int32? in
        let flags = O_WRONLY | O_CLOEXEC | O_NOCTTY
        let isPipe = isPipe(path)
        let descriptor =
          DownloadOperation.isStandardOutput(path)
          ? fcntl(1, F_DUPFD_CLOEXEC, 0)
          : path.withPathBytes { Foundation.open($0, flags | (isPipe ? O_NONBLOCK : 0)) }
        if descriptor < 0, isPipe, errno == ENXIO { return nil }
        guard descriptor >= 0 else { throw failure("can't be written", path, url) }
        return descriptor
      }
      if let descriptor { return descriptor }
      try await Task.sleep(for: pauseBeforeReader)
    }
  }

  private static func isPipe(_ path: String) -> Bool {
    var status = stat()
    return path.withPathBytes { stat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  private static func openAlone(_ path: String, _ url: String) throws -> Int32 {
    while true {
      let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
      let descriptor = path.withPathBytes { Foundation.open($0, flags, 0o666) }
      guard descriptor >= 0 else { throw failure("can't be written", path, url) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let isInUse = errno == EWOULDBLOCK
        Foundation.close(descriptor)
        guard isInUse else { throw failure("can't be locked", path, url) }
        throw RequestError(.fileInUse, url: url, context: "Another download is writing \(path.shownPath).")
      }
      // Another download might have completed the file between opening and locking it.
      if isNamed(path, descriptor) { return descriptor }
      Foundation.close(descriptor)
    }
  }

  /// Returns whether a path still leads to an open file.
  private static func isNamed(_ path: String, _ descriptor: Int32) -> Bool {
    var (opened, named) = (stat(), stat())
    return fstat(descriptor, &opened) == 0 && path.withPathBytes { stat($0, &named) } == 0
      && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
  }

  private static func failure(
    _ what: String, _ path: String, _ url: String, _ error: any Error = IOError(errnoCode: errno, reason: "")
  ) -> RequestError {
    let name = DownloadOperation.isStandardOutput(path) ? "Standard output" : path.shownPath
    return RequestError(.cannotWriteFile, url: url, context: "\(name) \(what).", underlyingError: error)
  }

  private func failure(_ what: String, _ error: any Error = IOError(errnoCode: errno, reason: "")) -> RequestError {
    Self.failure(what, partPath, url, error)
  }

  private func takeUp(isDecoded: Bool) throws {
    guard !isInPlace else { return try truncate() }
    let end = Int(lseek(descriptor, 0, SEEK_END))
    let note: Note?
    do { note = try readNote() } catch {
      // `openAlone(_:_:)` has just created the file.
      if end == 0 { Self.remove(partPath) }
      throw error
    }
    guard note != nil || end == 0 else { throw foreign(partPath) }
    guard let note, let validator = note.validator, note.url == url, note.coding == nil || !isDecoded,
      end <= note.size ?? end
    else { return try truncate() }
    content = ContentIdentity(
      validator: validator, size: note.size, coding: note.coding, entityTag: note.entityTag)
    writer = PieceWriter(descriptor, at: end, hash: nil, on: threads)
    if checksum != nil { earlier = (SHA256(), 0) }
  }

  /// Reads the note.
  ///
  /// - Returns: The note; nil if there is none, or if the process ended before it wrote the note.
  /// - Throws: ``RequestError`` if a file of that name is not a note.
  private func readNote() throws -> Note? {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let descriptor = notePath.withPathBytes { Foundation.open($0, flags) }
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw foreign(notePath)
    }
    let content = try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readToEnd() ?? Data()
    if content?.isEmpty == true { return nil }
    guard let note = content.flatMap({ try? JSONDecoder().decode(Note.self, from: $0) }) else {
      throw foreign(notePath)
    }
    return note
  }

  private func foreign(_ path: String) -> RequestError {
    RequestError(
      .cannotWriteFile, url: url,
      context: "\(path.shownPath) exists, but was not created by a download. Move or remove it.")
  }

  private static func remove(_ path: String) { _ = path.withPathBytes { unlink($0) } }

  /// Computes the hash of the bytes that an earlier download has left.
  ///
  /// The file is read piece by piece, because it might be large and the operation might be cancelled in the meantime.
  func hashEarlierBytes() async throws {
    while try await performing({ try self.hashPiece() }) { try Task.checkCancellation() }
  }

  private func hashPiece() throws -> Bool {
    guard var (hash, count) = earlier else { return false }
    let piece = try [UInt8](unsafeUninitializedCapacity: Self.hashedBytes) { buffer, size in
      let got = pread(descriptor, buffer.baseAddress, buffer.count, off_t(count))
      guard got >= 0 else { throw failure("can't be read") }
      size = got
    }
    guard !piece.isEmpty else {
      writer = PieceWriter(descriptor, at: count, hash: hash, on: threads)
      earlier = nil
      return false
    }
    hash.update(data: piece)
    count += piece.count
    earlier = (hash, count)
    return true
  }

  // MARK: Writing

  /// Starts over with a response that contains the whole content.
  ///
  /// - Parameters:
  ///   - headers: The header fields of the response.
  ///   - size: The size of the content in bytes; nil if unknown.
  ///   - isDecoded: Whether the content is decompressed before it is written. No range describes such content.
  /// - Throws: ``RequestError`` with the code `cannotWriteFile`.
  func restart(_ headers: HTTPHeaders, size: Int?, isDecoded: Bool) async throws {
    try await empty()
    if !isDecoded, let validator = Validator.of(headers) {
      content = ContentIdentity(
        validator: validator, size: size, coding: headers.first(name: "Content-Encoding"),
        entityTag: Validator.entityTag(headers))
    }
    guard !isInPlace else { return }
    // Even without a validator, the note shows that the file is Headway's.
    let note = Note(
      url: url, validator: content.validator, size: content.size, coding: content.coding, entityTag: content.entityTag)
    try await performing { try self.write(note) }
  }

  /// Removes the content.
  func empty() async throws {
    try await flush()
    try await performing { try self.truncate() }
  }

  private func truncate() throws {
    guard !isInPlace || count == 0 else {
      throw RequestError(
        .cannotWriteFile, url: url,
        context: "The download can't start over, because its beginning has been written to a pipe or a device.")
    }
    guard isInPlace || ftruncate(descriptor, 0) == 0 else { throw failure("can't be written") }
    writer = PieceWriter(descriptor, at: 0, hash: checksum.map { _ in SHA256() }, on: threads, isSeekable: !isInPlace)
    content = ContentIdentity()
    if !isInPlace { Self.remove(notePath) }
  }

  /// Writes the note to a new file, so that a link of that name is not followed.
  private func write(_ note: Note) throws {
    Self.remove(notePath)
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let descriptor = notePath.withPathBytes { Foundation.open($0, flags, 0o666) }
    guard descriptor >= 0 else { throw Self.failure("can't be written", notePath, url) }
    do {
      try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: JSONEncoder().encode(note))
    } catch {
      throw Self.failure("can't be written", notePath, url, error)
    }
  }

  func append(_ piece: ByteBuffer) async throws {
    do { try await writer.append(piece) } catch { throw failure("can't be written", error) }
  }

  /// Waits until everything that was received is in the file.
  private func flush() async throws {
    do { try await writer.flush() } catch { throw failure("can't be written", error) }
  }

  // MARK: Finishing

  /// Renames the file to its final name after writing it to disk.
  ///
  /// - Parameter record: The record to store in the file, if any.
  /// - Throws: ``RequestError`` with the code `checksumMismatch` (the content is then discarded) or `cannotWriteFile`.
  func complete(recording record: DownloadRecord?) async throws {
    try await flush()
    try await performing {
      if let checksum = self.checksum, let actual = self.writer.hash.map({ SHA256Checksum($0.finalize()) }),
        checksum != actual
      {
        if !self.isInPlace { try self.truncate() }
        throw RequestError(
          .checksumMismatch, url: self.url,
          context: "The SHA-256 checksum of the content is \(actual), not \(checksum).")
      }
      guard !self.isInPlace else { return }
      guard Self.isNamed(self.partPath, self.descriptor) else {
        throw RequestError(
          .cannotWriteFile, url: self.url, context: "Another program has replaced \(self.partPath.shownPath).")
      }
      record?.write(to: self.descriptor)
      let rename = { self.partPath.withPathBytes { from in self.path.withPathBytes { Foundation.rename(from, $0) } } }
      guard fsync(self.descriptor) == 0, rename() == 0 else {
        throw self.failure("can't be completed")
      }
      Self.remove(self.notePath)
      // Writes the folder to disk, too, because it contains the new name.
      let folder = self.path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(self.path[...$0]) } ?? "."
      let folderDescriptor = folder.withPathBytes { Foundation.open($0, O_RDONLY) }
      if folderDescriptor >= 0 {
        fsync(folderDescriptor)
        Foundation.close(folderDescriptor)
      }
    }
  }

  /// Keeps or removes the partial file.
  ///
  /// - Parameter keeps: Whether to keep the received bytes, if a later download can continue with them.
  func close(keeps: Bool) async {
    // Bytes that can't be written are not kept.
    try? await flush()
    guard !isInPlace, !keeps || count == 0 || content.validator == nil, Self.isNamed(partPath, descriptor) else {
      return
    }
    // A separate task, because the task of the operation might be cancelled.
    await Task {
      try? await self.performing {
        Self.remove(self.partPath)
        Self.remove(self.notePath)
      }
    }.value
  }
}
#endif
