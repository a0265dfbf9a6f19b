#if SQLite
import GRDB
public import Headway
import HeadwayCSV
import HeadwayLines
import Synchronization

/// Imports one CSV file into one table, in the background and in batches, while readers see the rows arrive.
///
/// ```swift
/// let database = try ImportDatabase(path: "vbb.sqlite")
/// let operation = ImportOperation(file: "stops.txt", into: database)
/// let watch = operation.progress.onChange { print($0.fractionCompleted) }
/// queue.addOperation(operation)
/// ```
///
/// The operation's thread parses. In parallel, the database's own connection writes the batches, one at a time for all
/// operations of the same database.
///
/// - **Importing again** updates rows in place by their key. In a table without a key, row *n* of the table is record
///   *n* of the file, and rows beyond the end of the file are removed. This requires that the same file, identified by
///   its path, has written all rows of the table; otherwise the import fails, and nothing is lost. You can therefore
///   run an import again after it was killed or cancelled, and get the same content. ``ImportOptions/existingRows`` has
///   the other ways to treat existing rows.
/// - **The history** of the imports is the table `grdb_headway_imports` of the database. GRDB's migrator ignores tables
///   whose names begin with `grdb_` when it compares schemas.
/// - **A table that no import has created** keeps its columns: a column of the file that it lacks is an error
///   (``ImportOptions/addsColumns``). Its triggers can refuse rows, ignore them, and add others.
/// - **Cancelling** leaves exactly the batches committed so far. The batch being written is rolled back.
/// - **Rows that have problems** go to the rejects, and are counted in ``report``.
/// - **Progress** counts bytes of the file. Observers of `progress` are notified at most 100 times.
///
/// The operation fails with an ``ImportError``.
public final class ImportOperation: Headway.Operation, @unchecked Sendable {
  /// The path of the file.
  public let file: String
  /// The table, as far as you described it.
  public let table: TableSchema
  /// How the file is imported.
  public let options: ImportOptions

  let database: ImportDatabase
  /// Identifies the imports of one run.
  let run: String?
  /// The history entry of the import, if an earlier run of the same imports has completed it.
  let finishedEntry: Int64?
  /// The state shared with the imports of other files into the table.
  let group: FileGroup?
  private let rejects: (any RejectedRowReceiver)?
  private let state: Mutex<State>

  // Protected by its lock.
  private struct State {
    var report: TableReport
    var conversions = TextConversions()
    var startedAt: ContinuousClock.Instant?
    /// Called after each batch has been committed.
    var observer: (@Sendable (TableReport) -> Void)?
    /// Called when the import fails.
    var failureHandler: (@Sendable (any Error) -> Void)?
  }

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - table: The description of the table. Columns of the file that are not described are imported as text. By
  ///     default, the table is that of the GTFS reference if the file has the name of one of its files. Otherwise it
  ///     has the file's name without its extension, and no key.
  ///   - database: The database.
  ///   - options: How the file is imported.
  ///   - rejects: The file for rows that have problems; nil to only count them.
  public convenience init(
    file: String, table: TableSchema? = nil, into database: ImportDatabase, options: ImportOptions = ImportOptions(),
    rejects: RejectsFile? = nil
  ) {
    self.init(
      readingFrom: file, into: table ?? TableSchema(forFile: file), of: database, options: options, rejects: rejects)
  }

  /// Creates an operation with any receiver of rejects.
  init(
    readingFrom file: String, into table: TableSchema, of database: ImportDatabase, options: ImportOptions,
    rejects: (any RejectedRowReceiver)?, run: String? = nil, finishedEntry: Int64? = nil,
    group: FileGroup? = nil
  ) {
    (self.run, self.finishedEntry, self.group) = (run, finishedEntry, group)
    self.file = file
    self.table = table
    self.database = database
    self.options = options
    self.rejects = rejects
    state = Mutex(State(report: TableReport(table: table.name, file: file)))
    super.init()
    name = "import \(table.name)"
    if let group { onCancel { group.abandon() } }
  }

  /// The results of the import so far.
  public var report: TableReport {
    state.withLock { state in
      var report = state.report
      if !state.conversions.isEmpty { report.convertedColumns = state.conversions.columns }
      if let start = state.startedAt { report.duration = .now - start }
      if group?.isAbandoned == true {
        (report.rows, report.bytes, report.isComplete) = (0, 0, false)
        report.convertedColumns = []
      }
      return report
    }
  }

  /// Calls `observer` after each committed batch, on the thread that wrote it.
  ///
  /// There is at most one observer: a new one replaces the old one. While there is an observer, each batch is committed
  /// separately; otherwise batches that wait for the database are committed together.
  ///
  /// - Parameter observer: The block to call with the report so far; nil to call nothing.
  public func onCommit(_ observer: (@Sendable (TableReport) -> Void)?) {
    let old = state.withLock { state in
      let old = state.observer
      state.observer = observer
      return old
    }
    _ = old
  }

  /// Whether an earlier run of the same imports has completed this one.
  ///
  /// In that case it adds only the records that the file has gained since then.
  package var wasFinished: Bool { finishedEntry != nil }

