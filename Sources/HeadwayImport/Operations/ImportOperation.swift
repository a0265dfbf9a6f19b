#if SQLite
import GRDB
public import Headway
import HeadwayCSV
import HeadwayLines
import Synchronization

/// Imports one CSV file into one table, in the background, in batches, while readers see the rows arrive.
///
/// ```swift
/// let database = try ImportDatabase(path: "vbb.sqlite")
/// let operation = ImportOperation(file: "stops.txt", into: database)
/// let watch = operation.progress.observe { print($0.fractionCompleted) }
/// queue.addOperation(operation)
/// ```
///
/// The operation's thread parses; the batches are written, one at a time for all operations of the same database, by
/// the database's own connection, while the parsing goes on.
///
/// - **Importing again** updates rows in place by their key. In a table without a key, row *n* of the table is record
///   *n* of the file, and rows beyond the end of the file are removed; but only if this very file, by its path, has
///   written all rows of the table: else the import fails, and nothing is lost. So an import that was killed or
///   cancelled can be run again, and ends in the same content. ``ImportOptions/existingRows`` says what else becomes
///   of rows that are there.
/// - **The history** of the imports is the table `grdb_headway_imports` of the database. GRDB's migrator ignores
///   tables whose names begin with `grdb_` when it compares schemas.
/// - **A table that no import has created** keeps its columns: a column of the file that it lacks is an error
///   (``ImportOptions/addsColumns``). Its triggers can refuse rows, ignore them, and add others.
/// - **Cancelling** leaves exactly the batches committed so far. The batch being written is taken back.
/// - **Rows with which something is wrong** go to the rejects, and are counted in ``report``.
/// - **Progress** counts bytes of the file; observers of `progress` are notified at most 100 times.
///
/// The operation fails with an ``ImportError``.
public final class ImportOperation: Headway.Operation, @unchecked Sendable {
  /// The file that is read.
  public let file: String
  /// The table, as far as it was described.
  public let table: TableSchema
  /// How the file is imported.
  public let options: ImportOptions

  let database: ImportDatabase
  /// By what the imports of one run are known.
  let run: String?
  /// How the import is noted, if an earlier run of the same imports has brought it to its end.
  let finishedEntry: Int64?
  /// What it shares with the imports of other files into the table.
  let group: FileGroup?
  private let rejects: (any RejectedRowReceiver)?
  private let state: Mutex<State>

  // Protected by its lock.
  private struct State {
    var report: TableReport
    var conversions = TextConversions()
    var startedAt: ContinuousClock.Instant?
    /// Told of each batch that was committed, after it was.
    var observer: (@Sendable (TableReport) -> Void)?
    /// Told when the import fails.
    var failureHandler: (@Sendable (any Error) -> Void)?
  }

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - table: What is known of the table. Columns of the file that are not described are taken along as text. By
  ///     default the table is that of the GTFS reference if the file is called like one of its files, and else has
  ///     the file's name without its ending, and no key.
  ///   - database: The database.
  ///   - options: How the file is imported.
  ///   - rejects: Where rows go with which something is wrong; nil to count them only.
  public convenience init(
    file: String, table: TableSchema? = nil, into database: ImportDatabase, options: ImportOptions = ImportOptions(),
    rejects: RejectsFile? = nil
  ) {
    self.init(
      readingFrom: file, into: table ?? TableSchema(forFile: file), of: database, options: options, rejects: rejects)
  }

  /// Creates an operation whose rejects go elsewhere than into a file.
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

  /// What the import has done so far.
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
  /// One observer at a time. While there is one, each batch is committed by itself; else batches that wait for the
  /// database are committed together.
  ///
  /// - Parameter observer: What to call with the report so far; nil to call nothing.
  public func onCommit(_ observer: (@Sendable (TableReport) -> Void)?) {
    let old = state.withLock { state in
      let old = state.observer
      state.observer = observer
      return old
    }
    _ = old
  }

  /// Whether an earlier run of the same imports has brought this one to its end: it adds only the records that the file
  /// has got since.
  package var wasFinished: Bool { finishedEntry != nil }

  /// Whether somebody is called at each commit.
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
      // SQLite gives up what takes long when the operation is cancelled; that is not a failure.
      if isCancelled, error.isInterruption { return }
      failureHandler?(error)
      throw error
    }
  }

  private func end(isComplete: Bool) {
    // What observes is let go of, after the lock is released: it may well keep this operation.
    let (report, observers) = state.withLock { state in
      if let start = state.startedAt { state.report.duration = .now - start }
      state.startedAt = nil
      state.report.isComplete = isComplete
      // The last line end came after the last batch.
      if isComplete, let size = state.report.size { state.report.bytes = size }
      let observers = (state.observer, state.failureHandler)
      (state.observer, state.failureHandler) = (nil, nil)
      return (state.report, observers)
    }
    withExtendedLifetime(observers) {}
    guard isComplete else { return }
    // Of a pipe the size was not known.
    let size = Int64(max(1, report.bytes))
    progress.totalUnitCount = size
    progress.completedUnitCount = size
  }

  /// Called after rows that replaced others have been refused by triggers then.
  func refused(_ rows: [RejectedRow]) throws {
    state.withLock { $0.conversions.remove(lines: Set(rows.map(\.line))) }
    try committed(rows: -rows.count, rejects: rows, endOffsets: [])
  }

  // MARK: What the import tells

  func opened(_ source: RecordSource, _ form: FileForm) {
    state.withLock { ($0.report.size, $0.report.form) = (source.size, form) }
    progress.totalUnitCount = Int64(source.size ?? 0)
  }

  /// Called at the end with what has changed of a table that existed.
  func noteChanges(_ changes: [String]) { state.withLock { $0.report.schemaChanges = changes } }

  /// Called at the end.
  func noteEnd(_ target: TargetTable) {
    let (replaced, removed, refused) = (target.replaced, target.removed, target.refusedBefore)
    state.withLock { state in
      (state.report.replaced, state.report.removed) = (replaced, removed)
      // They were refused by the import that this one has completed, and are not in the table.
      state.report.rows -= refused
      state.report.rejected += refused
    }
  }

  /// Called at the end.
  func noteUnchecked(_ references: [String]) { state.withLock { $0.report.uncheckedReferences = references } }

  /// Adds something that should be known about the whole.
  func note(_ text: String) { state.withLock { $0.report.notes.append(text) } }

  /// Called if rows that were to replace others are gone with the import.
  func takeBackRows() {
    state.withLock { ($0.report.rows, $0.report.bytes, $0.conversions) = (0, 0, TextConversions()) }
  }

  /// Called at the end with the columns whose numbers have different numbers of decimals.
  func noteConversions(_ plan: TablePlan, uneven: Set<Int>) {
    state.withLock { $0.conversions.end(plan, uneven: uneven) }
  }

  /// Called after batches have been committed.
  ///
  /// - Parameters:
  ///   - rows: How many rows they have.
  ///   - rejectedRows: What is wrong with rows of theirs.
  ///   - endOffsets: The places in the file up to which the batches bring the import, one after the other.
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
  /// Whether SQLite was told to give up.
  fileprivate var isInterruption: Bool {
    (((self as? ImportError)?.underlying ?? self) as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT
  }
}
#endif
