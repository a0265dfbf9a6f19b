#if SQLite
import Headway
import Synchronization

/// Shows the progress of a command: bars on standard error, redrawn until the command stops, with notes under them.
///
/// A subclass provides the bars and writes the lines of the other styles.
class ProgressDisplay: @unchecked Sendable {  // Locks protect all mutable state, including that of subclasses.
  let style: ProgressStyle
  private let beginning = ContinuousClock.now
  private let mostNotes: Int

  // Each protected by its lock.
  private let observations = Mutex<[KeyValueObservation]>([])
  private let drawing = Mutex<Task<Void, Never>?>(nil)
  private let notes = Mutex<[String]>([])
  private let screen = Mutex(Screen())

  private static let redrawInterval = Duration.milliseconds(100)

  /// - Parameters:
  ///   - style: The style of the display.
  ///   - mostNotes: The number of notes that are shown under the bars. If there are more, the last ones are shown.
  init(_ style: ProgressStyle, mostNotes: Int = 1) { (self.style, self.mostNotes) = (style, mostNotes) }

  /// The time since the command began, in seconds.
  var seconds: Double { (ContinuousClock.now - beginning).inSeconds }

  /// The bars, one line each.
  func bars(on terminal: Terminal) -> [String] { [] }

  /// Draws the bars until ``stopDrawing()``.
  func startDrawing() {
    let task = Task { [self] in
      while !Task.isCancelled {
        draw()
        try? await Task.sleep(for: Self.redrawInterval)
      }
    }
    drawing.withLock { $0 = task }
  }

  /// Stops drawing the bars and reporting steps.
  ///
  /// You can call ``draw(withNotes:)`` once more afterwards.
  func stopDrawing() async {
    let task = drawing.withLock { $0.take() }
    task?.cancel()
    await task?.value
    for observation in observations.withLock({ $0 }) { observation.invalidate() }
  }

  /// Draws the bars, and the notes under them.
  func draw(withNotes: Bool = true) {
    let terminal = Terminal.current
    let lines = bars(on: terminal) + (withNotes ? notes.withLock { $0 } : [])
    screen.withLock { $0.show(lines, on: terminal) }
  }

  /// Shows a note: under the bars, or as a line on standard error in the other styles.
  func show(note: String) {
    switch style {
    case .bars:
      notes.withLock { $0 = ($0 + [note]).suffix(mostNotes) }
      draw()
    case .plain, .json: StandardStream.error.writeLine(note)
    case .none: break
    }
  }

  /// Calls `report` with the percentage, once for each step that the progress has passed.
  ///
  /// - Parameters:
  ///   - progress: The progress to observe.
  ///   - step: The size of a step in percent.
  ///   - report: Called on the thread that made the progress.
  func observe(_ progress: OperationProgress, every step: Int, _ report: @escaping @Sendable (Int) -> Void) {
    let last = LastStep()
    let observation = progress.onChange { progress in
      let percent = Int(progress.fractionCompleted * 100)
      if last.advance(to: percent / step) { report(percent) }
    }
    observations.withLock { $0.append(observation) }
  }
}
#endif
