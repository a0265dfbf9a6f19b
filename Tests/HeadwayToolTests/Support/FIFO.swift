#if SQLite
import Foundation
import Testing

/// A FIFO that never ends: it is kept open for writing.
final class FIFO {
  private let descriptor: Int32

  init(_ path: String) throws {
    try #require(mkfifo(path, 0o600) == 0)
    // Opened for reading and writing, so that opening does not wait for a reader.
    descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    try #require(descriptor >= 0)
  }

  deinit { close(descriptor) }

  /// Writes bytes that fit.
  func append(_ bytes: [UInt8]) throws {
    try #require(write(descriptor, bytes, bytes.count) == bytes.count)
  }

  /// Fills the FIFO with copies of a text and returns when it is being read.
  func fill(with text: String) throws {
    let bytes = Array(text.utf8)
    while write(descriptor, bytes, bytes.count) > 0 {}
    try #require(errno == EAGAIN)
    var question = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    try #require(poll(&question, 1, -1) == 1)
  }

  /// Whether all bytes have been read.
  var isEmpty: Bool {
    var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&question, 1, 0) == 0
  }
}
#endif
