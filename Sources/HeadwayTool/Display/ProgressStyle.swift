#if SQLite
import ArgumentParser

/// How the tool shows progress.
enum ProgressStyle: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// A bar a table and one for all, redrawn in place on a terminal.
  case bars
  /// A line every tenth of a table.
  case plain
  /// One JSON object a line, for programs.
  case json
  /// Nothing but errors.
  case none

  /// What the option says of itself.
  static let help = ArgumentHelp(
    """
    How to show progress: bars, plain (a line every 10 %), json (an object per line) or none. If not given, bars on \
    a terminal, and plain elsewhere.
    """, valueName: "style")
}
#endif
