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
  }
#endif
