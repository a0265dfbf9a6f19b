#if HTTP
import Foundation
import Headway
import HeadwayFiles
import NIOCore
import NIOPosix

/// The content of a file, read on threads that can block.
///
/// Each pass sends the content that the file had when the request began. If another file gets its name before the pass
/// opens it, the pass fails. A later replacement has no effect. Bytes that are appended in the meantime are not sent.
struct FileBody: AsyncSequence, Sendable {
  typealias Element = ByteBuffer

  private static let pieceBytes = 128 << 10

  let path: String
  let url: String
  let size: Int64
  private let number: ino_t

  init(path: String, url: String) throws {
    (self.path, self.url) = (path, url)
    var status = stat()
    guard path.withPathBytes({ stat($0, &status) }) == 0 else {
      throw Self.failure(path, url, number: errno)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Self.failure("\(path.shownPath) is not a regular file.", url)
    }
    (size, number) = (Int64(status.st_size), status.st_ino)
  }

  private static func failure(_ path: String, _ url: String, number: Int32) -> RequestError {
    RequestError(.cannotReadFile, url: url, context: "\(path.shownPath) can't be read.", systemErrorNumber: number)
  }

  private static func failure(_ context: String, _ url: String) -> RequestError {
    RequestError(.cannotReadFile, url: url, context: context)
  }

  func makeAsyncIterator() -> Iterator { Iterator(file: self) }

  struct Iterator: AsyncIteratorProtocol {
    private let file: FileBody
    /// The open file; nil until the first piece is read.
    private var opened: OpenFile?
    private var offset: Int64 = 0

    init(file: FileBody) { self.file = file }

    mutating func next() async throws -> ByteBuffer? {
      let count = Int(Swift.min(file.size - offset, Int64(FileBody.pieceBytes)))
      guard count > 0 else { return nil }
      let (start, file, opened) = (offset, file, opened)
      let (source, piece) = try await NIOThreadPool.singleton.runIfActive {
        let source = try opened ?? OpenFile(file)
        return (source, try source.read(count, at: start))
      }
      guard piece.readableBytes > 0 else {
        throw FileBody.failure("\(file.path.shownPath) became shorter while it was being sent.", file.url)
      }
      (self.opened, offset) = (source, offset + Int64(piece.readableBytes))
      return piece
    }
  }

  /// A file that is closed when nothing refers to it any longer.
  private final class OpenFile: Sendable {
    private let file: FileBody
    private let descriptor: Int32

    init(_ file: FileBody) throws {
      self.file = file
      descriptor = file.path.withPathBytes { open($0, O_RDONLY | O_CLOEXEC) }
      guard descriptor >= 0 else { throw FileBody.failure(file.path, file.url, number: errno) }
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_ino == file.number else {
        throw FileBody.failure("\(file.path.shownPath) was replaced by another file.", file.url)
      }
    }

    deinit { close(descriptor) }

    func read(_ count: Int, at offset: Int64) throws -> ByteBuffer {
      var buffer = ByteBufferAllocator().buffer(capacity: count)
      try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
        let got = pread(descriptor, bytes.baseAddress, count, off_t(offset))
        guard got >= 0 else { throw FileBody.failure(file.path, file.url, number: errno) }
        return got
      }
      return buffer
    }
  }
}
#endif
