#if SQLite && Compression
import ArgumentParser
import Foundation
import HeadwayDrawing
import HeadwayHTTPTestSupport
import HeadwayTestSupport
import Testing
@testable import HeadwayTool

#if HTTP
import NIOHTTP1
#endif

/// Runs the examples that the help prints, as a shell does, on small files with the names that they use.
@Suite("Examples in the tool's help", .hangLimit)
struct HelpExampleTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The examples in the help of a command; empty for the tool itself.
  private func examples(of command: String) async throws -> [String] {
    let help = try await Tool.run(command.isEmpty ? ["--help"] : [command, "--help"], in: folder)
    let lines = help.output.drop { $0 != "EXAMPLES:" }.dropFirst().prefix { !$0.isEmpty }
    #expect(lines.count > 2)
    for line in lines { #expect(line.hasPrefix("  headway \(command)")) }
    return lines.map { String($0.dropFirst(2)) }
  }

  /// Runs an example; expects success, and no error of the shell.
  ///
  /// - Parameters:
  ///   - example: The command line to run.
  ///   - server: The URL that replaces that of the host in the examples.
  /// - Returns: The lines that the example prints.
  /// - Throws: An error if the shell can't be started, or if the example does not run the tool.
  @discardableResult
  private func run(_ example: String, server: String = "") async throws -> [String] {
    // The tests do not depend on jq, whose output differs only in its format. The exit status of the example is the
    // tool's, even if the tool is the first part of a pipe.
    let script = """
      headway() { "$0" "$@"; echo $? > status; }
      jq() { cat; }
      { \(example.replacing("https://example.org", with: server))
      } < standard-input
      """
    try folder.write("id;name\n4;Dee\n", to: "standard-input")
    try folder.remove("status")
    let run = try await Tool([], in: folder, launcher: ["/bin/sh", "-c", script]).finish()
    #expect(run.status == 0, "\(example): \(run.errors)")
    #expect(try folder.text(of: "status") == "0\n", "\(example): \(run.errors)")
    return run.output
  }

  private func names(in name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/\(name)").sorted()
  }

  private func writeFeeds() async throws {
    for (name, seed) in [("vbb-2020", "1"), ("vbb-2021", "2")] {
      let sample = try await Tool.run("sample", name, "--stop-times", "200", "--seed", seed, in: folder)
      #expect(sample.status == 0)
    }
    let files = try names(in: "vbb-2020").map { (name: $0, text: try folder.text(of: "vbb-2020/\($0)")) }
    for name in ["vbb.zip", "swiss.zip", "feed.zip"] { try folder.write(zipped(files), to: name) }
    try folder.write(folder.bytes(of: "vbb-2020/stops.txt"), to: "stops.txt")
  }

  // MARK: Examples that run

  #if HTTP
  @Test("Each example in the help of the import imports its files") func imports() async throws {
    try await writeFeeds()
    try folder.write("id;name\n1;Ada\n2;Bob\n", to: "people.csv")
    try folder.write("id;name\n3;Cem\n", to: "more.csv")
    try folder.write(compressed(Array("town\nUlm\n".utf8), by: "gzip"), to: "towns.csv.gz")
    try folder.write("item;price\nchair;1.234,50\n", to: "prices.csv")
    for name in ["data/a.csv", "log-1.csv", "log-2.csv"] { try folder.write("x,y\n1,2\n", to: name) }
    let archive = Array(try folder.bytes(of: "feed.zip"))
    try await withServer { _ in
      LoopbackServer.answer(.ok, [:], archive)
    } _: { server in
      for example in try await examples(of: "import") {
        // The examples for feeds are independent of each other. Those for people.csv follow one another.
        try folder.remove("vbb.sqlite", "europe.sqlite")
        try await run(example, server: server.url(""))
        let words = example.split(separator: " ")
        guard !words.contains("--dry-run"), let database = words.first(where: { $0.hasSuffix(".sqlite") }) else {
          continue
        }
        let tables = try folder.query("SELECT name FROM sqlite_master WHERE type = 'table'", in: String(database))
        #expect(tables.count > 1, "\(example)")  // One table is the history of the imports.
      }
      #expect(server.questions.map(\.path) == ["/feed.zip"])
    }
    #expect(
      try folder.query("SELECT id, name FROM people ORDER BY id", in: "people.sqlite")
        == [["1", "Ada"], ["2", "Bob"], ["3", "Cem"], ["4", "Dee"]])
    #expect(try folder.query("SELECT price FROM prices", in: "shop.sqlite") == [["1234.5"]])
    #expect(try folder.rowCount(of: "log", in: "logs.sqlite") == 2)
    #expect(try folder.rowCount(of: "towns", in: "registry.sqlite") == 1)
  }

  @Test("Each example in the help of the download downloads its files") func downloads() async throws {
    // The SHA-256 checksum of the content.
    try folder.write("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n", to: "feed.sha256")
    try await withServer { _ in
      LoopbackServer.answer(.ok, [:], Array("abc".utf8))
    } _: { server in
      for example in try await examples(of: "fetch") {
        try folder.remove("feed.zip", "downloads", "a.zip", "b.zip")
        try await run(example, server: server.url(""))
        let files = example.contains("/a.zip") ? ["a.zip", "b.zip"] : ["feed.zip"]
        for name in files {
          let path = example.contains("--into downloads") ? "downloads/\(name)" : name
          #expect(try folder.text(of: path) == "abc", "\(example)")
        }
      }
      #expect(server.questions.contains { $0.header("Authorization") == "Bearer TOKEN" })
      #expect(server.questions.contains { $0.path == "/feed?year=2026" })
    }
  }
  #endif

  @Test("Each example in the help of the check finds no error in a generated feed") func checks() async throws {
    try await writeFeeds()
    for example in try await examples(of: "check") {
      let output = try await run(example)
      #expect(output.last?.contains(example.contains("json") ? "\"errors\":0" : ": 0 errors, ") == true, "\(output)")
    }
  }

  @Test("Each example in the help of the export exports its table") func exports() async throws {
    try await writeFeeds()
    #expect(try await Tool.run("import", "stops.txt", "vbb.sqlite", in: folder).status == 0)
    let rows = try folder.rowCount(of: "stops", in: "vbb.sqlite")
    for example in try await examples(of: "export") {
      try folder.remove("stops.csv", "stops.tsv")
      try await run(example)
      let name = example.contains("stops.tsv") ? "stops.tsv" : "stops.csv"
      let lines = try folder.text(of: name).split(whereSeparator: \.isNewline)
      #expect(lines.count == rows + 1, "\(example)")
      #expect(lines.first?.contains(name == "stops.tsv" ? "stop_id\t" : "stop_id,") == true, "\(example)")
    }
  }

  @Test("Each example in the help of the sample writes a feed") func samples() async throws {
    for example in try await examples(of: "sample") {
      try folder.remove("feed")
      // Fewer rows, because the number makes no other difference.
      try await run(example.replacing("3000000", with: "3000"))
      #expect(try names(in: "feed").contains("stop_times.txt"), "\(example)")
    }
  }

  #if Drawing
  @Test("Each example in the help of the thumbnails draws them") func thumbnails() async throws {
    let picture = try Image(width: 60, height: 40) { $0.fill($0.bounds, with: .color(.red)) }
    _ = try folder.write("", to: "photos/notes.txt")
    for name in ["photo.jpg", "photos/a.jpg", "photos/b.png"] { try picture.write(to: "\(folder.path)/\(name)") }
    for example in try await examples(of: "thumbnails") {
      try folder.remove("small", "small.jpg", "photos.png")
      try await run(example)
      #expect(folder.has(example.contains("small.jpg") ? "small.jpg" : "small/b.png"), "\(example)")
      #expect(folder.has("photos.png") == example.contains("photos.png"), "\(example)")
    }
  }
  #endif

  // MARK: Examples that do not run

  @Test("The parser accepts each example in the help of the tool, the dashboard and the lab")
  func parsed() async throws {
    // The tests of the other commands run similar examples. The lab and the dashboard wait for requests.
    var commands = [""]
    #if Lab
    commands.append("lab")
    #endif
    #if Dashboard
    commands.append("dashboard")
    #endif
    for command in commands {
      for example in try await examples(of: command) {
        let words = example.prefix { $0 != "|" }.split(separator: " ").map(String.init)
        let parsed = try HeadwayCommand.parseAsRoot(Array(words.dropFirst()))
        #expect(type(of: parsed).configuration.commandName == words[1], "\(example)")
      }
    }
  }

  @Test("There is a test for the examples of each command") func complete() async throws {
    let list = try await Tool.run("--help", in: folder).output.drop { $0 != "SUBCOMMANDS:" }
    let commands = list.compactMap { line in line.firstMatch(of: #/^  (\w+)  /#).map { String($0.1) } }
    let tested: Set = [
      "import", "check", "export", "sample", "fetch", "thumbnails", "jobs", "dashboard", "lab", "help",
    ]
    #expect(commands.count > 1 && tested.isSuperset(of: commands))
  }
}
#endif
