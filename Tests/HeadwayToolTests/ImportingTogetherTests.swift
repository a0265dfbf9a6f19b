#if SQLite
import Foundation
import HeadwayTestSupport
import Testing

/// Processes that import the same file into the same table at the same time.
@Suite("headway import: several processes", .hangLimit) struct ImportingTogetherTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(
    "I19: imports with a key that begin at the same time leave each row of the file once",
    arguments: [[], ["--ignore"], ["--append"], ["--replace"]])
  func together(policy: [String]) async throws {
    let count = 2_000
    try folder.write("id,v\n" + (0..<count).map { "\($0),text \($0)\n" }.joined(), to: "a.csv")
    let arguments = ["import", "a.csv", "db", "--table", "t", "--key", "id", "-q"] + policy
    for _ in 0..<2 {
      let tools = try (0..<2).map { _ in try Tool(arguments, in: folder) }
      var statuses: [Int32] = []
      for tool in tools { statuses.append(await tool.finish().status) }
      // An append rejects rows of the other process (3). Each import can notice the other while the table is new (75).
      #expect(Set(statuses).isSubset(of: policy == ["--append"] ? [0, 3, 75] : [0, 75]), "\(statuses)")
      #expect(
        try folder.query("SELECT count(*), count(DISTINCT id), sum(id) FROM t", in: "db") == [
          ["\(count)", "\(count)", "\(count * (count - 1) / 2)"]
        ])
    }
  }
}
#endif
