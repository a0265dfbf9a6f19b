import FoundationEssentials
import Headway
@_spi(JobStore) import HeadwayJobs
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
    let handle = try await jobs.enqueue(Sum(left: 1, right: 2), .startDate(date(after: .seconds(60))))
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
    let handle = try await jobs.enqueue(Sum(left: 1, right: 2), .startDate(date(after: .seconds(-60))))
    #expect(try await handle.job()?.state == .waiting)
  }

  @Test("J291: if a job has a delay and a start date, the later of the two determines when the job is due")
  func both() async throws {
    let date = date(after: .seconds(60))
    let delayed = try await jobs.enqueue(Sum(left: 1, right: 2), .startDate(date), .delay(.seconds(10)))
    #expect(try await dueTime(of: delayed) == .seconds(10))
    let dated = try await jobs.enqueue(Sum(left: 1, right: 2), .delay(.seconds(10)), .startDate(date))
    #expect(try await dueTime(of: dated) == .seconds(60))
    let twice = try await jobs.enqueue(Sum(left: 1, right: 2), .delay(.seconds(10)), .delay(.seconds(20)))
    #expect(try await dueTime(of: twice) == .seconds(20))
  }

  @Test("J291: a start date of the call replaces the delay of the type, and a delay replaces its start date")
  func ofType() async throws {
    let date = date(after: .seconds(60))
    #expect(try await dueTime(of: jobs.enqueue(Late())) == .seconds(5))
    #expect(try await dueTime(of: jobs.enqueue(Late(), .startDate(date))) == .seconds(60))
    let dated: JobOptions = [.startDate(date)]
    #expect(try await dueTime(of: jobs.enqueue(Late(), .options(dated), .delay(.seconds(1)))) == .seconds(1))
    let new = try NewJob(Dated(), options: [.delay(.seconds(1))])
    #expect((new.delay, new.startTime) == (.seconds(1), nil))
    #expect(try NewJob(Dated(), options: []).startTime == StoreTime(Dated.date))
  }

  @Test("J250: a schedule has no start time, and keeps the delay of the type")
  func schedule() async throws {
    try await jobs.schedule("late", .every(.seconds(60)), job: Late(), .startDate(date(after: .seconds(60))))
    let id = try await jobs.runSchedule("late")
    #expect(try await jobs.job(id)?.dueTime == workshop.store.now + .seconds(5))
  }
}

private struct Late: Job {
  static let kind: JobKind = "late"
  static var options: JobOptions { [.delay(.seconds(5))] }

  func perform(in context: JobContext) async throws {}
}

private struct Dated: Job {
  static let kind: JobKind = "dated"
  static let date = Date(timeIntervalSince1970: 1_900_000_000)
  static let options: JobOptions = [.startDate(date)]

  func perform(in context: JobContext) async throws {}
}
