#if SQLite
  #if canImport(Darwin)
    import Darwin
  #else
    import Glibc
  #endif

  /// How much fits on the terminal of standard error.
  struct TerminalSize {
    var columns = 80
    var rows = 24

    static var current: TerminalSize {
      var window = winsize()
      guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 else { return TerminalSize() }
      return TerminalSize(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }
  }
#endif
