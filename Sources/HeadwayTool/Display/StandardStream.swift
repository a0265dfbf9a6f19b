#if SQLite
import Foundation
import Headway

/// Standard output and standard error, where what is written is seen at once.
///
/// `FileHandle.write(_:)` traps where a stream can't be written, as behind `| head` or on a full disk.
enum StandardStream: Int32, Sendable {
  case output = 1
  case error = 2

  /// Writes a text, and a line end.
  func writeLine(_ text: String) { write("\(text)\n") }

  /// Writes a text, in which bytes of paths that are not UTF-8 are shown as `\xE9`.
  ///
  /// Where nothing reads standard output any more, the process ends as by the signal for that, which the library for
  /// connections ignores; where it can't be written else, with a message. What can't be said on standard error is not
  /// said, and the work goes on.
  func write(_ text: String) {
    var rest = Array(text.shownPath.utf8)[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Foundation.write(rawValue, $0.baseAddress, $0.count) }
      guard written < 0 else {
        rest = rest.dropFirst(written)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // Another process has set the terminal or pipe so.
        var waited = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        poll(&waited, 1, -1)
      default: return fail(errno)
      }
    }
  }

  private func fail(_ code: Int32) {
    guard self == .output else { return }
    if code == EPIPE { _exit(128 + SIGPIPE) }
    ToolExit.say("Standard output can't be written: \(String(cString: strerror(code))).")
    _exit(ToolExit.inputOutput.rawValue)
  }

  /// Opens those that the process was started without, so that no file or connection gets their number, and with it
  /// what is meant for them.
  static func openMissing() {
    for number in 0...StandardStream.error.rawValue where fcntl(number, F_GETFD) < 0 {
      _ = Foundation.open("/dev/null", O_RDWR)
    }
  }
}
#endif
