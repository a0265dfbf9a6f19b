#if SQLite && Lab
import HeadwayTestSupport
import Testing

@Suite("headway lab", .hangLimit)
struct LabCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("An address that can't be used is reported in one line with exit code 69") func listening() async throws {
    // This address is reserved for examples, so no machine has it (RFC 5737).
    let run = try await Tool.run("lab", "--listen", "192.0.2.1", "--port", "0", in: folder)
    #expect(run.status == 69)
    #expect(run.errors == ["headway: Can't listen on 192.0.2.1:0: Cannot assign requested address."])
  }

  @Test("The command exits with 66 if the feed is missing") func missingFeed() async throws {
    let run = try await Tool.run("lab", "--port", "0", "--feed", "nothing", in: folder)
    #expect(run.status == 66)
    #expect(run.errors == ["headway: nothing: There is no such folder."])
  }
}
#endif
