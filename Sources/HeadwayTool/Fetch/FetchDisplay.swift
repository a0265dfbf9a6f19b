#if SQLite && HTTP
import Foundation
import Headway
import HeadwayFiles
import HeadwayHTTP

/// Shows the progress of downloads: bars and lines on standard error, JSON on standard output.
final class FetchDisplay: ProgressDisplay, @unchecked Sendable {
  private let downloads: [DownloadOperation]

  init(_ style: ProgressStyle, _ downloads: [DownloadOperation]) {
    self.downloads = downloads
    super.init(style)
  }

  func start() {
    switch style {
    case .bars: startDrawing()
    case .plain:
      observe(every: 10) { download, percent in
        let amount = ByteCount.text(download.progress.completedUnitCount)
        StandardStream.error.writeLine("\(download.fileName): \(percent)%, \(amount)")
      }
    case .json:
      observe(every: 1) { download, percent in
        StandardStream.output.writeLine(JSONEvent.line(FetchEvent.File("progress", download, percent: percent)))
      }
    case .none: break
    }
  }

  /// Ends the display after a last picture of the state.
  func stop() async {
    await stopDrawing()
    if style == .bars { draw(withNotes: false) }
  }

  /// Prints the result.
  func sayEnd(seconds: Double, exitCode: Int32) {
    switch style {
    case .json:
      for download in downloads {
        StandardStream.output.writeLine(
          JSONEvent.line(FetchEvent.File("file", download, percent: download.isComplete ? 100 : nil)))
      }
      let event = exitCode == 0 ? "finished" : exitCode > 128 ? "cancelled" : "error"
      StandardStream.output.writeLine(
        JSONEvent.line(FetchEvent.End(event, downloads, seconds: seconds, exitCode: exitCode)))
    case .bars, .plain:
      // Standard output contains the content.
      guard !downloads.contains(where: { DownloadOperation.isStandardOutput($0.path) }) else { break }
      for download in downloads where download.isComplete {
        let size = ByteCount.text(download.progress.completedUnitCount)
        StandardStream.output.writeLine("\(download.path): \(download.isUpToDate ? "up to date" : size)")
      }
      if exitCode > 128 { StandardStream.output.writeLine("Cancelled. To resume, run the same command again.") }
    case .none: break
    }
  }

  private func observe(every step: Int, _ report: @escaping @Sendable (DownloadOperation, Int) -> Void) {
    for download in downloads {
      observe(download.progress, every: step) { [weak download] percent in
        if let download { report(download, percent) }
      }
    }
  }

  override func bars(on terminal: Terminal) -> [String] {
    let seconds = seconds
    let begun = downloads.filter { $0.isExecuting || $0.isFinished }
    var lines = begun.map {
      line($0.fileName, done: $0.progress.completedUnitCount, of: $0.progress.totalUnitCount, seconds, terminal)
    }
    if downloads.count > 1 {
      let progress = downloads.map(\.progress)
      let isKnown = progress.allSatisfy { $0.totalUnitCount > 0 }
      let size = isKnown ? progress.reduce(0) { $0 + $1.totalUnitCount } : 0
      lines.append(line("all", done: progress.reduce(0) { $0 + $1.completedUnitCount }, of: size, seconds, terminal))
    }
    return lines
  }

  private func line(
    _ name: String, done: Int64, of size: Int64, _ seconds: Double, _ terminal: Terminal
  ) -> String {
    let amount = ByteCount.text(done)
    guard size > 0 else { return "\(name.padded(to: 18)) \(amount)" }
    let fraction = min(1, Double(done) / Double(size))
    let left = ProgressLine.left(fraction, seconds: seconds)
    func line(_ name: String, _ details: [String?], barWidth: Int) -> String {
      let bar = ProgressLine.bar(fraction, width: barWidth, isUnicode: terminal.isUnicode)
      return "\(name) \(bar) \(ProgressLine.percent(fraction))  "
        + details.compactMap { $0 }.joined(separator: ", ")
    }
    let short = String(name.prefix(10)).padded(to: 10)
    let lines = [
      line(name.padded(to: 18), [amount, left], barWidth: 24), line(short, [amount, left], barWidth: 12),
      line(short, [left], barWidth: 6), line(short, [], barWidth: 4),
    ]
    return lines.first { $0.count <= terminal.columns } ?? lines[lines.count - 1]
  }
}

extension DownloadOperation {
  fileprivate var fileName: String { String(path.split(separator: "/").last ?? "").shownPath }
  var isComplete: Bool { isFinished && error == nil && !isCancelled }
}

/// The output of `headway fetch --progress json`.
///
/// `Docs/tool-json.md` documents the fields.
enum FetchEvent {
  struct File: Encodable {
    let event: String
    let url: String
    let file: String
    let bytes: Int64
    let size: Int64?
    let percent: Int?
    let isComplete: Bool
    let isUpToDate: Bool
    let message: String?

    init(_ event: String, _ download: DownloadOperation, percent: Int?) {
      let progress = download.progress
      (self.event, url, file) = (event, download.request.url, download.path)
      (bytes, size) = (progress.completedUnitCount, progress.totalUnitCount > 0 ? progress.totalUnitCount : nil)
      (self.percent, isComplete, isUpToDate) = (percent, download.isComplete, download.isUpToDate)
      message = download.error.map { "\($0)" }
    }
  }

  struct End: Encodable {
    /// `finished`, `cancelled` or `error`.
    let event: String
    let files: Int
    let bytes: Int64
    let seconds: Double
    let exitCode: Int32

    init(_ event: String, _ downloads: [DownloadOperation], seconds: Double, exitCode: Int32) {
      (self.event, self.seconds, self.exitCode) = (event, seconds, exitCode)
      files = downloads.count { $0.isComplete }
      bytes = downloads.reduce(0) { $0 + $1.progress.completedUnitCount }
    }
  }
}
#endif
