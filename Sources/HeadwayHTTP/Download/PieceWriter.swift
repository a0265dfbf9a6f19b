#if HTTP
import Foundation
import NIOCore
import NIOPosix
import Synchronization

#if canImport(CryptoKit)
import CryptoKit
#endif

/// Writes pieces to a file in order, on a thread that can block, while further pieces arrive.
///
/// A piece is written immediately if no write is in progress. Pieces that arrive during a write are collected, and the
/// same thread writes them next. A single task uses the writer, one call at a time.
final class PieceWriter: @unchecked Sendable {
  /// The number of bytes that may wait to be written.
  private static let maxWaitingBytes = 1 << 20
  /// The interval between checks whether a write that waits for a reader is still wanted.
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
  /// Set when the bytes that have not been written to a pipe are no longer wanted.
  private let isGivenUp = Atomic(false)
  /// The last write, which might have finished.
  private var writing: Task<Void, any Error>?
  /// The offset after the last byte that was appended.
  private(set) var end: Int

  // Used by the thread that writes, or by the task while no thread writes.
  private var offset: Int
  private(set) var hash: SHA256?

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - descriptor: The open file to write to. It must stay open until everything is written.
  ///   - end: The offset of the first byte to write.
  ///   - hash: The hash of the bytes before that offset; nil to compute no checksum.
  ///   - threads: Threads that can block.
  ///   - isSeekable: False if the file has no offsets, such as a pipe.
  init(_ descriptor: Int32, at end: Int, hash: SHA256?, on threads: NIOThreadPool, isSeekable: Bool = true) {
    (self.descriptor, self.end, offset, self.hash) = (descriptor, end, end, hash)
    (self.threads, self.isSeekable) = (threads, isSeekable)
  }

  /// Adds a piece and waits if too many bytes have not been written yet.
  ///
  /// - Throws: `errno` of an earlier write, as an `IOError`.
  func append(_ piece: ByteBuffer) async throws {
    end += piece.readableBytes
    let (begins, isTooMuch) = waiting.withLock { waiting in
      waiting.pieces.append(piece)
      waiting.bytes += piece.readableBytes
      defer { waiting.isWriting = true }
      return (!waiting.isWriting, waiting.bytes > Self.maxWaitingBytes)
    }
    if begins {
      try await flush()
      // A separate task, so that the bytes are written even if the task of the download is cancelled.
      writing = Task { [self] in try await threads.runIfActive { try self.writeAll() } }
    } else if isTooMuch {
      try await flush()
    }
  }

  /// Waits until everything has been written.
  ///
  /// If the task is cancelled, the remaining bytes are still written to a file, but not to a pipe, because its reader
  /// might never read.
  ///
  /// - Throws: `errno` as an `IOError`.
  func flush() async throws {
    try await withTaskCancellationHandler {
      try await writing?.value
    } onCancel: {
      // Relaxed: no other memory is read because of this flag.
      if !isSeekable { isGivenUp.store(true, ordering: .relaxed) }
    }
  }

  /// Runs on a thread that can block.
  ///
  /// At most one call runs at a time.
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
          // The file is a pipe, or a terminal that another process has made non-blocking.
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
