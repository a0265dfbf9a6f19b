#if SQLite
import ArgumentParser
import Foundation
import Headway
import HeadwayImport

/// Runs `headway import --check`.
struct FeedChecking {
  let feed: String
  let options: ImportOptions
  let maximumConcurrency: Int
  let isQuiet: Bool
  let style: ProgressStyle

  /// Checks the feed, and prints the findings.
  ///
  /// - Throws: `ExitCode` with 65 if there are errors, or with 128 plus the signal that stopped the check; or
  ///   ``ImportError``.
  func run() async throws {
    let start = ContinuousClock.now
    let check = try FeedCheck(folder: feed, options: options)
    let queue = OperationQueue()
    queue.name = "check"
    queue.maxConcurrentOperationCount = maximumConcurrency
    let display = ImportDisplay(style, check.imports, check.progress, live: nil)
    let signals = Signals {
      queue.cancelAllOperations()
      display.show(note: "Stopping. To quit immediately, press Ctrl-C again.")
    }
    display.start()
    queue.addOperations(check.operations, waitUntilFinished: false)
    try await queue.untilAllOperationsAreFinished()
    await display.stop()
    if let error = check.operations.last?.error { throw error }

    let findings = check.findings
    let errors = findings.count { $0.severity == .error }
    // A signal can arrive when everything is done.
    let signal = check.operations.contains(where: \.isCancelled) ? signals.stopSignal : nil
    let exitCode = signal.map { 128 + $0 } ?? (errors > 0 ? ToolExit.dataError.rawValue : 0)
    let end = JSONEvent.Checked(
      event: signal == nil ? "finished" : "cancelled", errors: errors, warnings: findings.count - errors,
      seconds: (.now - start).inSeconds, exitCode: exitCode)
    if !isQuiet { say(findings, end) }
    guard exitCode == 0 else { throw ExitCode(exitCode) }
  }

  private func say(_ findings: [FeedFinding], _ end: JSONEvent.Checked) {
    guard style != .json else {
      for finding in findings { StandardStream.output.writeLine(JSONEvent.line(JSONEvent.Finding(finding))) }
      return StandardStream.output.writeLine(JSONEvent.line(end))
    }
    guard end.event == "finished" else { return StandardStream.output.writeLine("Cancelled: nothing was found out.") }
    for finding in findings { StandardStream.output.writeLine("\(finding)") }
    func counted(_ count: Int, _ what: String) -> String { "\(count) \(what)\(count == 1 ? "" : "s")" }
    StandardStream.output.writeLine("\(feed): \(counted(end.errors, "error")), \(counted(end.warnings, "warning")).")
  }
}
#endif
