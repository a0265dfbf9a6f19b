#if SQLite
import ArgumentParser
import Foundation
import Headway
import HeadwayCSV
import HeadwayImport

extension ImportCommand {
  func importAll() async throws {
    let start = ContinuousClock.now
    let notices = Notices(isSilent: runOptions.isSilent)
    try requireNames()
    let trace = trace.isEmpty ? nil : try ImportTrace(paths: trace)
    do {
      try await runOptions.withFiles(of: named, beside: dryRun ? nil : database, notices) { files in
        let sources = try Trace.span("look at the sources") { try ImportSources(files, describedTables()) }
        guard dryRun else { return try await importAll(sources, notices, trace, start) }
        let database = isDatabaseNamed ? database : nil
        try DryRun(sources: sources, options: options, fileOptions: fileOptions, database: database).run()
      }
    } catch {
      if let failure = trace?.end(isSilent: notices.isSilent) { ToolExit.say("\(failure)") }
      throw error
    }
  }

  private func importAll(
    _ sources: ImportSources, _ notices: Notices, _ trace: ImportTrace?, _ start: ContinuousClock.Instant
  ) async throws {
    let style = runOptions.style
    #if Jobs
    if durable { try sources.requireRepeatable() }
    #endif
    try Trace.span("look at the files") { try look(at: sources, notices) }
    let target = try Trace.span("open the database") {
      try ImportDatabase(path: database, durability: durability, busyTimeout: .seconds(busyTimeout)) { [database] in
        notices.say("\(database) is locked by another program; waiting.")
      }
    }
    if case .feed(let files) = sources.content { sayRelease(of: files, in: target, notices) }
    let (all, whole) = try makeOperations(sources, target)
    let queue = OperationQueue()
    queue.name = "import"
    queue.maxConcurrentOperationCount = runOptions.jobs
    let run = try await makeRun(of: all, into: target, on: queue, notices)
    let operations = run.operations
    let finished = operations.filter(\.wasFinished).map(\.file)
    if !finished.isEmpty {
      let files = finished.joined(separator: ", ")
      notices.say("An --append of these files ended early and is completed. Files that it had added: \(files).")
    }
    if style != .bars, watch != nil {
      notices.say("--watch is ignored: it shows rows below the bars, which need a terminal and --progress bars.")
    }
    let live = style == .bars ? watch.map { LiveTable(path: database, table: $0, rowRange: 0..<8) } : nil
    let display = ImportDisplay(style, operations, whole, live: live)
    notices.begin(on: display)
    let signals = Signals {
      run.stop()
      display.show(note: "Stopping. To quit immediately, press Ctrl-C again.")
    }

    display.start()
    do {
      try await run.untilFinished()
    } catch {
      await display.stop()
      throw error
    }
    await display.stop()
    // Closing moves the write-ahead log into the database, which can take a long time. A second signal still stops the
    // process immediately.
    try Trace.span("close the database") { try target.close() }
    if try await run.end() { notices.say("To continue the import, run the same command again.") }
    let seconds = (.now - start).inSeconds
    let traceFailure = trace?.end(isSilent: notices.isSilent)

    try finish(operations, seconds: seconds, style, stoppedBy: signals.stopSignal, traceFailure)
  }

  private func makeRun(
    of operations: [ImportOperation], into target: ImportDatabase, on queue: OperationQueue, _ notices: Notices
  ) async throws -> ImportRun {
    #if Jobs
    if durable {
      let run = try await DurableImport(operations, into: target, on: queue)
      if !run.finishedFiles.isEmpty {
        notices.say("The import continues. In the database already: \(run.finishedFiles.joined(separator: ", ")).")
      }
      return ImportRun(run)
    }
    #endif
    return ImportRun(operations, on: queue)
  }

