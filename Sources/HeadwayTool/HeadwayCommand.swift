#if SQLite
import ArgumentParser
import Foundation
import Headway
import HeadwayFiles
import HeadwayImport

@main struct HeadwayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "headway",
    abstract: "Bulk work in the background: operations on queues, with progress and cancellation.",
    discussion: """
      EXAMPLES:
        headway sample feed --stop-times 100000
        headway import feed feed.sqlite --watch stops
        headway check feed
        headway fetch https://example.org/feed.zip --into downloads
        headway thumbnails photos --into small --sheet photos.png
        headway lab --open

      EXIT CODES:
        0 for success, 1 if a check of jobs has found a defect, 3 if some rows of an import were rejected, 64 to 78 \
      as in sysexits.h, and 128 plus the number of the signal that stopped the command. 'headway import --help' lists \
      the exit codes of an import.

      SIGQUIT (Control-\\) prints what each operation and thread does or waits for, and the command continues.
      """,
    version: packageVersion,
    subcommands: [ImportCommand.self, CheckCommand.self, ExportCommand.self, SampleCommand.self] + requestCommands
      + drawingCommands + jobCommands + dashboardCommands + labCommands)

  #if HTTP
  private static let requestCommands: [any ParsableCommand.Type] = [FetchCommand.self]
  #else
  private static let requestCommands: [any ParsableCommand.Type] = []
  #endif

  #if Drawing
  private static let drawingCommands: [any ParsableCommand.Type] = [ThumbnailsCommand.self]
  #else
  private static let drawingCommands: [any ParsableCommand.Type] = []
  #endif

  #if Jobs
  private static let jobCommands: [any ParsableCommand.Type] = [JobsCommand.self]
  #else
  private static let jobCommands: [any ParsableCommand.Type] = []
  #endif

  #if Dashboard
  private static let dashboardCommands: [any ParsableCommand.Type] = [
    DashboardCommand.self, DashboardUserCommand.self,
  ]
  #else
  private static let dashboardCommands: [any ParsableCommand.Type] = []
  #endif

  #if Lab
  private static let labCommands: [any ParsableCommand.Type] = [LabCommand.self]
  #else
  private static let labCommands: [any ParsableCommand.Type] = []
  #endif

  /// Runs the command while the process's first thread serves the main queue.
  ///
  /// With an asynchronous `main` on Linux, the first thread ends, and the main queue runs on any thread.
  static func main() {
    StandardStream.openMissing()
    OperationQueue.dumpOnSignal(SIGQUIT)
    Task {
      await runCommand()
      exit()
    }
    RunLoop.main.run()
  }

  /// Runs the command.
  ///
  /// For incorrect usage, it prints one line, whereas the parser would print several.
  private static func runCommand() async {
    var name: String?
    do {
      if let message = unknownCommand() { throw ValidationError(message) }
      var command = try await asyncParseAsRoot(arguments)
      name = type(of: command).configuration.commandName
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      // Errors that have already been reported are thrown as exit codes.
      guard !(error is ExitCode), exitCode(for: error) == .validationFailure else { exit(withError: error) }
      // The last line of the long form is "See 'headway import --help' for more information." But if the command itself
      // throws the error while it runs, the parser does not know which command that was.
      let pointer =
        name.map { "See 'headway \($0) --help' for more information." }
        ?? fullMessage(for: error).split(whereSeparator: \.isNewline).last ?? ""
      ToolExit.say("\(ToolExit.sentence(message(for: error))) \(pointer.trimmingCharacters(in: .whitespaces))")
      exit(withError: ExitCode.validationFailure)
    }
  }

  /// The arguments.
  ///
  /// File names keep bytes that are not UTF-8.
  private static let arguments = (1..<max(1, Int(CommandLine.argc))).compactMap {
    CommandLine.unsafeArgv[$0].map { String(path: $0) }
  }

  /// Returns the text to print if the first argument, or the one after `help`, is not a command.
  ///
  /// The parser treats the first case as a superfluous argument, and shows its own help in the second case.
  private static func unknownCommand() -> String? {
    let names = configuration.subcommands.compactMap { $0.configuration.commandName }
    let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
    guard let name = words.first, !name.hasPrefix("-"), name != "help", !names.contains(name) else { return nil }
    let advice =
      Spelling.suggestion(for: name, among: names).map { "Did you mean '\($0)'?" }
      ?? "The commands are \(names.joined(separator: ", "))."
    return "There is no command '\(name)'. \(advice)"
  }
}
#else
import Foundation
import Headway

@main struct HeadwayCommand {
  /// 69 is `EX_UNAVAILABLE` of `sysexits.h`.
  static func main() {
    FileHandle.standardError.write(
      Data("headway: This build has no commands. Build it with: swift build -c release --traits Tool\n".utf8))
    exit(69)
  }
}
#endif
