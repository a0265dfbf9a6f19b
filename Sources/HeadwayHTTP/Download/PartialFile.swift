#if HTTP
  import Crypto
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOPosix

  /// A file that is being downloaded, beside its final place: `PATH.part`, and `PATH.part.json` with what is needed to
  /// go on with it.
  ///
  /// What may wait for the disk runs on NIO's threads for that.
  final class PartialFile: @unchecked Sendable {  // Used by one task, one call after the other.
    /// How many bytes it has.
    var count: Int { writer.end }
    /// By what the server knows whether the content is still the same; nil if it has not said.
    private(set) var validator: String?
    /// How many bytes the whole content has; nil if the server has not said.
    private(set) var size: Int?
    /// How the content was compressed when it came, as the server said.
    private var coding: String?

    private let path: String
    private let url: String
    private let descriptor: Int32
    private let checksum: SHA256Checksum?
    private var writer: PieceWriter
    /// What has been read of an earlier download's bytes; nil once all of them have.
    private var earlier: (hash: SHA256, count: Int)?

    /// How much of an earlier download is read at a time.
    private static let hashedBytes = 8 << 20

    private struct Note: Codable {
      let url: String
      let validator: String
      let size: Int?
      let coding: String?
    }

    private var partPath: String { path + ".part" }
    private var notePath: String { path + ".part.json" }

    private init(_ path: String, _ url: String, _ checksum: SHA256Checksum?) throws {
      (self.path, self.url, self.checksum) = (path, url, checksum)
      try Self.requireReplaceable(path, url)
      descriptor = try Self.openAlone(path + ".part", url)
      writer = PieceWriter(descriptor, at: 0, hash: nil)
    }

    deinit { Foundation.close(descriptor) }

    /// Computes the checksum of a file, piece by piece.
    ///
    /// - Returns: nil if it can't be read.
    static func checksum(of path: String) async throws -> SHA256Checksum? {
      guard let file = FileHandle(forReadingAtPath: path) else { return nil }
      var hash = SHA256()
      while let piece = try? await performing({ try file.read(upToCount: hashedBytes) }), !piece.isEmpty {
        hash.update(data: piece)
        try Task.checkCancellation()
      }
      return SHA256Checksum(hash.finalize())
    }

    private static func performing<Answer: Sendable>(
      _ body: @escaping @Sendable () throws -> Answer
    ) async throws -> Answer {
      try await NIOThreadPool.singleton.runIfActive(body)
    }

    // MARK: Opening

    /// Opens the file, for this download alone, with what an earlier one has left of the same address.
    ///
    /// - Parameters:
    ///   - path: Where the file is to be.
    ///   - url: The address.
    ///   - checksum: What the content must have.
    /// - Returns: The file.
    /// - Throws: ``HTTPError`` with the code `cannotWriteFile` or `fileInUse`.
    static func open(_ path: String, for url: String, _ checksum: SHA256Checksum?) async throws -> PartialFile {
      try await performing {
        let file = try PartialFile(path, url, checksum)
        try file.takeUp()
        return file
      }
    }

    /// A device, a pipe or a folder of that name is not replaced.
    private static func requireReplaceable(_ path: String, _ url: String) throws {
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
      throw HTTPError(.cannotWriteFile, url: url, message: "\(path) is there, and is no file.")
    }

    private static func openAlone(_ path: String, _ url: String) throws -> Int32 {
      while true {
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure("can't be written", path, url) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
          let isInUse = errno == EWOULDBLOCK
          Foundation.close(descriptor)
          guard isInUse else { throw failure("can't be locked", path, url) }
          throw HTTPError(.fileInUse, url: url, message: "Another download writes \(path).")
        }
        // Another one may have completed it between the two.
        var (opened, named) = (stat(), stat())
        if fstat(descriptor, &opened) == 0, stat(path, &named) == 0, opened.st_ino == named.st_ino { return descriptor }
        Foundation.close(descriptor)
      }
    }

    private static func failure(
      _ what: String, _ path: String, _ url: String, _ error: any Error = IOError(errnoCode: errno, reason: "")
    ) -> HTTPError {
      let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
      return HTTPError(.cannotWriteFile, url: url, message: "\(path) \(what): \(reason).", underlying: error)
    }

    private func failure(_ what: String, _ error: any Error = IOError(errnoCode: errno, reason: "")) -> HTTPError {
      Self.failure(what, partPath, url, error)
    }

    private func takeUp() throws {
      let note = FileManager.default.contents(atPath: notePath).flatMap {
        try? JSONDecoder().decode(Note.self, from: $0)
      }
      guard let note, note.url == url else { return try truncate() }
      (validator, size, coding) = (note.validator, note.size, note.coding)
      writer = PieceWriter(descriptor, at: Int(lseek(descriptor, 0, SEEK_END)), hash: nil)
      if checksum != nil { earlier = (SHA256(), 0) }
    }

    /// Reads what an earlier download has left, for the checksum.
    ///
    /// Piece by piece, since the file may be large, and the operation cancelled meanwhile.
    func hashEarlierBytes() async throws {
      while try await Self.performing({ try self.hashPiece() }) { try Task.checkCancellation() }
    }

    private func hashPiece() throws -> Bool {
      guard var (hash, count) = earlier else { return false }
      let piece = try [UInt8](unsafeUninitializedCapacity: Self.hashedBytes) { buffer, size in
        let got = pread(descriptor, buffer.baseAddress, buffer.count, off_t(count))
        guard got >= 0 else { throw failure("can't be read") }
        size = got
      }
      guard !piece.isEmpty else {
        writer = PieceWriter(descriptor, at: count, hash: hash)
        earlier = nil
        return false
      }
      hash.update(data: piece)
      count += piece.count
      earlier = (hash, count)
      return true
    }

    /// Whether an answer with a part of the content goes on where this ends.
    func isContinued(by part: ContentRange?, _ headers: HTTPHeaders) -> Bool {
      guard let part, part.start == count, belongs(headers, total: part.total) else { return false }
      // It may leave the coding out, but has no other one.
      return headers.first(name: "Content-Encoding").map { $0 == coding } ?? true
    }

    /// Whether an answer without a part says that nothing follows where this ends.
    func isWhole(by headers: HTTPHeaders) -> Bool {
      guard let total = ContentRange.totalWithoutPart(headers) else { return false }
      return total == count && belongs(headers, total: total)
    }

    /// Whether an answer is about the content of which a part is here: a server may send the rest whatever `If-Range`
    /// says.
    private func belongs(_ headers: HTTPHeaders, total: Int?) -> Bool {
      guard let validator, !Validator.isContradicted(validator, by: headers) else { return false }
      guard let total else { return size != nil }
      return size.map { $0 == total } ?? true
    }

    // MARK: Writing

    /// Begins anew, with an answer that has the whole content.
    ///
    /// - Parameters:
    ///   - headers: Its header fields.
    ///   - size: How many bytes it has, if that is known.
    ///   - isDecoded: Whether the content is decompressed before it is written, so that ranges say nothing of it.
    func restart(_ headers: HTTPHeaders, size: Int?, isDecoded: Bool) async throws {
      try await empty()
      let note =
        isDecoded
        ? nil
        : Validator.of(headers).map {
          Note(url: url, validator: $0, size: size, coding: headers.first(name: "Content-Encoding"))
        }
      guard let note else { return }
      (validator, self.size, coding) = (note.validator, note.size, note.coding)
      try await Self.performing { try self.write(note) }
    }

    /// Forgets what has come.
    func empty() async throws {
      try await flush()
      try await Self.performing { try self.truncate() }
    }

    private func truncate() throws {
      guard ftruncate(descriptor, 0) == 0 else { throw failure("can't be written") }
      writer = PieceWriter(descriptor, at: 0, hash: checksum.map { _ in SHA256() })
      (validator, size, coding) = (nil, nil, nil)
      unlink(notePath)
    }

    /// Writes the note to a file of its own: a link of that name is not followed.
    private func write(_ note: Note) throws {
      unlink(notePath)
      let descriptor = Foundation.open(notePath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
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

    /// Waits until all that has come is in the file.
    private func flush() async throws {
      do { try await writer.flush() } catch { throw failure("can't be written", error) }
    }

    // MARK: The end

    /// Gives the file its name, once it is on the disk.
    ///
    /// - Parameter record: What is kept with the file, if anything is.
    /// - Throws: ``HTTPError`` with the code `checksumMismatch`, after which nothing of it is kept, or
    ///   `cannotWriteFile`.
    func complete(recording record: DownloadRecord?) async throws {
      try await flush()
      try await Self.performing {
        if let checksum = self.checksum, let actual = self.writer.hash.map({ SHA256Checksum($0.finalize()) }),
          checksum != actual
        {
          try self.truncate()
          throw HTTPError(
            .checksumMismatch, url: self.url,
            message: "The content has the SHA-256 checksum \(actual), not \(checksum).")
        }
        record?.write(to: self.descriptor)
        guard fsync(self.descriptor) == 0, rename(self.partPath, self.path) == 0 else {
          throw self.failure("can't be completed")
        }
        unlink(self.notePath)
        // So that the name is on the disk, too.
        let folder = Foundation.open((self.path as NSString).deletingLastPathComponent.orCurrentFolder, O_RDONLY)
        if folder >= 0 {
          fsync(folder)
          Foundation.close(folder)
        }
      }
    }

    /// Leaves the file, or removes it.
    ///
    /// - Parameter keeps: Whether to leave what has come, if a later download can go on with it.
    func close(keeps: Bool) async {
      // What can't be written is not kept.
      try? await flush()
      guard !keeps || count == 0 || validator == nil else { return }
      // In a task of its own, since that of the operation may be cancelled.
      await Task {
        try? await Self.performing {
          unlink(self.partPath)
          unlink(self.notePath)
        }
      }.value
    }
  }

  extension String {
    fileprivate var orCurrentFolder: String { isEmpty ? "." : self }
  }
#endif
