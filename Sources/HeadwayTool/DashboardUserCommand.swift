#if Dashboard && SQLite
public import ArgumentParser
import Foundation
public import HeadwayDashboard

struct DashboardUserCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dashboard-user",
    abstract: "Print a line for the file with the people who can log in to a dashboard.",
    discussion: """
      Reads the password from the terminal, or the first line of standard input. The line contains the name, the role \
      and a hash of the password. Add it to the file for 'headway dashboard --users', which only you should be able to \
      read.

      EXAMPLES:
        headway dashboard-user anna --role operate >> users.txt
      """)

  @Argument(help: "The name of the person, which the dashboard records with each change.")
  var name: String

  @Option(help: ArgumentHelp("The role: look to see all pages, or operate to also change jobs.", valueName: "role"))
  var role = JobsDashboard.Access.Role.look

  func run() throws {
    do {
      let user = try JobsDashboardServer.User(name: name, role: role, password: Self.readPassword())
      StandardStream.output.writeLine(user.line)
    } catch let error as JobsDashboardError {
      throw ValidationError(error.description)
    }
  }

  /// Reads a password without showing it.
  private static func readPassword() -> String {
    guard isatty(STDIN_FILENO) != 0 else { return readLine() ?? "" }
    return getpass("Password: ").map { String(cString: $0) } ?? ""
  }
}

extension JobsDashboard.Access.Role: ExpressibleByArgument {}
#endif
