#if SQLite && Dashboard
import HeadwayTestSupport
import Testing

@Suite("headway dashboard", .hangLimit)
struct DashboardCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("J150: the command exits with 66 if the store is missing, and with 65 if the database contains no jobs")
  func missingStore() async throws {
    let missing = try await Tool.run("dashboard", "--store", "nothing.sqlite", "--port", "0", in: folder)
    #expect(missing.status == 66)
    #expect(missing.errors == ["headway: nothing.sqlite: There is no such file."])
    try folder.write("", to: "empty.sqlite")
    let empty = try await Tool.run("dashboard", "--store", "empty.sqlite", "--port", "0", in: folder)
    #expect(empty.status == 65)
  }
}
#endif
