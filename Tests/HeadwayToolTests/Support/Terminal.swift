#if SQLite && os(Linux)
import Foundation
import Testing

/// A pseudo-terminal, and its visible content.
struct Terminal {
  /// The end that the tool uses.
  let toolEnd: FileHandle
  private let ourEnd: Int32

  // TIOCSPTLCK and TIOCGPTN, which are macros.
  private static let setLock: UInt = 0x4004_5431
  private static let getNumber: UInt = 0x8004_5430

  init(columns: Int, rows: Int) throws {
    // The work of `posix_openpt` and the related functions on Linux; Swift's Glibc module does not have them.
    ourEnd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(ourEnd >= 0)
    var isLocked: CInt = 0
    try #require(ioctl(ourEnd, Self.setLock, &isLocked) == 0)
    var number: CInt = 0
    try #require(ioctl(ourEnd, Self.getNumber, &number) == 0)
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    try #require(ioctl(ourEnd, UInt(TIOCSWINSZ), &size) == 0)
    let descriptor = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(descriptor >= 0)
    toolEnd = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
  }

  /// Reads until the tool has ended, on its own thread, and closes the terminal.
  func readToEnd() async -> String {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        // Once no process has the other end, reading fails.
        while case let count = read(ourEnd, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        close(ourEnd)
        continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
      }
    }
  }

  /// The visible content of the terminal after `text`, for the controls that the tool uses: line endings, "up" and
  /// "clear from here".
  ///
  /// - Returns: The lines; nil if there is an unsupported control.
  static func screen(after text: String) -> [String]? {
    var lines = [""]
    var row = 0
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\n":
        row += 1
        if row == lines.count { lines.append("") }
      case "\r": break
      case "\u{1B}":
        guard rest.popFirst() == "[" else { return nil }
        var number = ""
        while let digit = rest.first, ("0"..."9").contains(digit) { number.unicodeScalars.append(rest.removeFirst()) }
        switch rest.popFirst() {
        case "A": row = max(0, row - (Int(number) ?? 1))
        case "J":
          lines.removeSubrange((row + 1)...)
          lines[row] = ""
        default: return nil
        }
      default: lines[row].unicodeScalars.append(scalar)
      }
    }
    return lines
  }
}
#endif
