import Foundation

/// The writing end of a FIFO.
final class FIFOWriter: Sendable {
  private let descriptor: Int32

  /// Waits for a reader.
  init(_ path: String) {
    // Writing to a FIFO without a reader should be a visible error, and not terminate the process.
    signal(SIGPIPE, SIG_IGN)
    descriptor = open(path, O_WRONLY | O_CLOEXEC)
    precondition(descriptor >= 0)
  }

  /// Whether all was written.
  ///
  /// False if there is no longer a reader.
  @discardableResult
  func write(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 { return false }
      written += count
    }
    return true
  }

  func close() { Foundation.close(descriptor) }
}
