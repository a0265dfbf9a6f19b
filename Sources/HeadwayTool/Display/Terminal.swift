#if SQLite
import Foundation

/// The terminal of standard error: its size, and the characters that it can show.
struct Terminal {
  var columns = 80
  var rows = 24
  /// Whether the terminal shows non-ASCII characters.
  let isUnicode: Bool

  /// Whether standard error is a terminal that can redraw lines.
  static var canRedraw: Bool {
    isatty(STDERR_FILENO) != 0 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// The terminal as it is now.
  static var current: Terminal {
    var terminal = Terminal(isUnicode: isUnicodeLocale)
    var window = winsize()
    if ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 {
      terminal.columns = Int(window.ws_col)
      if window.ws_row > 0 { terminal.rows = Int(window.ws_row) }
    }
    return terminal
  }

  /// The number of columns of standard output, or the value of the variable `COLUMNS`.
  ///
  /// Otherwise 80.
  static var outputColumns: Int {
    var window = winsize()
    if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 { return Int(window.ws_col) }
    let said = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? 0
    return said > 0 ? said : 80
  }

  /// According to the locale variables, in their order of precedence.
  ///
  /// A Mac without them shows UTF-8.
  private static let isUnicodeLocale: Bool = {
    let environment = ProcessInfo.processInfo.environment
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    #if canImport(Darwin)
    guard let locale else { return true }
    #else
    guard let locale else { return false }
    #endif
    return locale.uppercased().replacing("-", with: "").contains("UTF8")
  }()
}
#endif
