#if HTTP
  import Crypto
  import Foundation
  import Headway
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
      guard path.withPathBytes({ stat($0, &status) }) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
      throw HTTPError(.cannotWriteFile, url: url, message: "\(path) is there, and is no file.")
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
          throw HTTPError(.fileInUse, url: url, message: "Another download writes \(path).")
        }
        // Another one may have completed it between the two.
        var (opened, named) = (stat(), stat())
        let isNamed = fstat(descriptor, &opened) == 0 && path.withPathBytes { stat($0, &named) } == 0
        if isNamed, opened.st_ino == named.st_ino { return descriptor }
        Foundation.close(descriptor)
      }
    }

    private static func failure(
      _ what: String, _ path: String, _ url: String, _ error: any Error = IOError(errnoCode: errno, reason: "")
    ) -> HTTPError {
      let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
      return HTTPError(.cannotWriteFile, url: url, message: "\(path.shownPath) \(what): \(reason).", underlying: error)
    }

    private func failure(_ what: String, _ error: any Error = IOError(errnoCode: errno, reason: "")) -> HTTPError {
      Self.failure(what, partPath, url, error)
    }

    private func takeUp() throws {
      guard let note = readNote(), note.url == url else { return try truncate(validator: nil) }
      validator = note.validator
      writer = PieceWriter(descriptor, at: Int(lseek(descriptor, 0, SEEK_END)), hash: nil)
      if checksum != nil { earlier = (SHA256(), 0) }
    }

    private func readNote() -> Note? {
      let descriptor = notePath.withPathBytes { Foundation.open($0, O_RDONLY | O_CLOEXEC) }
      guard descriptor >= 0 else { return nil }
      let content = try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readToEnd()
      return content.flatMap { try? JSONDecoder().decode(Note.self, from: $0) }
    }

    private static func remove(_ path: String) { _ = path.withPathBytes { unlink($0) } }

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
      guard let part, part.start == count else { return false }
      // A server may send the rest whatever `If-Range` says.
      return validator.map { !Validator.isContradicted($0, by: headers) } ?? false
    }

    // MARK: Writing

    /// Begins anew.
    func restart(validator: String?) async throws {
      try await flush()
      try await Self.performing { try self.truncate(validator: validator) }
    }

    private func truncate(validator: String?) throws {
      guard ftruncate(descriptor, 0) == 0 else { throw failure("can't be written") }
      writer = PieceWriter(descriptor, at: 0, hash: checksum.map { _ in SHA256() })
      self.validator = validator
      guard let validator else { return Self.remove(notePath) }
      try write(Note(url: url, validator: validator))
    }

    /// Writes the note to a file of its own: a link of that name is not followed.
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

    /// Waits until all that has come is in the file.
    private func flush() async throws {
      do { try await writer.flush() } catch { throw failure("can't be written", error) }
    }

    // MARK: The end

    /// Gives the file its name, once it is on the disk.
    ///
    /// - Throws: ``HTTPError`` with the code `checksumMismatch`, after which nothing of it is kept, or
    ///   `cannotWriteFile`.
    func complete() async throws {
      try await flush()
      try await Self.performing {
        if let checksum = self.checksum, let actual = self.writer.hash.map({ SHA256Checksum($0.finalize()) }),
          checksum != actual
        {
          try self.truncate(validator: nil)
          throw HTTPError(
            .checksumMismatch, url: self.url,
            message: "The content has the SHA-256 checksum \(actual), not \(checksum).")
        }
        let rename = { self.partPath.withPathBytes { from in self.path.withPathBytes { Foundation.rename(from, $0) } } }
        guard fsync(self.descriptor) == 0, rename() == 0 else {
          throw self.failure("can't be completed")
        }
        Self.remove(self.notePath)
        // So that the name is on the disk, too.
        let folder = self.path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(self.path[...$0]) } ?? "."
        let folderDescriptor = folder.withPathBytes { Foundation.open($0, O_RDONLY) }
        if folderDescriptor >= 0 {
          fsync(folderDescriptor)
          Foundation.close(folderDescriptor)
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
          Self.remove(self.partPath)
          Self.remove(self.notePath)
        }
      }.value
    }
  }
#endif
