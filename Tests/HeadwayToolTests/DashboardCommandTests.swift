#if SQLite && Dashboard
import HeadwayTestSupport
import Testing

@Suite("headway dashboard", .hangLimit)
struct DashboardCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("J150: a missing store exits with 66, and a database without jobs with 65") func missingStore() async throws {
    let missing = try await Tool.run("dashboard", "--store", "nothing.sqlite", "--port", "0", in: folder)
    #expect(missing.status == 66)
    #expect(missing.errors == ["headway: nothing.sqlite: There is no such file."])
    try folder.write("", to: "empty.sqlite")
    let empty = try await Tool.run("dashboard", "--store", "empty.sqlite", "--port", "0", in: folder)
    #expect(empty.status == 65)
  }
}
#endif
