#if SQLite
import GRDB
import Synchronization

/// The shared state of the imports of several files into one table, which together are one import.
///
/// A row whose key occurs in an earlier file is rejected, as a duplicate within one file is. Rows that replace existing
/// rows wait in a temporary table for all files. They replace the existing rows in one transaction after the last file
/// has been read.
///
/// The imports run one after the other. If one of them fails or is cancelled, no rows are replaced, and the
/// preparations for the rows are undone.
final class FileGroup: Sendable {
  /// The keys of the files read so far.
  struct Keys {
    /// The keys as the files write them.
    var encoded = KeySet()
    /// The keys as the table stores them.
    var stored = KeySet()
  }

  private enum Outcome { case open, committed, abandoned }

  /// Protected by the lock of ``state``.
  private struct State {
    var keys = Keys()
    /// The files whose rows wait.
    var staged: [StagedFile] = []
    /// Whether one of the imports is running.
    var isRunning = false
    var outcome = Outcome.open

    /// Removes and returns the files whose preparations must be undone.
    mutating func takeAbandoned() -> [StagedFile] {
      guard outcome == .abandoned, !isRunning else { return [] }
      defer { staged = [] }
      return staged
    }
  }

  /// Whether the rows from the files replace the existing rows in the table.
  let replaces: Bool
  /// Whether the existing rows are rows of the same files.
  let replacesOwn: Bool
  private let count: Int
  private let database: ImportDatabase
  private let state = Mutex(State())

  /// - Parameters:
  ///   - count: The number of files.
  ///   - replaces: Whether the rows from the files replace the existing rows in the table.
  ///   - replacesOwn: Whether the existing rows are rows of the same files.
  ///   - database: The database that contains the table.
  init(count: Int, replaces: Bool, replacesOwn: Bool = false, of database: ImportDatabase) {
    (self.count, self.replaces, self.replacesOwn, self.database) = (count, replaces, replacesOwn, database)
  }

  /// The files whose rows wait.
  var staged: [StagedFile] { state.withLock { $0.staged } }

  /// The types that earlier files have shown for columns, by the column's name in lower case.
  var inferredTypes: [String: ColumnType] { staged.reduce(into: [:]) { $0.merge($1.inferredTypes) { $1 } } }

  /// Whether the waiting rows will never replace the existing rows.
  var isAbandoned: Bool { state.withLock { $0.outcome == .abandoned } }

  // MARK: An import

  /// Begins an import of the group.
  ///
  /// - Returns: False if the import has nothing to do, because an earlier import has failed.
  func begin() -> Bool {
    state.withLock { state in
      guard state.outcome != .abandoned else { return false }
      state.isRunning = true
      return true
    }
  }

  /// The keys of earlier files, for the import that runs.
  func takeKeys() -> Keys {
    state.withLock { state in
      defer { state.keys = Keys() }
      return state.keys
    }
  }

  /// Keeps the keys for the next import.
  func keep(_ keys: Keys) { state.withLock { $0.keys = keys } }

  /// Adds a file whose rows wait.
  ///
  /// - Returns: All files, if this is the last file; nil if other files follow.
  func stage(_ file: StagedFile) -> [StagedFile]? {
    state.withLock { state in
      guard state.staged.count + 1 < count else { return state.staged + [file] }
      state.staged.append(file)
      return nil
    }
  }

  /// Records that the rows from all files have replaced the existing rows.
  func commit() {
    // Released after the lock, not under it.
    let files = state.withLock { state in
      defer { state.staged = [] }
      state.outcome = .committed
      return state.staged
    }
    withExtendedLifetime(files) {}
  }

  /// Ends an import of the group.
  ///
  /// - Parameter isComplete: Whether the import has completed.
  func end(isComplete: Bool) {
    let files = state.withLock { state in
      state.isRunning = false
      if !isComplete, replaces, state.outcome == .open { state.outcome = .abandoned }
      return state.takeAbandoned()
    }
    guard !files.isEmpty else { return }
    try? database.writeAndWait("discard rows") { Self.undo(files, $0) }
  }

  /// Called when an import of the group is cancelled, even if the import never begins.
  func abandon() {
    guard replaces else { return }
    let files = state.withLock { state in
      if state.outcome == .open { state.outcome = .abandoned }
      return state.takeAbandoned()
    }
    // Doesn't wait, because this runs on the thread that cancels.
    if !files.isEmpty { _ = database.write("discard rows") { Self.undo(files, $0) } }
  }

  private static func undo(_ files: [StagedFile], _ connection: Database) {
    for file in files.reversed() {
      file.preparation.dropStage(connection)
      _ = try? file.preparation.undo(file.plan, connection)
    }
  }
}

/// A file whose rows wait in a temporary table until they replace the existing rows.
struct StagedFile: Sendable {
  let operation: ImportOperation
  let plan: TablePlan
  let preparation: TargetTablePreparation
  let history: ImportHistory
  let size: Int?
  /// The file's column names.
  let columns: [String]
  /// In a table without a key, the number of the last row that waits.
  let lastRow: Int
  /// The types of columns that were narrower when the import began, by position.
  let widenings: [Int: ColumnType]
  /// The number of rows written.
  let rows: Int
  /// Whether the file has rows and all of them were rejected.
  let takesNone: Bool

  /// The types of the columns whose types were found, by the column's name in lower case.
  var inferredTypes: [String: ColumnType] {
    let found = plan.columns.indices.filter { plan.columns[$0].isInferred }
    return Dictionary(
      found.map { (plan.columns[$0].name.lowercasedAsName, widenings[$0] ?? plan.columns[$0].type) }
    ) { $1 }
  }
}
#endif
