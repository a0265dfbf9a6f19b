#if SQLite
import ArgumentParser
import Foundation

/// The options of the commands that read tables: how many of them in parallel, and what the command prints.
struct RunOptions: ParsableArguments {
  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: ArgumentHelp("How many tables to read in parallel.", valueName: "number"))
  var jobs = 8

  @Option(help: ProgressStyle.help)
  var progress: ProgressStyle?

  @Flag(
    name: .shortAndLong,
    help: """
      Print only errors and, after an import, one line each about rejected rows, removed rows, added columns and \
      changed values.
      """)
  var quiet = false

  func validate() throws {
    guard jobs > 0 else { throw ValidationError("--jobs \(jobs): use 1 or more.") }
    if quiet, progress != nil { throw ValidationError("--quiet and --progress: use one of them.") }
  }

  /// The style of the display.
  var style: ProgressStyle { quiet ? .none : progress ?? (Terminal.canRedraw ? .bars : .plain) }

  /// Whether notices are not shown.
  var isSilent: Bool { quiet || progress == ProgressStyle.none }

  /// Runs the work of a command, and reports an error that it throws.
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

  /// Returns the files of the sources.
  ///
  /// Addresses are downloaded next to the database or, if there is none, to a folder for temporary files.
  func files(of sources: [String], beside database: String?, _ notices: Notices) async throws -> [String] {
    #if HTTP
    let folder = database.map { "\($0).downloads" } ?? "\(NSTemporaryDirectory())/headway-downloads"
    return try await SourceDownloads(folder: folder).files(of: sources, style, notices)
    #else
    return sources
    #endif
  }
}
#endif
