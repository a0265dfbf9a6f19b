#if SQLite
import ArgumentParser
import Foundation
import Headway
import HeadwayImport

struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a GTFS feed against the GTFS reference, without importing it.",
    discussion: """
      Prints the errors in the feed, and then the warnings, each with some of the affected rows. A feed is a folder, a \
      zip archive, or the URL of an archive. An archive with a URL is downloaded to a temporary folder, which is \
      removed after the check. The feed is read into a temporary database, which needs about as much space as the feed.

      EXAMPLES:
        headway check vbb-2020
        headway check vbb.zip
        headway check vbb.zip --progress json | jq 'select(.event == "issue")'

      EXIT CODES:
        0    there are no errors; there might be warnings
        64   a usage error
        65   there are errors, or the archive is damaged
        66   the feed does not exist or cannot be read
        68   a server cannot be found
        69   a server cannot be reached or refuses the request
        70   an error in headway itself
        73   the temporary database cannot be created
        74   reading or writing failed, for example because the disk is full
        75   a temporary failure of a download
        76   a server does not follow HTTP, or its content can't be decompressed
        130  SIGINT stopped the check; 129 and 143 are the codes for SIGHUP and SIGTERM
      """)

  @Argument(help: "The feed to check.", completion: .file())
  var feed: String

  @OptionGroup(title: "Format of the files")
  var format: FormatOptions

  @OptionGroup
  var runOptions: RunOptions<Texts>

  enum Texts: RunOptionTexts {
    static var quiet: ArgumentHelp { "Print only errors that prevent the check, not issues in the feed." }
  }

  func run() async throws { try await runOptions.reportingErrors { try await check() } }

  /// Checks the feed and prints the issues.
  ///
  /// - Throws: `ExitCode` with 65 if the feed has errors, or with 128 plus the signal that stopped the check; or
  ///   ``ImportError``.
  private func check() async throws {
    let start = ContinuousClock.now
    try await runOptions.withFiles(of: [feed], beside: nil, Notices(isSilent: runOptions.isSilent)) { files in
      try await check(folder: files[0], start)
    }
  }

  private func check(folder: String, _ start: ContinuousClock.Instant) async throws {
    let validator = try FeedValidator(folder: folder, options: format.options)
    let queue = OperationQueue()
    queue.name = "check"
    queue.maxConcurrentOperationCount = runOptions.jobs
    let display = ImportDisplay(runOptions.style, validator.imports, validator.progress, live: nil)
    let signals = Signals {
      queue.cancelAllOperations()
      display.show(note: "Stopping. To quit immediately, press Ctrl-C again.")
    }
    display.start()
    queue.addOperations(validator.operations, waitUntilFinished: false)
    try await queue.untilAllOperationsAreFinished()
    await display.stop()
    if runOptions.style == .json {
      for operation in validator.imports { StandardStream.output.writeLine(JSONEvent.table(operation.report)) }
    }
    if let error = validator.operations.last?.error { throw error }

    let issues = validator.issues
    let errors = issues.count { $0.severity == .error }
    // A signal can arrive when everything is done.
    let signal = validator.operations.contains(where: \.isCancelled) ? signals.stopSignal : nil
    let exitCode = signal.map { 128 + $0 } ?? (errors > 0 ? ToolExit.dataError.rawValue : 0)
    let end = JSONEvent.Checked(
      event: signal == nil ? "finished" : "cancelled", errors: errors, warnings: issues.count - errors,
      seconds: (.now - start).inSeconds, exitCode: exitCode)
    if !runOptions.quiet { show(issues, end) }
    guard exitCode == 0 else { throw ExitCode(exitCode) }
  }

  private func show(_ issues: [FeedIssue], _ end: JSONEvent.Checked) {
    guard runOptions.style != .json else {
      for issue in issues { StandardStream.output.writeLine(JSONEvent.line(JSONEvent.Issue(issue))) }
      return StandardStream.output.writeLine(JSONEvent.line(end))
    }
    guard end.event == "finished" else { return StandardStream.output.writeLine("Cancelled: there is no result.") }
    for issue in issues { StandardStream.output.writeLine("\(issue)") }
    func counted(_ count: Int, _ what: String) -> String { "\(count) \(what)\(count == 1 ? "" : "s")" }
    StandardStream.output.writeLine("\(feed): \(counted(end.errors, "error")), \(counted(end.warnings, "warning")).")
  }
}
#endif