  /// Whether an observer is called at each commit.
  var isWatched: Bool { state.withLock { $0.observer != nil } }

  /// Calls `handler` when the import fails, before the operation finishes.
  func onFailure(_ handler: @escaping @Sendable (any Error) -> Void) {
    state.withLock { $0.failureHandler = handler }
  }

  /// Runs the import.
  ///
  /// - Throws: ``ImportError``.
  public override func main() throws {
    state.withLock { $0.startedAt = .now }
    do {
      try TableImport(self).run()
      end(isComplete: !isCancelled)
    } catch {
      let failureHandler = state.withLock { $0.failureHandler }
      end(isComplete: false)
      // When the operation is cancelled, SQLite interrupts long statements. That is not a failure.
      if isCancelled, error.isInterruption { return }
      failureHandler?(error)
      throw error
    }
  }

  private func end(isComplete: Bool) {
    // The handlers are released after the lock, because they might own this operation.
    let (report, observers) = state.withLock { state in
      if let start = state.startedAt { state.report.duration = .now - start }
      state.startedAt = nil
      state.report.isComplete = isComplete
      // The last batch does not include the end of the last line.
      if isComplete, let size = state.report.size { state.report.bytes = size }
      let observers = (state.observer, state.failureHandler)
      (state.observer, state.failureHandler) = (nil, nil)
      return (state.report, observers)
    }
    withExtendedLifetime(observers) {}
    guard isComplete else { return }
    // The size of a pipe was not known until now.
    let size = Int64(max(1, report.bytes))
    progress.totalUnitCount = size
    progress.completedUnitCount = size
  }

  /// Called after triggers have refused rows while they replaced others.
  func refused(_ rows: [RejectedRow]) throws {
    state.withLock { $0.conversions.remove(lines: Set(rows.map(\.line))) }
    try committed(rows: -rows.count, rejects: rows, endOffsets: [])
  }

  // MARK: Progress of the import

  func opened(_ source: RecordSource, _ form: FileForm) {
    state.withLock { ($0.report.size, $0.report.form) = (source.size, form) }
    progress.totalUnitCount = Int64(source.size ?? 0)
  }

  /// Called at the end with the changes to a table that existed.
  func noteChanges(_ changes: [String]) { state.withLock { $0.report.schemaChanges = changes } }

  /// Called at the end.
  func noteEnd(_ target: TargetTable) {
    let (replaced, removed, refused) = (target.replaced, target.removed, target.refusedBefore)
    state.withLock { state in
      (state.report.replaced, state.report.removed) = (replaced, removed)
      // These rows were refused in the import that this one has completed, and are not in the table.
      state.report.rows -= refused
      state.report.rejected += refused
    }
  }

  /// Called at the end.
  func noteUnchecked(_ references: [String]) { state.withLock { $0.report.uncheckedReferences = references } }

  /// Adds a note about the whole import.
  func note(_ text: String) { state.withLock { $0.report.notes.append(text) } }

  /// Called if rows that waited to replace others are discarded with the import.
  func takeBackRows() {
    state.withLock { ($0.report.rows, $0.report.bytes, $0.conversions) = (0, 0, TextConversions()) }
  }

  /// Called at the end with the columns whose numbers have different numbers of decimal places.
  func noteConversions(_ plan: TablePlan, uneven: Set<Int>) {
    state.withLock { $0.conversions.end(plan, uneven: uneven) }
  }

  /// Called after batches have been committed.
  ///
  /// - Parameters:
  ///   - rows: The number of rows in the batches.
  ///   - rejectedRows: The rejects of the batches.
  ///   - endOffsets: The offset in the file where each batch ends, in order.
  ///   - conversions: The values whose text the table has not kept.
  /// - Throws: ``ImportError`` if the rejects can't be written.
  func committed(
    rows: Int, rejects rejectedRows: [RejectedRow], endOffsets: [Int], conversions: TextConversions = TextConversions()
  ) throws {
    let observer = state.withLock { state in
      state.conversions.merge(conversions)
      state.report.rows += rows
      state.report.rejected += rejectedRows.count { $0.status == .rejected }
      state.report.reported += rejectedRows.count { $0.status == .reported }
      state.report.skipped += rejectedRows.count { $0.status == .skipped }
      state.report.bytes = max(state.report.bytes, endOffsets.last ?? 0)
      return state.observer
    }
    try write(rejectedRows)
    for offset in endOffsets { progress.completedUnitCount = Int64(offset) }
    observer?(report)
  }

  private func write(_ rejectedRows: [RejectedRow]) throws {
    guard !rejectedRows.isEmpty, let rejects else { return }
    try rejects.append(rejectedRows)
    let path = rejects.rejectsPath
    state.withLock { $0.report.rejectsPath = path }
  }
}

extension Error {
  /// Whether SQLite was interrupted.
  fileprivate var isInterruption: Bool {
    (((self as? ImportError)?.underlying ?? self) as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT
  }
}
#endif
