#if SQLite && Lab
public import ArgumentParser
import Foundation
import HeadwayFiles
import HeadwayLab
public import LongRunningTechniques
import Synchronization

struct LabCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lab",
    abstract: "Compare operation queues with threads and dispatch queues in a browser.",
    discussion: """
      Serves a page on this machine and prints its address. The page shows seven techniques for running long tasks, \
      with their tables, logs and timelines, and whether the main thread stays responsive. It also shows the add-on \
      modules at work. Ctrl-C stops the server.

      With --terminal, the command prints tables and logs instead. The techniques are: \
      \(Technique.allCases.map(\.rawValue).joined(separator: ", ")).

      EXAMPLES:
        headway lab --open
        headway lab --port 9000
        headway lab --terminal
        headway lab --terminal main serial | grep Added
      """)

  @Argument(help: "With --terminal: the techniques to run; all of them by default.")
  var techniques: [Technique] = []

  @Flag(help: "Print tables and logs to the terminal instead of serving a page.")
  var terminal = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The port of the page. If another program uses it, the next free port is used.", valueName: "number"))
  var port = 8080

  @Option(
    help: ArgumentHelp(
      """
      The address to listen on, so that other machines can also open the page. They need the token in the printed \
      URL.
      """, valueName: "address"))
  var listen: String?

  @Flag(help: "Open the page in a browser.")
  var open = false

  @Option(
    help: ArgumentHelp(
      "The folder of a GTFS feed to use on the page about imports, instead of a generated feed.", valueName: "folder"),
    completion: .directory)
  var feed: String?

  func validate() throws {
    if terminal, let option = listen != nil ? "--listen" : open ? "--open" : feed != nil ? "--feed" : nil {
      throw ValidationError("--terminal and \(option): use one of them.")
    }
    if !terminal, !techniques.isEmpty {
      throw ValidationError("Techniques can be specified only with --terminal. On the page, choose them there.")
    }
    guard listen?.isEmpty != true else { throw ValidationError("--listen: specify an address.") }
    guard 0...65_535 ~= port else { throw ValidationError("--port \(port): use 0 to 65535.") }
  }

  func run() async throws {
    if terminal { try await runInTerminal() } else { try await serve() }
  }

  private func runInTerminal() async throws {
    let lab = TerminalLab { text in StandardStream.output.write(text) }
    let signals = Signals { lab.cancel() }
    await lab.run(techniques.isEmpty ? Technique.allCases : techniques)
    if let signal = signals.stopSignal { throw ExitCode(128 + signal) }
  }

  private func serve() async throws {
    if let feed, !FileSystem.isFolder(feed) {
      ToolExit.say("\(feed): There is no such folder.")
      throw ExitCode(ToolExit.noInput.rawValue)
    }
    let server = LabServer(
      LabServer.Options(port: port, listen: listen, feed: feed, recordsTrace: true), lab: Lab())
    let task = Task.detached {
      try await server.run { address in
        StandardStream.output.write("The lab is at \(address)\nCtrl-C ends it.\n")
        if open { Browser.open(address) }
      }
    }
    let signals = Signals {
      server.stop()
      task.cancel()
    }
    do {
      try await task.value
    } catch {
      guard signals.stopSignal != nil else { throw ToolExit.report(error) }
    }
    if let signal = signals.stopSignal { throw ExitCode(128 + signal) }
  }
}

extension Technique: ExpressibleByArgument {}
#endif