  private func makeOperations(
    _ sources: ImportSources, _ target: ImportDatabase
  ) throws -> (operations: [ImportOperation], whole: OperationProgress) {
    let rejectedRowsFolder = "\(database).rejected-rows"
    switch sources.content {
    case .feed(let files):
      let feed = try FeedImport(
        files, into: target, options: options, tablePrefix: tablePrefix, rejectedRowsFolder: rejectedRowsFolder)
      return (feed.operations, feed.progress)
    case .files(let files):
      let made = try FilesImport(files, into: target, options: options, rejectedRowsFolder: rejectedRowsFolder)
      return (made.operations, made.progress)
    case .table(let files) where files.count == 1:
      let made = try FilesImport(files, into: target, options: options, rejectedRowsFolder: rejectedRowsFolder)
      return (made.operations, made.progress)
    case .table(let files):
      let made = try FilesImport.intoOneTable(
        files, into: target, options: options, rejectedRowsFolder: rejectedRowsFolder)
      return (made.operations, made.progress)
    }
  }

  /// Prints the result and throws the exit code for it.
  private func finish(
    _ operations: [ImportOperation], seconds: Double, _ style: ProgressStyle, stoppedBy signal: Int32?,
    _ traceFailure: CSVWriterError?
  ) throws {
    let reports = operations.map(\.report)
    func end(_ event: String, _ exitCode: Int32, _ message: String? = nil) -> ExitCode {
      if !runOptions.quiet {
        ImportSummary(reports, seconds: seconds, style: style).print(
          JSONEvent.End(event, reports, seconds: seconds, exitCode: exitCode, message: message))
      } else {
        for sentence in reports.flatMap({ $0.changes(saysRemoved: !replace || $0.rowCount == 0) }) {
          ToolExit.say(sentence)
        }
      }
      if let message { ToolExit.say(message) }
      return ExitCode(exitCode)
    }
    let errors = operations.compactMap(\.error)
    let rejection = Self.rejection(of: operations.filter { $0.error == nil }.map(\.report))
    if let error = errors.first {
      let code = end("error", ToolExit(error).rawValue, ToolExit.description(of: error))
      for error in errors.dropFirst() { ToolExit.say(ToolExit.description(of: error)) }
      if let rejection { ToolExit.say(rejection) }
      if let traceFailure { ToolExit.say("\(traceFailure)") }
      throw code
    }
    // A signal can arrive when everything is done.
    if let signal, !reports.allSatisfy(\.isComplete) {
      let code = end("cancelled", 128 + signal, rejection)
      if let traceFailure { ToolExit.say("\(traceFailure)") }
      throw code
    }
    if let left = reports.first(where: { !$0.isComplete }) {
      let code = end(
        "error", ToolExit.temporaryFailure.rawValue, "\(left.file): The import is not complete. Run the command again.")
      if let rejection { ToolExit.say(rejection) }
      throw code
    }
    if let traceFailure {
      let code = end("error", ToolExit(traceFailure).rawValue, "\(traceFailure) The import is complete.")
      if let rejection { ToolExit.say(rejection) }
      throw code
    }
    let code = end("finished", rejection == nil || allowRejectedRows ? 0 : ToolExit.rejectedRows.rawValue, rejection)
    if code != ExitCode.success { throw code }
  }

  /// Returns one line about the rejected rows.
  ///
  /// Nil if there are none.
  private static func rejection(of reports: [TableReport]) -> String? {
    let rejecting = reports.filter { $0.rejectedRowCount > 0 }
    guard let first = rejecting.first else { return nil }
    let (rejected, rows) = rejecting.reduce((0, 0)) { ($0.0 + $1.rejectedRowCount, $0.1 + $1.rowCount) }
    let verb = rejected == 1 ? "was" : "were"
    let place = first.rejectedRowsPath.map { "; see \(rejecting.count == 1 ? $0 : folder(of: $0))" } ?? ""
    let files = rejecting.count == 1 ? first.file : "\(rejecting.count) files"
    return "\(files): \(rejected.grouped) of \((rejected + rows).groupedRows) \(verb) rejected\(place)."
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }
}
#endif
