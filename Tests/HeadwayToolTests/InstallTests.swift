#if SQLite && !os(Windows)
import Foundation
import HeadwayTestSupport
import Testing

@Suite("script/install", .hangLimit)
struct InstallTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Runs the script; returns its exit status and its output.
  private func install(_ arguments: String...) throws -> (status: Int32, output: String) {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = package.appending(path: "script/install")
    process.arguments = arguments
    process.currentDirectoryURL = URL(filePath: folder.path)
    (process.standardOutput, process.standardError) = (pipe, pipe)
    try process.run()
    let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, output)
  }

  @Test("The tool, completions for three shells and a manual page can be installed repeatedly")
  func files() async throws {
    let tool = try Tool.executable().path
    for _ in 1...2 {
      let (status, output) = try install("--prefix", "a prefix", "--tool", tool)
      #expect(status == 0, "\(output)")
    }
    let installed = Process()
    installed.executableURL = URL(filePath: "\(folder.path)/a prefix/bin/headway")
    installed.arguments = ["--version"]
    installed.standardOutput = Pipe()
    try installed.run()
    installed.waitUntilExit()
    #expect(installed.terminationStatus == 0)
    for (file, text) in [
      ("bash-completion/completions/headway", "--output"), ("zsh/site-functions/_headway", "#compdef headway"),
      ("fish/vendor_completions.d/headway.fish", "batch-size"),
    ] {
      #expect(try folder.text(of: "a prefix/share/\(file)").contains(text), "\(file)")
    }
  }

  @Test("The manual page contains the options and examples that the help lists") func manual() async throws {
    let (status, output) = try install("--prefix", "x", "--tool", Tool.executable().path)
    #expect(status == 0, "\(output)")
    let page = try folder.text(of: "x/share/man/man1/headway.1")
    let plain = page.replacing("\\-", with: "-")
    #expect(plain.hasPrefix(".TH HEADWAY 1\n"))
    for command in ["import", "sample"] {
      #expect(plain.contains(".SH HEADWAY \(command.uppercased())"))
      let help = try await Tool.run(command, "--help", in: folder)
      let options = help.output.compactMap { $0.firstMatch(of: /^  (?:-\w, )?(--[a-z-]+)/)?.1 }
      #expect(options.count > 3)
      for option in options { #expect(plain.contains(option), "\(option)") }
      for example in help.output where example.hasPrefix("  headway") { #expect(plain.contains(example)) }
    }
  }

  @Test("Usage errors of the script, and a tool that can't be run, exit with 64") func wrongUse() throws {
    for arguments in [["--prefix"], ["--fast"], ["--tool", "nothing"]] {
      let (status, output) =
        arguments.count == 2 ? try install(arguments[0], arguments[1]) : try install(arguments[0])
      #expect(status == 64 && output.hasPrefix("script/install: "), "\(output)")
    }
  }
}
#endif
