#if SQLite
import HeadwayTestSupport
import Testing

@Suite("The tool's export", .hangLimit)
struct ExportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("I8: a table is written to standard output, or to a file") func export() async throws {
    try folder.write("id,name\n1,Al\n2,\"B, C\"\n", to: "people.csv")
    #expect(try await Tool.run("import", "people.csv", "db", "-q", in: folder).status == 0)
    let run = try await Tool.run("export", "db", "people", in: folder)
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.output == ["id,name", "1,Al", "2,\"B, C\""])
    let other = try await Tool.run(
      "export", "db", "people", "-o", "out.csv", "--columns", "name", "--delimiter", "tab", "--no-header", in: folder)
    #expect(other.status == 0 && other.output == ["out.csv: 2 rows."])
    #expect(try folder.text(of: "out.csv") == "Al\nB, C\n")
  }

  @Test("I8: each error exits with its own code and one line") func errors() async throws {
    try folder.write("id\n1\n", to: "people.csv")
    _ = try await Tool.run("import", "people.csv", "db", "-q", in: folder)
    let cases: [([String], Int32)] = [
      (["export", "none", "people"], 66), (["export", "db", "nobody"], 65),
      (["export", "db", "people", "-o", "no/folder.csv"], 73), (["export", "db", "people", "--delimiter", "ab"], 64),
    ]
    for (arguments, status) in cases {
      let tool = try Tool(arguments, in: folder)
      let run = await tool.finish()
      #expect(run.status == status && run.errors.count == 1, "\(arguments): \(run.status) \(run.errors)")
    }
  }
}
#endif
