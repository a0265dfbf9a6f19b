#if SQLite && Drawing
import Foundation

/// Shows the progress of thumbnails: a bar and lines on standard error, JSON on standard output.
final class ThumbnailDisplay: ProgressDisplay, @unchecked Sendable {
  private struct Event: Encodable {
    /// `progress`, `finished` or `cancelled`.
    let event: String
    let percent: Int
    let made: Int
    let upToDate: Int
    let failed: Int
    let total: Int
    let seconds: Double
    let exitCode: Int32?
  }

  private let tally: ThumbnailTally
  private let lastStep = LastStep()

  private static let mostNotes = 5

  init(_ style: ProgressStyle, _ tally: ThumbnailTally) {
    self.tally = tally
    super.init(style, mostNotes: Self.mostNotes)
  }

  func start() { if style == .bars { startDrawing() } }

  func stop() async {
    await stopDrawing()
    if style == .bars { draw() }
  }

  func show(error: String) {
    if style == .bars { show(note: "headway: \(error)") } else { ToolExit.say(error) }
  }

  /// Called when another thumbnail has ended.
  func noteStep() {
    let counts = tally.counts
    let percent = Int(counts.fraction * 100)
    switch style {
    case .plain where lastStep.advance(to: percent / 10):
      let left = ProgressLine.left(counts.fraction, seconds: seconds)
      let parts = ["\(counts.ended.grouped) of \(counts.total.grouped)", left].compactMap { $0 }
      StandardStream.error.writeLine("thumbnails: \(percent)%, \(parts.joined(separator: ", "))")
    case .json where lastStep.advance(to: percent):
      StandardStream.output.writeLine(event("progress", counts, seconds: seconds, exitCode: nil))
    default: break
    }
  }

  /// Prints the result.
  func showEnd(seconds: Double, isStopped: Bool, exitCode: Int32) {
    let counts = tally.counts
    switch style {
    case .none: break
    case .json:
      StandardStream.output.writeLine(
        event(isStopped ? "cancelled" : "finished", counts, seconds: seconds, exitCode: exitCode))
    case .bars, .plain:
      var parts = ["\(counts.made.grouped) made"]
      if counts.upToDate > 0 { parts.append("\(counts.upToDate.grouped) up to date") }
      if counts.failed > 0 { parts.append("\(counts.failed.grouped) failed") }
      let end = isStopped ? " Cancelled: run the same command to create the remaining thumbnails." : ""
      StandardStream.output.writeLine(
        "\(counts.total.grouped) \(counts.total == 1 ? "picture" : "pictures"): \(parts.joined(separator: ", ")), "
          + "\(String(format: "%.2f", seconds)) s.\(end)")
    }
  }

  private func event(
    _ name: String, _ counts: ThumbnailTally.Counts, seconds: Double, exitCode: Int32?
  ) -> String {
    JSONEvent.line(
      Event(
        event: name, percent: Int(counts.fraction * 100), made: counts.made, upToDate: counts.upToDate,
        failed: counts.failed, total: counts.total, seconds: seconds, exitCode: exitCode))
  }

  override func bars(on terminal: Terminal) -> [String] {
    let counts = tally.counts
    let content = ProgressLine.Content(
      name: "thumbnails", fraction: counts.fraction, count: counts.ended, unit: "pictures", failed: counts.failed,
      seconds: seconds)
    return [ProgressLine.bar(content, on: terminal)]
  }
}
#endif
