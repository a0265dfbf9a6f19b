#if SQLite
import Foundation
import HeadwayTestSupport
import Testing

/// The exit codes that the help of each command lists.
private let exitCodesOfCommands: [(String, [Int])] = {
  var codes = [
    ("import", [0, 3, 64, 65, 66, 68, 69, 70, 73, 74, 75, 76, 130]),
    ("check", [0, 64, 65, 66, 68, 69, 70, 73, 74, 75, 76, 130]), ("sample", [0, 64, 73, 74]),
  ]
  #if HTTP
  codes.append(("fetch", [0, 64, 65, 68, 69, 70, 73, 75, 76, 130]))
  #endif
  #if Jobs
  codes.append(("jobs", [0, 1, 64, 65, 66, 70, 73, 74, 75, 130]))
  #endif
  return codes
}()

@Suite("The tool's help", .hangLimit)
struct HelpTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(
    "Help goes to standard output, has examples and names every option",
    arguments: [
      (["--help"], ["import", "check", "sample", "--version"]),
      ([], ["import", "check", "sample", "--version"]),
      (
        ["import", "--help"],
        [
          "<source>", "<database>", "--table-prefix", "--batch-size", "--strict", "--durability",
          "--busy-timeout",
          "-j, --jobs", "-o, --output", "--delimiter",
          "--table", "--key", "--column-type", "--columns", "--decimal", "--thousands", "--null-text", "--skip-lines",
          "--ragged-rows",
          "--column-type-policy",
          "--dry-run", "--without", "--no-header", "--progress", "--watch",
        ]
      ),
      (["check", "--help"], ["<feed>", "-j, --jobs", "--encoding", "--progress", "EXIT CODES:"]),
      (["sample", "--help"], ["<folder>", "--stop-times", "--seed", "--crlf", "--force"]),
      (["export", "--help"], ["<database>", "<table>", "EXIT CODES:"]),
    ]) func help(arguments: [String], names: [String]) async throws
  {
    let run = try await Tool.run(arguments, in: folder)
    #expect(run.status == 0)
    #expect(run.errors.isEmpty)
    #expect(run.output.contains("EXAMPLES:"))
    let text = run.output.joined(separator: "\n")
    for name in names { #expect(text.contains(name)) }
  }

  @Test("'help' and --help print the same, and no placeholder repeats the name of its option")
  func placeholders() async throws {
    let list = try await Tool.run("--help", in: folder).output.drop { $0 != "SUBCOMMANDS:" }
    let commands = list.compactMap { line in line.firstMatch(of: #/^  (\w+)  /#).map { String($0.1) } }
    #expect(commands.count > 1)
    for command in commands where command != "help" {
      let help = try await Tool.run("help", command, in: folder)
      #expect(help.status == 0)
      #expect(help.output == (try await Tool.run(command, "--help", in: folder)).output)
      for line in help.output {
        for option in line.matches(of: #/--([a-z-]+)(?:, --[a-z-]+)* <([^>]+)>/#) {
          #expect(option.1 != option.2, "headway \(command): \(line)")
        }
      }
    }
  }

  @Test(
    "I13: the help of a command lists its exit codes, each on a separate line",
    arguments: exitCodesOfCommands)
  func exitCodes(command: String, codes: [Int]) async throws {
    let help = try await Tool.run(command, "--help", in: folder).output
    let list = help.drop { !$0.hasPrefix("EXIT CODES") }.dropFirst().prefix { !$0.isEmpty }
    let listed = list.compactMap { line in line.firstMatch(of: #/^  (\d+) +\w/#).flatMap { Int($0.1) } }
    #expect(listed == codes)
  }

  @Test("The help of the check lists only options that it accepts and does not mention imports")
  func optionsOfCheck() async throws {
    let help = try await Tool.run("check", "--help", in: folder).output.joined(separator: " ")
    for text in ["--columns", "--header", "--no-header", "--skip-lines", "--column-type", "an import"] {
      #expect(!help.contains(text), "\(text)")
    }
    let refused = try await Tool.run("check", "feed", "--skip-lines", "1", in: folder)
    #expect(refused.status == 64 && refused.errors.first?.contains("Unknown option '--skip-lines'") == true)
  }

  @Test("--version prints a version") func version() async throws {
    let run = try await Tool.run("--version", in: folder)
    #expect(run.status == 0)
    #expect(run.output.count == 1)
    #expect(run.output.first?.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
  }
}
#endif
