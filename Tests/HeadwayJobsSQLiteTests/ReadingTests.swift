#if Jobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// How much of the database one read examines.
@Suite(.hangLimit) struct SQLiteReadingTests {
  @Test("J280: a read compares a limited number of payloads, and the next read continues")
  func parts() async throws {
    let fixture = try SQLiteFixture()
    let new = NewJob(kind: "test", payload: JobPayload(bytes: [1]), options: [])
    let ids = try await fixture.sqlite.enqueue(Array(repeating: new, count: 2_100)).map(\.id)
    let other = NewJob(kind: "test", payload: JobPayload(bytes: Array("found".utf8)), options: [])
    let last = try await fixture.sqlite.enqueue([other])[0].id
    let filter = JobFilter(payload: "found")
    let first = try await fixture.sqlite.readState { try $0.jobs(filter, after: nil, limit: 10) }
    #expect(first.jobs.isEmpty && first.next == ids[1_999], "\(String(describing: first.next))")
    let second = try await fixture.sqlite.readState { try $0.jobs(filter, after: first.next, limit: 10) }
    #expect(second.jobs.map(\.id) == [last] && second.next == nil)
    #expect(try await fixture.sqlite.jobs(filter, after: nil, limit: 10).map(\.id) == [last])
    await fixture.close()
  }
}
#endif
