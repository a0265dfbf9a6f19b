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
///   its path, has written all rows in the table; otherwise the import fails, and nothing is lost. You can therefore
///   run an import again after it was killed or cancelled, and get the same content.
///   ``ImportOptions/existingRowPolicy`` has the other ways to treat existing rows.
/// - **The history** of the imports is the table `grdb_headway_imports` of the database. GRDB's migrator ignores tables
///   whose names begin with `grdb_` when it compares schemas.
/// - **A table that no import has created** keeps its columns: the import fails if the table lacks a column of the file
///   (``ImportOptions/addsColumns``). Its triggers can reject rows, ignore them, and add others.
/// - **Cancelling** leaves exactly the batches committed so far. The batch being written is rolled back.
/// - **Rows that have problems** go to a ``RejectedRowsFile`` and are counted in ``report``.
/// - **Progress** counts bytes of the file. Observers of `progress` are notified at most 100 times.
///
/// The operation fails with an ``ImportError``.
public final class ImportOperation: Headway.Operation, ValueOperation, @unchecked Sendable {
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
  private let issueHandler: (any RowIssueHandler)?
  private let state: Mutex<State>

  // Protected by its lock.
  private struct State {
    var report: TableReport
    var conversions = TextConversions()
    var tablesReplacedTogether: Set<String> = []
    var startedAt: ContinuousClock.Instant?
    /// Called after each batch has been committed.
    var commitHandler: (@Sendable (TableReport) -> Void)?
    /// Called when the import fails.
    var failureHandler: (@Sendable (any Error) -> Void)?
  }

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - table: The description of the table. Columns of the file that are not described are imported as text. By
  ///     default, a file with a name from the GTFS reference gets the table that the reference describes. Any other
  ///     file gets a table that has the file's name without its extension, and no key.
  ///   - database: The database to import into.
  ///   - options: How the file is imported.
  ///   - rejectedRows: The file for rows that have problems; nil to only count them.
  public convenience init(
    file: String, table: TableSchema? = nil, into database: ImportDatabase, options: ImportOptions = ImportOptions(),
    rejectedRows: RejectedRowsFile? = nil
  ) {
    self.init(
      readingFrom: file, into: table ?? TableSchema(forFile: file), of: database, options: options,
      issueHandler: rejectedRows)
  }

