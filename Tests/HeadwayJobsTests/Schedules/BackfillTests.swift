import FoundationEssentials
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit
import Testing

/// Jitter and backfills of schedules.
@Suite struct BackfillTests {
  private let workshop = Workshop()

  private var jobs: Jobs { workshop.jobs }

  @Test("J251: offsets are spread over the whole jitter, and differ between schedules")
  func offsets() {
    let ticks = (0..<1_000).map { StoreTime(microseconds: Int64(1_800_000_000 + 60 * $0) * 1_000_000) }
    func offsets(_ name: String) -> [Duration] {
      ticks.map { ScheduleTransitions.offset(ofTick: $0, of: name, within: .microseconds(9)) }
    }
    // Each of the 10 offsets is expected 100 times.
    for offset in 0...9 {
      let count = offsets("a").count { $0 == .microseconds(offset) }
      #expect((50...150).contains(count), "\(offset): \(count)")
    }
    #expect(offsets("a") == offsets("a"))
    #expect(offsets("a") != offsets("b"))
    #expect(ticks.allSatisfy { ScheduleTransitions.offset(ofTick: $0, of: "a", within: .zero) == .zero })
  }

  @Test("J251: a jitter below zero is a precondition failure")
  func negativeJitter() async {
    await #expect(processExitsWith: .failure) {
      let jobs = Jobs(MemoryJobStore())
      try await jobs.schedule("name", .every(.seconds(5)), jitter: .seconds(-1), job: Sum(left: 1, right: 2))
    }
  }

  @Test("J252: a backfill continues until all jobs of the period are added")
  func manyTicks() async throws {
    try await jobs.schedule("minute", .cron("* * * * *"), job: Sum(left: 1, right: 2))
    let now = workshop.store.now.date
    let start = now.addingTimeInterval(-60 * 2_499)
    let count = try await jobs.backfill("minute", from: start, to: now)
    #expect(count == 2_500)
    #expect(try await jobs.backfill("minute", from: start, to: now) == 0)
    #expect(try await jobs.counts()["default"]?[.waiting] == count)
  }

  @Test("J252: jobs that are not added because their key is held are not counted, and their ticks are not added later")
  func heldKey() async throws {
    let options: JobOptions = [.unique(.unfinished("key"))]
    try await jobs.schedule("hourly", .cron("0 * * * *"), job: Sum(left: 1, right: 2), .options(options))
    let now = workshop.store.now.date
    let start = now.addingTimeInterval(-10 * 3_600)
    #expect(try await jobs.backfill("hourly", from: start, to: now) == 1)
    try await jobs.cancel(.all)
    #expect(try await jobs.backfill("hourly", from: start, to: now) == 0)
  }

  @Test("J252: a schedule remembers 64 gaps, and adds no tick of a forgotten gap twice")
  func manyPeriods() async throws {
    try await jobs.schedule("minute", .cron("* * * * *"), job: Sum(left: 1, right: 2))
    let end = 1_800_000_000
    func backfill(_ begin: Int, _ end: Int) async throws -> Int {
      try await jobs.backfill(
        "minute", from: Date(timeIntervalSince1970: Double(begin)), to: Date(timeIntervalSince1970: Double(end)))
    }
    for number in 0..<100 {
      let time = end - 86_400 + 240 * number
      #expect(try await backfill(time, time) == 1)
    }
    #expect(try await jobs.schedules()[0].gaps.count == 64)
    _ = try await backfill(end - 2 * 86_400, end)
    let ticks = try await jobs.jobs(limit: 10_000).compactMap(\.settings.tick?.time)
    #expect(Set(ticks).count == ticks.count)
    #expect(try await backfill(end - 2 * 86_400, end) == 0)
  }

  @Test("J252: a backfill of an unknown schedule fails, and a period that ends before it begins is a misuse")
  func misuse() async throws {
    let date = Date(timeIntervalSince1970: 1_800_000_000)
    let error = await #expect(throws: JobError.self) { try await jobs.backfill("name", from: date, to: date) }
    #expect(error?.code == .unknownSchedule)
    await #expect(processExitsWith: .failure) {
      let date = Date(timeIntervalSince1970: 1_800_000_000)
      try await Jobs(MemoryJobStore()).backfill("name", from: date, to: date.addingTimeInterval(-1))
    }
  }
}
