import FoundationEssentials
import Headway
import HeadwayJobs
import HeadwayTestKit
import Testing

/// Jobs that start at a given time.
@Suite struct StartTimeTests {
  private let workshop = Workshop()

  private var jobs: Jobs { workshop.jobs }

  private func date(after duration: Duration) -> Date { (workshop.store.now + duration).date }

  private func dueTime<Output>(of handle: JobHandle<Output>) async throws -> Duration? {
    let job = try await handle.job()
    guard let job, job.state == .scheduled, let time = job.dueTime else { return nil }
    return time - workshop.store.now
  }

  @Test("J250: a job runs at its start time")
  func start() async throws {
    let handle = try await jobs.enqueue(Sum(left: 1, right: 2), at: date(after: .seconds(60)))
    #expect(try await dueTime(of: handle) == .seconds(60))
    let worker = workshop.worker(Sum.self)
    workshop.clock.advance(by: .seconds(59))
    try await worker.drain()
    #expect(try await handle.job()?.state == .scheduled)
    workshop.clock.advance(by: .seconds(1))
    try await worker.drain()
    #expect(try await handle.value == 3)
  }

  @Test("J250: a start time in the past has no effect")
  func past() async throws {
    let handle = try await jobs.enqueue(Sum(left: 1, right: 2), at: date(after: .seconds(-60)))
    #expect(try await handle.job()?.state == .waiting)
  }

  @Test("J250: a delay overrides a start time, and a start time overrides a default delay")
  func both() async throws {
    let both = try await jobs.enqueue(Sum(left: 1, right: 2), delay: .seconds(10), at: date(after: .seconds(60)))
    #expect(try await dueTime(of: both) == .seconds(10))
    let late = try await jobs.enqueue(Late(), at: date(after: .seconds(60)))
    #expect(try await dueTime(of: late) == .seconds(60))
    let delayed = try await jobs.enqueue(Late())
    #expect(try await dueTime(of: delayed) == .seconds(5))
  }

  @Test("J250: a schedule has no start time, and keeps the default delay")
  func schedule() async throws {
    let options = JobOptions(startDate: date(after: .seconds(60)))
    try await jobs.schedule("late", .every(.seconds(60)), options: options, job: Late())
    let id = try await jobs.runSchedule("late")
    #expect(try await jobs.job(id)?.dueTime == workshop.store.now + .seconds(5))
  }
}

private struct Late: Job {
  static let kind: JobKind = "late"
  static var defaults: JobOptions { JobOptions(delay: .seconds(5)) }

  func perform(in context: JobContext) async throws {}
}
