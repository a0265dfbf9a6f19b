#if SQLite
import ArgumentParser

/// How the tool shows progress.
enum ProgressStyle: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// One bar per table and one for all, redrawn in place on a terminal.
  case bars
  /// A line for every tenth of a table.
  case plain
  /// One JSON object per line, for programs.
  case json
  /// Only errors.
  case none

  /// The help text of the option.
  static let help = ArgumentHelp(
    """
    How to show progress: bars, plain (a line every 10%), json (an object per line) or none. By default, bars on a \
    terminal, and plain elsewhere.
    """, valueName: "style")
}
#endif
