#if HTTP
  import Foundation
  import NIOCore
  import NIOPosix

  /// The content of a file, read on threads that may block.
  struct FileBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    private static let pieceBytes = 128 << 10

    let path: String
    let url: String
    let size: Int64

    init(path: String, url: String) throws {
      (self.path, self.url) = (path, url)
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        let reason = errno == 0 ? "it is no file" : String(cString: strerror(errno))
        throw HTTPError(.cannotReadFile, url: url, message: "\(path) can't be read: \(reason).")
      }
      size = Int64(status.st_size)
    }

    func makeAsyncIterator() -> Iterator { Iterator(file: self) }

    struct Iterator: AsyncIteratorProtocol {
      let file: FileBody
      private var offset: Int64 = 0

      init(file: FileBody) { self.file = file }

      mutating func next() async throws -> ByteBuffer? {
        let (path, start) = (file.path, offset)
        let piece = try await NIOThreadPool.singleton.runIfActive { () -> ByteBuffer? in
          let descriptor = open(path, O_RDONLY | O_CLOEXEC)
          guard descriptor >= 0 else { return nil }
          defer { close(descriptor) }
          var buffer = ByteBufferAllocator().buffer(capacity: FileBody.pieceBytes)
          let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: FileBody.pieceBytes) { bytes in
            Swift.max(0, pread(descriptor, bytes.baseAddress, FileBody.pieceBytes, off_t(start)))
          }
          return count > 0 ? buffer : nil
        }
        if let piece {
          offset += Int64(piece.readableBytes)
          return piece
        }
        guard offset == file.size else {
          throw HTTPError(.cannotReadFile, url: file.url, message: "\(path) changed while it was sent.")
        }
        return nil
      }
    }
  }
#endif
