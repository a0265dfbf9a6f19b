#if Dashboard && SQLite
import ArgumentParser
import Foundation
import HeadwayDashboard
import HeadwayJobs

struct DashboardCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dashboard",
    abstract: "Show and change the jobs of a store in a browser.",
    discussion: """
      Serves pages on this machine, and prints an address that lets one browser log in, once. Workers can use the \
      store at the same time. Ctrl-C stops the server.

      To use the dashboard from other machines, specify the address to listen on, and a file with people or with a \
      password. The server does not encrypt connections, so put a TLS proxy in front of it, and specify the origin \
      that browsers use. A proxy can also sign in people.

      The store records each change with its author: see 'headway jobs audit'.

      EXAMPLES:
        headway dashboard --store jobs.sqlite --open
        headway dashboard --store jobs.sqlite --read-only --port 9000
        headway dashboard --store jobs.sqlite --listen 0.0.0.0 --password-file f.txt
        headway dashboard --store jobs.sqlite --users users.txt
        headway dashboard --store jobs.sqlite --trust-proxy 127.0.0.1
      """)

  @OptionGroup var place: JobPlaceOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The port of the pages. If another program uses it, the next free port is used.", valueName: "number"))
  var port = 8090

  @Option(
    help: ArgumentHelp(
      "The address to listen on. An address that other machines can reach requires a password.", valueName: "address"))
  var listen: String?

  @Option(
    help: ArgumentHelp("A file whose first line is the password.", valueName: "file"), completion: .file())
  var passwordFile: String?

  @Option(
    help: ArgumentHelp(
      "A file with people who can log in: lines with a name, a role and a hash, from 'headway dashboard-user'.",
      valueName: "file"), completion: .file())
  var users: String?

  @OptionGroup(title: "Sign-in by a proxy") var proxy: DashboardProxyOptions

  @Option(
    help: ArgumentHelp(
      "Another host name that browsers use for the dashboard. This option can be repeated.", valueName: "name"))
  var host: [String] = []

  @Option(
    help: ArgumentHelp(
      """
      An origin under which a proxy serves the dashboard, such as https://jobs.example.org. This option can be repeated.
      """, valueName: "url"))
  var origin: [String] = []

  @Option(
    name: [.customLong("prefix"), .customLong("base")],
    help: ArgumentHelp(
      "The path below which a proxy serves the dashboard, such as /ops/jobs.", valueName: "path"))
  var prefix = ""

  @Option(
    help: ArgumentHelp(
      """
      A key whose values in payloads and results are not shown, in addition to common ones such as password. This \
      option can be repeated.
      """, valueName: "key"))
  var redact: [String] = []

  @Flag(help: "Only show jobs, and change nothing.")
  var readOnly = false

  @Flag(help: "Open the pages in a browser.")
  var open = false

  func validate() throws {
    guard listen?.isEmpty != true else { throw ValidationError("--listen: name an address.") }
    guard 0...65_535 ~= port else { throw ValidationError("--port \(port): use 0 to 65535.") }
    for origin in origin where !origin.lowercased().contains(/^https?:\/\/[^\/]+\/?$/) {
      throw ValidationError("--origin \(origin): specify a scheme and a host, such as https://jobs.example.org.")
    }
  }

  func run() async throws {
    try await place.withStore { _, jobs in
      let server = try JobsDashboardServer(JobsDashboard(jobs, options: pages), options: try address())
      let task = Task.detached {
        try await server.run { address in
          StandardStream.output.write("The dashboard is at \(address)\nCtrl-C ends it.\n")
          if open { Browser.open(address) }
        }
      }
      let signals = Signals { task.cancel() }
      do {
        try await task.value
      } catch {
        guard signals.stopSignal != nil else { throw error }
      }
      if let signal = signals.stopSignal { throw ExitCode(128 + signal) }
    }
  }

  private var pages: JobsDashboard.Options {
    var options = JobsDashboard.Options()
    options.title = place.location.title
    options.origins = Set(origin)
    options.isReadOnly = readOnly
    options.redactedKeys.formUnion(redact)
    return options
  }

  private func address() throws -> JobsDashboardServer.Options {
    var options = JobsDashboardServer.Options()
    options.port = port
    options.hosts = Set(host)
    options.prefix = prefix
    if let listen { options.listen = listen }
    if let passwordFile {
      let text = try Self.text(of: passwordFile, "the password")
      options.password = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }
    if let users {
      do {
        options.users = try JobsDashboardServer.User.users(in: Self.text(of: users, "the people"))
      } catch let error as JobsDashboardError {
        throw InvalidPeople(path: users, error: error)
      }
    }
    options.proxy = proxy.proxy
    options.owner = SystemUser.name
    return options
  }

  private static func text(of path: String, _ content: String) throws -> String {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw UnreadableFile(path: path, content: content)
    }
    return text
  }
}

/// A file with a password or with people can't be read.
struct UnreadableFile: Error, CustomStringConvertible {
  let path: String
  let content: String

  var description: String { "\(path): The file with \(content) can't be read." }
}

/// A file with people is not valid.
struct InvalidPeople: Error, CustomStringConvertible {
  let path: String
  let error: JobsDashboardError

  var description: String { "\(path): \(error)" }
}

extension ToolExit {
  /// The exit code for an error of the dashboard; nil for other errors.
  init?(dashboardError error: any Error) {
    switch error {
    case is JobsDashboardError: self = .usage
    case is UnreadableFile: self = .noInput
    case is InvalidPeople: self = .dataError
    default: return nil
    }
  }
}
#endif
