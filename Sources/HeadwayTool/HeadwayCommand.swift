#if SQLite
  import ArgumentParser
  import Foundation

  @main struct HeadwayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "headway",
      abstract: "Bulk work in the background: operations on queues, with progress and cancellation.",
      discussion: """
        EXAMPLES:
          headway sample feed --stop-times 100000
          headway import feed feed.sqlite --watch stops
          headway fetch https://example.org/feed.zip --into downloads
          headway thumbnails photos --into small --sheet photos.png
          headway lab --open

        EXIT CODES:
          0 if all was done, 3 if rows of an import were rejected, 64 to 78 as in sysexits.h, and 128 + the number of \
        the signal that stopped the command. The help of import lists them.
        """,
      version: "0.1.0",
      subcommands: [ImportCommand.self, SampleCommand.self] + requestCommands + drawingCommands + labCommands)

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

    #if Lab
      private static let labCommands: [any ParsableCommand.Type] = [LabCommand.self]
    #else
      private static let labCommands: [any ParsableCommand.Type] = []
    #endif

    /// Runs the command while the process's first thread serves the main queue.
    ///
    /// With an asynchronous `main` on Linux the first thread ends, and the main queue runs on any thread.
    static func main() {
      StandardStream.openMissing()
      Task {
        await runCommand()
        exit()
      }
      RunLoop.main.run()
    }

    /// Runs the command; of wrong use it says one line, where the parser's own way is several.
    private static func runCommand() async {
      var name: String?
      do {
        var command = try await asyncParseAsRoot()
        name = type(of: command).configuration.commandName
        if var command = command as? any AsyncParsableCommand {
          try await command.run()
        } else {
          try command.run()
        }
      } catch {
        // What has been said already comes as an exit code.
        guard !(error is ExitCode), exitCode(for: error) == .validationFailure else { exit(withError: error) }
        // The last line of the long form is "See 'headway import --help' for more information."; but of what a command
        // has found while it ran, the parser does not know which command that was.
        let pointer =
          name.map { "See 'headway \($0) --help' for more information." }
          ?? fullMessage(for: error).split(whereSeparator: \.isNewline).last ?? ""
        let message = unknownCommand() ?? message(for: error)
        let end = message.hasSuffix(".") || message.hasSuffix("?") ? "" : "."
        ToolExit.say("\(message)\(end) \(pointer.trimmingCharacters(in: .whitespaces))")
        exit(withError: ExitCode.validationFailure)
      }
    }

    /// What to say where the first argument is no command: the parser takes it for one argument too many.
    private static func unknownCommand() -> String? {
      let names = configuration.subcommands.compactMap { $0.configuration.commandName }
      guard let first = CommandLine.arguments.dropFirst().first, !first.hasPrefix("-"), first != "help",
        !names.contains(first)
      else { return nil }
      return "There is no command \(first), but \(names.joined(separator: ", "))."
    }
  }
#else
  import Foundation

  @main struct HeadwayCommand {
    /// 69 is `EX_UNAVAILABLE` of `sysexits.h`.
    static func main() {
      FileHandle.standardError.write(
        Data("headway: This build has no commands. Build it with: swift build -c release --traits Tool\n".utf8))
      exit(69)
    }
  }
#endif
