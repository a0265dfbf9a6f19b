#if SQLite
import Headway
import HeadwayImport
import Synchronization

/// Shows the progress of an import until it is stopped: bars and lines on standard error, JSON on standard output.
final class ImportDisplay: ProgressDisplay, @unchecked Sendable {
  private let operations: [ImportOperation]
  private let whole: OperationProgress
  private let live: LiveTable?

  // Each protected by its lock.
  private let watching = Mutex<Task<Void, Never>?>(nil)
  private let snapshot = Mutex<LiveTable.Snapshot?>(nil)

  /// - Parameters:
  ///   - style: The style of the display.
  ///   - operations: The imports, one operation per table.
  ///   - whole: The progress of all imports together.
  ///   - live: A table whose last rows are shown under the bars.
  init(_ style: ProgressStyle, _ operations: [ImportOperation], _ whole: OperationProgress, live: LiveTable?) {
    self.operations = operations
    self.whole = whole
    self.live = live
    super.init(style)
  }

  func start() {
    switch style {
    case .bars:
      startDrawing()
      startWatching()
    case .plain: startLines(every: 10, to: .error, ProgressLine.plain)
    case .json: startLines(every: 1, to: .output, JSONEvent.progress)
    case .none: break
    }
  }

  /// Ends the display after a last snapshot of the state.
  func stop() async {
    await stopDrawing()
    let watching = watching.withLock { $0.take() }
    watching?.cancel()
    await watching?.value
    guard style == .bars else { return }
    if let last = try? await live?.snapshot() { snapshot.withLock { $0 = last } }
    draw(withNotes: false)
  }

  private func startLines(
    every step: Int, to stream: StandardStream, _ line: @escaping @Sendable (TableReport, Int) -> String
  ) {
    for operation in operations {
      observe(operation.progress, every: step) { [weak operation] percent in
        if let operation { stream.writeLine(line(operation.report, percent)) }
      }
    }
  }

  private func startWatching() {
    guard let live else { return }
    let task = Task { [self] in
      do {
        for try await next in live.snapshots { snapshot.withLock { $0 = next } }
      } catch {
        // The snapshot is optional; the import reports its own errors.
        return
      }
    }
    watching.withLock { $0 = task }
  }

  override func bars(on terminal: Terminal) -> [String] {
    let reports = operations.map { (report: $0.report, isDone: $0.isFinished) }
    var contents = reports.filter { $0.isDone || $0.report.committedByteCount > 0 }.map {
      ProgressLine.Content($0.report)
    }
    contents.append(
      ProgressLine.Content(reports.map(\.report), fraction: whole.fractionCompleted, seconds: seconds))
    var lines = contents.map { ProgressLine.bar($0, on: terminal) }
    if let live, let snapshot = snapshot.withLock({ $0 }) {
      lines += LiveSnapshot.lines(snapshot, of: live.table, isUnicode: terminal.isUnicode)
    }
    return lines
  }
}
#endif
