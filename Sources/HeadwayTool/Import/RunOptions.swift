#if SQLite
import ArgumentParser
import Foundation

/// The help of options, where it differs between the commands.
protocol RunOptionTexts {
  /// The help of `--quiet`, including what is still printed.
  static var quiet: ArgumentHelp { get }
}

/// The options of the commands that read tables: how many of them in parallel, and what the command prints.
struct RunOptions<Texts: RunOptionTexts>: ParsableArguments {
  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: ArgumentHelp("How many tables to read in parallel.", valueName: "number"))
  var jobs = 8

  @Option(help: ProgressStyle.help)
  var progress: ProgressStyle?

  @Flag(name: .shortAndLong, help: Texts.quiet)
  var quiet = false

  func validate() throws {
    guard jobs > 0 else { throw ValidationError("--jobs \(jobs): use 1 or more.") }
    if quiet, progress != nil { throw ValidationError("--quiet and --progress: use one of them.") }
  }

  /// The style of the display.
  var style: ProgressStyle { quiet ? .none : progress ?? (Terminal.canRedraw ? .bars : .plain) }

  /// Whether notices are not shown.
  var isSilent: Bool { quiet || progress == ProgressStyle.none }

  /// Runs the work of a command and reports an error that it throws.
  ///
  /// - Throws: `ExitCode`, or a `ValidationError`.
  func reportingErrors(of body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let exit as ExitCode {
      throw exit
    } catch let error as ValidationError {
      throw error
    } catch {
      if progress == .json, !quiet {
        let (code, message) = (ToolExit(error).rawValue, ToolExit.description(of: error))
        StandardStream.output.writeLine(
          JSONEvent.line(JSONEvent.End("error", [], seconds: 0, exitCode: code, message: message)))
      }
      throw ToolExit.report(error)
    }
  }

  /// Downloads the sources that are addresses and runs a function with the files of all sources.
  ///
  /// Addresses are downloaded next to the database or, if there is none, to a private folder, which is removed when the
  /// function has ended.
  func withFiles(
    of sources: [String], beside database: String?, _ notices: Notices, body: ([String]) async throws -> Void
  ) async throws {
    #if HTTP
    guard sources.contains(where: SourceDownloads.isAddress) else { return try await body(sources) }
    if let database {
      return try await body(SourceDownloads(folder: "\(database).downloads").files(of: sources, style, notices))
    }
    let folder = try SourceDownloads.privateFolder()
    defer { folder.remove() }
    try await body(SourceDownloads(folder: folder.path).files(of: sources, style, notices))
    #else
    try await body(sources)
    #endif
  }
}
#endif
