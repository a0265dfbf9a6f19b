#if Jobs
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

/// Schedules that another version of Headway may have written.
@Suite(.hangLimit) struct ScheduleStoreTests {
  @Test("J71: a schedule that can't be read loses no tick, and does not delay other schedules")
  func unreadable() async throws {
    let fixture = try SQLiteFixture()
    let store = fixture.sqlite
    let start = store.now
    let job = NewJob(kind: "test", version: 1, payload: JobPayload(bytes: [1]))
    let definition = ScheduleDefinition(.every(.seconds(60)), job: job)
    for name in ["a", "b"] { _ = try await store.perform(.set(definition), on: name) }
    let connection = try Connection(fixture.path)
    try connection.execute("UPDATE headway_schedule SET definition = x'00' WHERE name = 'a'")
    fixture.advanceClock(by: .seconds(60))
    #expect(try await store.advance() == start + .seconds(120))
    var ticks = try await store.jobs(.all, after: nil, limit: 9).map(\.settings.tick)
    #expect(ticks == [JobTick(schedule: "b", time: start + .seconds(60))])
    let error = await #expect(throws: JobError.self) { try await store.schedules() }
    #expect(error?.code == .undecodablePayload)
    // A program with the schedule's type sets it again.
    fixture.advanceClock(by: .seconds(10))
    #expect(try await store.perform(.set(definition), on: "a") == ScheduleAnswer(isFound: true))
    _ = try await store.advance()
    ticks = try await store.jobs(.all, after: nil, limit: 9).map(\.settings.tick)
    #expect(ticks.last == JobTick(schedule: "a", time: start + .seconds(60)))
    connection.close()
    await fixture.close()
  }
}
#endif
