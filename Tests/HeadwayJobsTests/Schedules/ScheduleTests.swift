import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit
import Testing

/// Schedules with a worker.
@Suite struct ScheduleTests {
  @Test("J74: a worker runs the jobs of a schedule, which contain their ticks")
  func worker() async throws {
    let workshop = Workshop()
    let log = Log()
    let start = workshop.store.now
    try await workshop.jobs.schedule("often", .every(.seconds(5)), job: Scheduled())
    try await Log.$current.withValue(log) {
      let worker = workshop.worker(Scheduled.self)
      try await workshop.run(worker) {
        for id in 1...2 {
          try await workshop.advance(until: JobID(rawValue: Int64(id)), is: .succeeded)
        }
        let id = try await workshop.jobs.enqueue(Scheduled()).id
        try await workshop.advance(until: id, is: .succeeded)
      }
    }
    let expected = [start + .seconds(5), start + .seconds(10)].map { "\($0)" }
    // Jobs of different ticks can run at the same time.
    #expect(expected.allSatisfy(log.entries.contains))
    #expect(log.entries.contains("no tick"))
  }

  @Test("J75: after a schedule is changed, a hint makes the workers read it")
  func hints() async throws {
    let workshop = Workshop()
    let log = Log()
    let token = workshop.store.observeHints { log.append("\($0)") }
    defer { withExtendedLifetime(token) {} }
    let jobs = workshop.jobs
    try await jobs.schedule("name", .every(.seconds(5)), job: Scheduled())
    try await jobs.pauseSchedule("name")
    try await jobs.resumeSchedule("name")
    #expect(log.entries == ["scheduled", "scheduled", "scheduled"])
  }

  @Test("J75: schedules are changed by name, and a name without a schedule is rejected")
  func names() async throws {
    let jobs = Workshop().jobs
    try await jobs.schedule("name", .every(.seconds(5)), job: Scheduled())
    #expect(try await jobs.schedules().map(\.name) == ["name"])
    try await jobs.pauseSchedule("name")
    #expect(try await jobs.schedules()[0].isPaused)
    try await jobs.resumeSchedule("name")
    #expect(try await jobs.schedules()[0].isPaused == false)
    let id = try await jobs.runSchedule("name")
    #expect(try await jobs.job(id)?.kind == Scheduled.kind)
    #expect(try await jobs.removeSchedule("name"))
    #expect(try await jobs.removeSchedule("name") == false)
    for change in [jobs.pauseSchedule, jobs.resumeSchedule, { _ = try await jobs.runSchedule($0) }] {
      let error = await #expect(throws: JobError.self) { try await change("name") }
      #expect(error?.code == .unknownSchedule)
    }
  }

  @Test("J70: a schedule applies its options to its jobs, except for dates")
  func options() async throws {
    let jobs = Workshop().jobs
    let date = jobs.store.now.date
    let options: JobOptions = [.queue("other"), .priority(.high), .startDate(date), .deadline(date), .label("label")]
    try await jobs.schedule("name", .every(.seconds(5)), job: Scheduled(), .options(options))
    let job = try await jobs.schedules()[0].definition.job
    let expected = try NewJob(Scheduled(), options: [.queue("other"), .priority(.high), .label("label")])
    #expect(job == expected)
  }

  @Test("J70: a job that is too large can't be scheduled")
  func size() async throws {
    let jobs = Jobs(MemoryJobStore(maxPayloadSize: 1))
    let error = await #expect(throws: JobError.self) {
      try await jobs.schedule("name", .every(.seconds(5)), job: Scheduled())
    }
    #expect(error?.code == .payloadTooLarge)
    #expect(try await jobs.schedules().isEmpty)
  }

  @Test("J70: definitions can be stored")
  func stored() throws {
    let job = try NewJob(Scheduled(), options: [.unique(.unfinished("key"))])
    let schedules = [
      JobSchedule.every(.milliseconds(1_500)), try .cron("@daily"), .cron(try CronExpression("1 2 3 4 5")),
    ]
    for schedule in schedules {
      let definition = ScheduleDefinition(
        schedule, missed: .all(limit: 7), overlap: .skip, jitter: .milliseconds(2_500), job: job)
      #expect(try ScheduleDefinition(stored: definition.stored) == definition)
    }
    #expect(schedules.map(\.description) == ["every 1.5 seconds", "@daily GMT", "1 2 3 4 5 GMT"])
  }

  @Test("J70: intervals under a second are a precondition failure")
  func interval() async { await #expect(processExitsWith: .failure) { _ = JobSchedule.every(.milliseconds(999)) } }
}

private struct Scheduled: Job {
  static let kind: JobKind = "scheduled"

  func perform(in context: JobContext) async throws {
    Log.current.append(context.scheduledDate.map { "\(StoreTime($0))" } ?? "no tick")
  }
}
