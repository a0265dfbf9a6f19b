#if SQLite
  import Foundation
  import Headway
  import HeadwayImport
  import Synchronization

  /// Shows how an import goes, until it is stopped: bars and lines on standard error, JSON on standard output.
  final class ImportDisplay: Sendable {
    private let style: ProgressStyle
    private let operations: [ImportOperation]
    private let whole: OperationProgress
    private let live: LiveTable?
    private let beginning = ContinuousClock.now

    // Each protected by its lock.
    private let observations = Mutex<[ObservationToken]>([])
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let picture = Mutex<LiveTable.Picture?>(nil)
    private let note = Mutex<String?>(nil)
    private let screen = Mutex(Screen())

    private static let redrawInterval = Duration.milliseconds(100)

    /// - Parameters:
    ///   - style: How to show it.
    ///   - operations: The imports, an operation a table.
    ///   - whole: The progress of all of them.
    ///   - live: A table whose last rows are shown under the bars.
    init(_ style: ProgressStyle, _ operations: [ImportOperation], _ whole: OperationProgress, live: LiveTable?) {
      self.style = style
      self.operations = operations
      self.whole = whole
      self.live = live
    }

    func start() {
      switch style {
      case .bars: startBars()
      case .plain: startLines(every: 10, to: .error, ProgressLine.plain)
      case .json: startLines(every: 1, to: .output, JSONEvent.progress)
      case .none: break
      }
    }

    /// Ends the display, with a last picture of the state.
    func stop() async {
      for task in tasks.withLock({ $0 }) {
        task.cancel()
        await task.value
      }
      for observation in observations.withLock({ $0 }) { observation.invalidate() }
      guard style == .bars else { return }
      note.withLock { $0 = nil }
      if let last = try? await live?.picture() { picture.withLock { $0 = last } }
      draw()
    }

    /// Says something beside the progress: under the bars, else as a line of its own on standard error.
    func show(note text: String) {
      switch style {
      case .bars:
        note.withLock { $0 = text }
        draw()
      case .plain, .json: StandardStream.error.writeLine(text)
      case .none: break
      }
    }

    // MARK: Lines

    private func startLines(
      every step: Int, to stream: StandardStream, _ line: @escaping @Sendable (TableReport, Int) -> String
    ) {
      for operation in operations {
        let told = LastStep()
        let observation = operation.progress.observe { [weak operation] progress in
          let percent = Int(progress.fractionCompleted * 100)
          guard let operation, told.advance(to: percent / step) else { return }
          stream.writeLine(line(operation.report, percent))
        }
        observations.withLock { $0.append(observation) }
      }
    }

    // MARK: Bars

    private func startBars() {
      let drawing = Task { [self] in
        while !Task.isCancelled {
          draw()
          try? await Task.sleep(for: Self.redrawInterval)
        }
      }
      tasks.withLock { $0.append(drawing) }
      guard let live else { return }
      let watching = Task { [self] in
        do {
          for try await next in live.pictures { picture.withLock { $0 = next } }
        } catch {
          // The picture is an extra; the import reports its own errors.
          return
        }
      }
      tasks.withLock { $0.append(watching) }
    }

    private func draw() {
      let terminal = Terminal.current
      let reports = operations.map { (report: $0.report, isDone: $0.isFinished) }
      var contents = reports.filter { $0.isDone || $0.report.bytes > 0 }.map { ProgressLine.Content($0.report) }
      let seconds = (ContinuousClock.now - beginning) / .seconds(1)
      contents.append(
        ProgressLine.Content(reports.map(\.report), fraction: whole.fractionCompleted, seconds: seconds))
      var lines = contents.map { ProgressLine.bar($0, on: terminal) }
      if let live, let picture = picture.withLock({ $0 }) {
        lines += LivePicture.lines(picture, of: live.table, isUnicode: terminal.isUnicode)
      }
      if let note = note.withLock({ $0 }) { lines.append(note) }
      screen.withLock { $0.show(lines, on: terminal) }
    }
  }
#endif
