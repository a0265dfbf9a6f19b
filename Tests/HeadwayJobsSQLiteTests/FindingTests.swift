#if Jobs
import FoundationEssentials
import GRDBSQLite
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The numbers that the checks of a database report.
@Suite(.hangLimit) struct FindingTests {
  @Test(
    "J109: the free space is the number of free blocks times their size",
    arguments: [
      (25_000_000, 4_096, JobsHealth.Level.good, "97,656"), (262_144, 4_096, .good, "1,024"),
      (262_143, 4_096, .warning, "1,023"), (3_000, 1_048_576, .good, "3,000"), (5_000, 512, .warning, "2"),
      (0, 4_096, .warning, "0"), (1 << 40, 65_536, .good, "68,719,476,736"),
      (.max, .max, .good, "1,000,000,000,000,000"),
    ] as [(UInt64, UInt64, JobsHealth.Level, String)])
  func freeSpace(count: UInt64, size: UInt64, level: JobsHealth.Level, megabytes: String) {
    let finding = JobsHealth.Finding(freeBlocks: count, ofSize: size)
    #expect(finding == .init(level: level, name: "Space", text: "The disk has \(megabytes) MB of free space."))
  }

  @Test("J109: the findings describe the free space of the store's disk, its log size and its library version")
  func database() async throws {
    let fixture = try SQLiteFixture()
    // Other programs write to the disk in the meantime, so the number is compared with the numbers before and after.
    func free() throws -> Double {
      var status = statvfs()
      try #require(statvfs(fixture.path, &status) == 0)
      return Double(status.f_bavail) / (1_048_576 / Double(status.f_frsize))
    }
    let jobs = Jobs(fixture.store)
    try await jobs.enqueue(contentsOf: (0..<64).map { _ in Large(text: String(repeating: "x", count: 60_000)) })
    let before = try free()
    let health = try await jobs.health()
    let after = try free()
    func number(_ name: String) throws -> Double {
      let text = try #require(health.findings.first { $0.name == name }).text
      return try #require(Double(text.filter(\.isNumber)))
    }
    let space = try number("Space")
    #expect(space <= max(before, after) * 1.5 + 64, "\(before) MB before, \(after) MB after")
    #expect(space >= min(before, after) / 1.5 - 64, "\(before) MB before, \(after) MB after")
    let size = try #require(FileManager.default.attributesOfItem(atPath: fixture.path + "-wal")[.size] as? Int)
    #expect(size > 3_000_000)
    #expect(try number("Log") == Double(size / 1_048_576))
    let version = health.findings.first { $0.name == "Version" }?.text
    #expect(version?.hasPrefix("SQLite \(String(cString: sqlite3_libversion())).") == true)
    await fixture.close()
  }

  private struct Large: Job {
    static let kind: JobKind = "large"
    var text: String

    func perform(in context: JobContext) async throws {}
  }
}
#endif