  /// Creates an operation with any handler of rows that have problems.
  init(
    readingFrom file: String, into table: TableSchema, of database: ImportDatabase, options: ImportOptions,
    issueHandler: (any RowIssueHandler)?, run: String? = nil, finishedEntry: Int64? = nil,
    group: FileGroup? = nil
  ) {
    (self.run, self.finishedEntry, self.group) = (run, finishedEntry, group)
    self.file = file
    self.table = table
    self.database = database
    self.options = options
    self.issueHandler = issueHandler
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
        (report.rowCount, report.committedByteCount, report.isComplete) = (0, 0, false)
        report.convertedColumns = []
      }
      return report
    }
  }

  /// The results of the import, for a task that waits for it.
  ///
  /// If the waiting task is cancelled, the wait ends and the operation continues.
  ///
  /// - Throws: The error of the operation; `CancellationError` if the operation or the waiting task is cancelled. The
  ///   ``report`` of an operation that failed contains the rows that it has committed.
  public var value: TableReport {
    get async throws {
      try await untilSucceeded()
      return report
    }
  }

  /// The handler that is called with the report so far after each committed batch, on the thread that wrote it.
  ///
  /// While there is a handler, each batch is committed separately; otherwise batches that wait for the database are
  /// committed together. The handler is released when the import ends.
  public var commitHandler: (@Sendable (TableReport) -> Void)? {
    get { state.withLock { $0.commitHandler } }
    set {
      // The old handler is released after the lock, because it might own this operation.
      let old = state.withLock { state in
        let old = state.commitHandler
        state.commitHandler = newValue
        return old
      }
      withExtendedLifetime(old) {}
    }
  }

  /// Whether an earlier run of the same imports has completed this import.
  ///
  /// In that case it adds only the records that the file has gained since then.
  package var wasFinished: Bool { finishedEntry != nil }

  /// The other tables, in lower case, whose rows are replaced by imports of the same run.
  var tablesReplacedTogether: Set<String> {
    get { state.withLock { $0.tablesReplacedTogether } }
    set { state.withLock { $0.tablesReplacedTogether = newValue } }
  }

  /// Whether a handler is called after each commit.
  var isWatched: Bool { commitHandler != nil }

  /// The handler that is called when the import fails, before the operation finishes.
  var failureHandler: (@Sendable (any Error) -> Void)? {
    get { state.withLock { $0.failureHandler } }
    set { state.withLock { $0.failureHandler = newValue } }
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
      // When the operation is cancelled, SQLite interrupts long statements, and a wait for bytes ends. That is not a
      // failure.
      if isCancelled, error.isInterruption { return }
      failureHandler?(error)
      throw error
    }
  }

  private func end(isComplete: Bool) {
    // The handlers are released after the lock, because they might own this operation.
    let (report, handlers) = state.withLock { state in
      if let start = state.startedAt { state.report.duration = .now - start }
      state.startedAt = nil
      state.report.isComplete = isComplete
      // The last batch does not include the end of the last line.
      if isComplete, let size = state.report.fileSize { state.report.committedByteCount = size }
      let handlers = (state.commitHandler, state.failureHandler)
      (state.commitHandler, state.failureHandler) = (nil, nil)
      return (state.report, handlers)
    }
    withExtendedLifetime(handlers) {}
    guard isComplete else { return }
    // The size of a pipe was not known until now.
    let size = Int64(max(1, report.committedByteCount))
    progress.totalUnitCount = size
    progress.completedUnitCount = size
  }

  /// Called after triggers have rejected rows that would have replaced existing rows.
  func refused(_ rows: [RowIssue]) throws {
    state.withLock { $0.conversions.remove(lines: Set(rows.map(\.lineNumber))) }
    try committed(rows: -rows.count, issues: rows, endOffsets: [])
  }

  // MARK: Progress of the import

  func opened(_ source: RecordSource, _ layout: CSVLayout) {
    state.withLock { ($0.report.fileSize, $0.report.layout) = (source.size, layout) }
    progress.totalUnitCount = Int64(source.size ?? 0)
  }

  /// Called with sentences about records that might be rows but are not imported as rows.
  func noteHeader(_ notes: [String]) { state.withLock { $0.report.headerNotes = notes } }

  /// Called at the end with the changes to a table that existed.
  func noteChanges(_ changes: [String]) { state.withLock { $0.report.schemaChanges = changes } }

  /// Called at the end.
  func noteEnd(_ target: TargetTable) {
    let (replaced, removed, refused) = (target.replaced, target.removed, target.refusedBefore)
    state.withLock { state in
      (state.report.replacedRowCount, state.report.removedRowCount) = (replaced, removed)
      // These rows were rejected in the import that this one has completed and are not in the table.
      state.report.rowCount -= refused
      state.report.rejectedRowCount += refused
    }
  }

  /// Called at the end.
  func noteUnchecked(_ references: [String]) { state.withLock { $0.report.uncheckedReferences = references } }

  /// Adds a note about the whole import.
  func note(_ text: String) { state.withLock { $0.report.notes.append(text) } }

  /// Called if the waiting rows are discarded with the import, instead of replacing the existing rows.
  func takeBackRows() {
    state.withLock { ($0.report.rowCount, $0.report.committedByteCount, $0.conversions) = (0, 0, TextConversions()) }
  }

  /// Called at the end with the columns whose numbers have different numbers of decimal places.
  func noteConversions(_ plan: TablePlan, uneven: Set<Int>) {
    state.withLock { $0.conversions.end(plan, uneven: uneven) }
  }

  /// Called after batches have been committed.
  ///
  /// - Parameters:
  ///   - rows: The number of rows in the batches.
  ///   - issues: The issues of the rows in the batches.
  ///   - endOffsets: The offset in the file where each batch ends, in order.
  ///   - conversions: The values whose text the table has not kept.
  /// - Throws: ``ImportError`` if the file of rejected rows can't be written.
  func committed(
    rows: Int, issues: [RowIssue], endOffsets: [Int], conversions: TextConversions = TextConversions()
  ) throws {
    let commitHandler = state.withLock { state in
      state.conversions.merge(conversions)
      state.report.rowCount += rows
      state.report.rejectedRowCount += issues.count { $0.status == .rejected }
      state.report.ignoredRowCount += issues.count { $0.status == .ignored }
      state.report.flaggedRowCount += issues.count { $0.status == .importedWithIssue }
      state.report.skippedRecordCount += issues.count { $0.status == .skipped }
      state.report.committedByteCount = max(state.report.committedByteCount, endOffsets.last ?? 0)
      return state.commitHandler
    }
    try write(issues)
    for offset in endOffsets { progress.completedUnitCount = Int64(offset) }
    commitHandler?(report)
  }

  private func write(_ issues: [RowIssue]) throws {
    let issues = issues.filter { $0.status != .ignored }
    guard !issues.isEmpty, let issueHandler else { return }
    try issueHandler.append(issues)
    let path = issueHandler.rejectedRowsPath
    state.withLock { $0.report.rejectedRowsPath = path }
  }
}

extension Error {
  /// Whether SQLite or reading the file was interrupted.
  var isInterruption: Bool {
    let cause = (self as? ImportError)?.underlyingError ?? self
    return cause is CancellationError || (cause as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT
  }
}
#endif
