#if SQLite
import Foundation
import HeadwayFiles

/// Standard output and standard error, where text is visible immediately after it is written.
///
/// `FileHandle.write(_:)` traps if a stream can't be written, for example before `| head` or on a full disk.
enum StandardStream: Int32, Sendable {
  case output = 1
  case error = 2

  /// Writes a text and a line ending.
  ///
  /// The text might contain file names, so characters that control a terminal are replaced.
  func writeLine(_ text: String) { write("\(text.replacingControls(except: "\n\t".unicodeScalars))\n") }

  /// Writes a text.
  ///
  /// Bytes of paths that are not UTF-8 are shown as `\xE9`.
  ///
  /// If no program reads standard output any longer, the process ends as with SIGPIPE, which the networking library
  /// ignores. If standard output can't be written for another reason, the process ends with a message. If standard
  /// error can't be written, the text is dropped, and work continues.
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
        // Another process has set the terminal or pipe to nonblocking mode.
        var waited = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        poll(&waited, 1, -1)
      default: return fail(errno)
      }
    }
  }

  private func fail(_ code: Int32) {
    guard self == .output else { return }
    if code == EPIPE {
      PrivateFolder.removeAll()
      _exit(128 + SIGPIPE)
    }
    ToolExit.say("Standard output can't be written: \(String(cString: strerror(code))).")
    PrivateFolder.removeAll()
    _exit(ToolExit.inputOutput.rawValue)
  }

  /// Opens the standard streams that the process was started without.
  ///
  /// Otherwise a file or connection would get the number of a stream, and receive the text that is meant for that
  /// stream.
  static func openMissing() {
    for number in 0...StandardStream.error.rawValue where fcntl(number, F_GETFD) < 0 {
      _ = Foundation.open("/dev/null", O_RDWR)
    }
  }
}
#endif
