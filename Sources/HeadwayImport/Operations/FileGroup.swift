#if SQLite
import GRDB
import Synchronization

/// What the imports of several files into one table share: they are one import.
///
/// A row whose key an earlier file has is rejected, as in one file. Rows that replace others wait in one temporary
/// table for all files, and take their places in one transaction when the last file has been read.
///
/// The imports run one after the other. If one of them fails or is cancelled, no row takes the place of others, and
/// what was prepared for the rows is undone.
final class FileGroup: Sendable {
  /// The keys that files have had.
  struct Keys {
    /// Those of rows, as the file has them.
    var encoded = KeySet()
    /// Those of rows, as the table has them.
    var stored = KeySet()
  }

  private enum Outcome { case open, committed, abandoned }

  /// Protected by its lock.
  private struct State {
    var keys = Keys()
    /// The files whose rows wait.
    var staged: [StagedFile] = []
    /// One of the imports runs.
    var isRunning = false
    var outcome = Outcome.open

    /// The files whose preparations are to be undone.
    mutating func takeAbandoned() -> [StagedFile] {
      guard outcome == .abandoned, !isRunning else { return [] }
      defer { staged = [] }
      return staged
    }
  }

  /// Whether the rows of the files replace those that the table has.
  let replaces: Bool
  /// Whether these are rows of the same files.
  let replacesOwn: Bool
  private let count: Int
  private let database: ImportDatabase
  private let state = Mutex(State())

  /// - Parameters:
  ///   - count: How many files there are.
  ///   - replaces: Whether their rows replace those that the table has.
  ///   - replacesOwn: Whether these are rows of the same files.
  ///   - database: The database.
  init(count: Int, replaces: Bool, replacesOwn: Bool = false, of database: ImportDatabase) {
    (self.count, self.replaces, self.replacesOwn, self.database) = (count, replaces, replacesOwn, database)
  }

  /// The files whose rows wait.
  var staged: [StagedFile] { state.withLock { $0.staged } }

  /// By the names, in lower case, of columns whose types earlier files have shown, these.
  var foundTypes: [String: ColumnType] { staged.reduce(into: [:]) { $0.merge($1.foundTypes) { $1 } } }

  /// Whether rows that were to replace others never will.
  var isAbandoned: Bool { state.withLock { $0.outcome == .abandoned } }

  // MARK: An import

  /// Begins an import of the group; false if it has nothing to do, because an earlier one has failed.
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
  /// - Returns: All files, if it is the last; nil if others come.
  func stage(_ file: StagedFile) -> [StagedFile]? {
    state.withLock { state in
      guard state.staged.count + 1 < count else { return state.staged + [file] }
      state.staged.append(file)
      return nil
    }
  }

  /// Notes that the rows of all files are in their places.
  func commit() {
    // Released after the lock.
    let files = state.withLock { state in
      defer { state.staged = [] }
      state.outcome = .committed
      return state.staged
    }
    withExtendedLifetime(files) {}
  }

  /// Ends an import of the group.
  ///
  /// - Parameter isComplete: Whether it has come to its end.
  func end(isComplete: Bool) {
    let files = state.withLock { state in
      state.isRunning = false
      if !isComplete, replaces, state.outcome == .open { state.outcome = .abandoned }
      return state.takeAbandoned()
    }
    guard !files.isEmpty else { return }
    try? database.writeAndWait { Self.undo(files, $0) }
  }

  /// Called when an import of the group is cancelled, which perhaps never begins.
  func abandon() {
    guard replaces else { return }
    let files = state.withLock { state in
      if state.outcome == .open { state.outcome = .abandoned }
      return state.takeAbandoned()
    }
    // Not waited for: this is the thread that cancels.
    if !files.isEmpty { _ = database.write { Self.undo(files, $0) } }
  }

  private static func undo(_ files: [StagedFile], _ connection: Database) {
    for file in files.reversed() {
      file.preparation.dropStage(connection)
      _ = try? file.preparation.undo(file.plan, connection)
    }
  }
}

/// A file whose rows wait in a temporary table until they replace others.
struct StagedFile: Sendable {
  let operation: ImportOperation
  let plan: TablePlan
  let preparation: TargetTablePreparation
  let history: ImportHistory
  let size: Int?
  /// The names of the file's columns.
  let columns: [String]
  /// The number of the last row that waits, in a table without a key.
  let lastRow: Int
  /// By position, the types that columns have got, which were narrower when the import began.
  let widenings: [Int: ColumnType]
  /// How many rows were written.
  let rows: Int
  /// Whether the file has rows, and the table cannot have a single one.
  let takesNone: Bool

  /// By the names, in lower case, of columns whose types were found, these.
  var foundTypes: [String: ColumnType] {
    let found = plan.columns.indices.filter { plan.columns[$0].isFound }
    return Dictionary(
      found.map { (plan.columns[$0].name.lowercasedAsName, widenings[$0] ?? plan.columns[$0].type) }
    ) { $1 }
  }
}
#endif
