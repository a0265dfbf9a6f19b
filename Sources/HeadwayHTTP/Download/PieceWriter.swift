#if HTTP
import Crypto
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Writes pieces to a file, one behind the other, on a thread that may block, while further ones come.
///
/// A piece is written at once; those that come while one is written are gathered, and written by the same thread.
/// Used by one task, one call after the other.
final class PieceWriter: @unchecked Sendable {
  /// How many bytes may wait to be written.
  private static let maximumWaitingBytes = 1 << 20
  /// How often a writing that waits for a reader checks whether it is still wanted.
  private static let millisecondsBetweenChecks: Int32 = 50

  private struct Waiting {
    var pieces: [ByteBuffer] = []
    var bytes = 0
    var isWriting = false
  }

  private let descriptor: Int32
  private let threads: NIOThreadPool
  private let isSeekable: Bool
  private let waiting = Mutex(Waiting())
  /// What has not been written to a pipe is no longer wanted.
  private let isGivenUp = Atomic(false)
  /// The last writing, which may have ended.
  private var writing: Task<Void, any Error>?
  /// How many bytes have come.
  private(set) var end: Int

  // Used by the thread that writes, and when none does.
  private var offset: Int
  private(set) var hash: SHA256?

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - descriptor: The file, which has to be open as long as something is written.
  ///   - end: Where to write.
  ///   - hash: The checksum of what is before that; nil if none is to be computed.
  ///   - threads: The threads that may block.
  ///   - isSeekable: False for what has no offsets, such as a pipe.
  init(_ descriptor: Int32, at end: Int, hash: SHA256?, on threads: NIOThreadPool, isSeekable: Bool = true) {
    (self.descriptor, self.end, offset, self.hash) = (descriptor, end, end, hash)
    (self.threads, self.isSeekable) = (threads, isSeekable)
  }

  /// Takes a piece, and waits if too much has not been written.
  ///
  /// - Throws: `errno` as an `IOError`, of an earlier piece.
  func append(_ piece: ByteBuffer) async throws {
    end += piece.readableBytes
    let (begins, isTooMuch) = waiting.withLock { waiting in
      waiting.pieces.append(piece)
      waiting.bytes += piece.readableBytes
      defer { waiting.isWriting = true }
      return (!waiting.isWriting, waiting.bytes > Self.maximumWaitingBytes)
    }
    if begins {
      try await flush()
      // In a task of its own: what has come is written though that of the download is cancelled.
      writing = Task { [self] in try await threads.runIfActive { try self.writeAll() } }
    } else if isTooMuch {
      try await flush()
    }
  }

  /// Waits until all has been written.
  ///
  /// If the task is cancelled, a file gets the rest nevertheless, and a pipe, whose reader may never read, does not.
  ///
  /// - Throws: `errno` as an `IOError`.
  func flush() async throws {
    try await withTaskCancellationHandler {
      try await writing?.value
    } onCancel: {
      // Relaxed: nothing else is read because of it.
      if !isSeekable { isGivenUp.store(true, ordering: .relaxed) }
    }
  }

  /// Runs on a thread that may block, by itself.
  private func writeAll() throws {
    while true {
      let pieces = waiting.withLock { waiting in
        waiting.isWriting = !waiting.pieces.isEmpty
        defer { (waiting.pieces, waiting.bytes) = ([], 0) }
        return waiting.pieces
      }
      if pieces.isEmpty { return }
      for piece in pieces { try write(piece) }
    }
  }

  private func write(_ piece: ByteBuffer) throws {
    try piece.withUnsafeReadableBytes { bytes in
      var written = 0
      while written < bytes.count {
        let (start, count) = (bytes.baseAddress! + written, bytes.count - written)
        let result =
          isSeekable
          ? pwrite(descriptor, start, count, off_t(offset + written)) : Foundation.write(descriptor, start, count)
        if result < 0, errno == EINTR { continue }
        if result < 0, errno == EAGAIN {
          // A pipe, or a terminal that another process has set so.
          guard !isGivenUp.load(ordering: .relaxed) else { throw IOError(errnoCode: ECANCELED, reason: "write") }
          var waited = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&waited, 1, Self.millisecondsBetweenChecks)
          continue
        }
        guard result > 0 else { throw IOError(errnoCode: errno, reason: "pwrite") }
        written += result
      }
      hash?.update(bufferPointer: bytes)
      offset += written
    }
  }
}
#endif
