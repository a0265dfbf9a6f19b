import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let backfills = [
    JobStoreCheck("J251: if a schedule has a jitter, the offset of a job depends on the schedule's name and the tick") {
      probe in
      let start = probe.store.now
      let jitter = Duration.seconds(30)
      let job = probe.job(options: [.delay(.seconds(40))])
      try await probe.set("jitter", .every(.seconds(60)), jitter: jitter, job: job)
      for number in 1...3 {
        try await probe.pass(.seconds(60))
        let tick = start + .seconds(60 * number)
        let offset = ScheduleTransitions.offset(ofTick: tick, of: "jitter", within: jitter)
        try probe.expect(offset >= .zero && offset <= jitter, true, "whether the offset is in its range")
        let last = try await probe.store.jobs(.all, after: nil, limit: 9).last
        try probe.expect(last?.settings.tick?.time, tick, "the tick")
        try probe.expect(last?.dueTime, tick + .seconds(40) + offset, "the due time")
      }
      let added = try await probe.store.perform(.run, on: "jitter").job
      let now = probe.store.now
      let due = try await probe.store.jobs(JobFilter(ids: added.map { [$0] }), after: nil, limit: 9).last?.dueTime
      try probe.expect(due, now + .seconds(40), "the due time of a job that was requested")
    },
    JobStoreCheck("J252: a backfill adds the ticks before the schedule was set, and each tick once") { probe in
      let start = probe.store.now
      try await probe.set("hourly", .cron("0 * * * *"))
      func hours(_ hours: Int) -> StoreTime { start + .seconds(3_600 * hours) }
      func expectBackfill(_ begin: Int, _ end: Int, _ count: Int) async throws {
        let command = ScheduleCommand.backfill(from: hours(begin), through: hours(end))
        let answer = try await probe.store.perform(command, on: "hourly")
        try probe.expect(answer, ScheduleAnswer(isFound: true, addedCount: count), "the answer for \(begin)...\(end)")
      }
      try await expectBackfill(-4, -1, 4)
      try await expectBackfill(-4, -1, 0)
      // Ticks in the future are not added.
      try await expectBackfill(-5, 1, 2)
      try await probe.pass(.seconds(3_600))
      try await expectBackfill(-10, 1, 5)
      try await expectBackfill(-10, 10, 0)
      let expected = [-4, -3, -2, -1, -5, 0, 1, -10, -9, -8, -7, -6].map(hours)
      try probe.expect(try await probe.tickTimes("hourly"), expected, "the ticks")
      let listed = try await probe.fixture.openAgain().schedules()
      try probe.expect(listed, try await probe.store.schedules(), "the schedules in another process")
    },
    JobStoreCheck("J252: a backfill adds missed ticks and the ticks of a pause") { probe in
      let start = probe.store.now
      func expectBackfill(_ count: Int, _ what: String) async throws {
        let command = ScheduleCommand.backfill(from: start, through: probe.store.now)
        let answer = try await probe.store.perform(command, on: "minute")
        try probe.expect(answer, ScheduleAnswer(isFound: true, addedCount: count), what)
      }
      try await probe.set("minute", .every(.seconds(60)))
      try await probe.pass(.seconds(185))
      let job = try await probe.schedule("minute").lastJob
      try await expectBackfill(2, "the answer after missed ticks")
      try await expectBackfill(0, "the second answer")
      _ = try await probe.store.perform(.setPaused(true), on: "minute")
      probe.fixture.advanceClock(by: .seconds(120))
      try await expectBackfill(2, "the answer during a pause")
      probe.fixture.advanceClock(by: .seconds(60))
      _ = try await probe.store.perform(.setPaused(false), on: "minute")
      try await expectBackfill(1, "the answer after a pause")
      try await expectBackfill(0, "the last answer")
      let expected = [180, 60, 120, 240, 300, 360].map { start + .seconds($0) }
      try probe.expect(try await probe.tickTimes("minute"), expected, "the ticks")
      let schedule = try await probe.schedule("minute")
      try probe.expect(schedule.lastJob, job, "the last job, which a backfill does not change")
      try probe.expect(schedule.lastTickTime, start + .seconds(180), "the last tick")
      try probe.expect(schedule.nextTickTime, start + .seconds(420), "the next tick")
    },
    JobStoreCheck("J252: a backfill adds no tick that is due or was skipped because of an unfinished job") { probe in
      let start = probe.store.now
      try await probe.set("skip", .every(.seconds(60)), overlap: .skip)
      try await probe.pass(.seconds(60))
      try await probe.pass(.seconds(60))
      try await probe.set("due", .every(.seconds(60)), missed: .none)
      probe.fixture.advanceClock(by: .seconds(60))
      let command = ScheduleCommand.backfill(from: start, through: start + .seconds(3_600))
      for name in ["skip", "due"] {
        let answer = try await probe.store.perform(command, on: name)
        try probe.expect(answer, ScheduleAnswer(isFound: true, addedCount: 0), "the answer of \(name)")
      }
      try probe.expect(try await probe.tickTimes("skip"), [start + .seconds(60)], "the ticks that skip")
      try probe.expect(try await probe.tickTimes("due"), [start + .seconds(180)], "the tick that was due")
      let unknown = try await probe.store.perform(command, on: "unknown")
      try probe.expect(unknown, ScheduleAnswer(isFound: false), "the answer for an unknown schedule")
    },
    JobStoreCheck("J252, J185: a transaction of a backfill adds at most 1,000 jobs") { probe in
      let limit = JobCommand.maxChangedCount
      let start = probe.store.now
      try await probe.set("minute", .cron("* * * * *"))
      let command = ScheduleCommand.backfill(from: start + .seconds(-60 * (limit + 4)), through: start)
      let expected = [
        ScheduleAnswer(isFound: true, addedCount: limit, hasMore: true), ScheduleAnswer(isFound: true, addedCount: 5),
        ScheduleAnswer(isFound: true, addedCount: 0),
      ]
      for (number, expected) in expected.enumerated() {
        try probe.expect(try await probe.store.perform(command, on: "minute"), expected, "answer \(number)")
      }
      let ticks = try await probe.tickTimes("minute")
      try probe.expect(ticks, (0..<limit + 5).map { start + .seconds(60 * ($0 - limit - 4)) }, "the ticks")
    },
    JobStoreCheck("J252: processes that backfill the same period at the same time add each tick once") { probe in
      let stores = [probe.store, try await probe.fixture.openAgain()]
      let start = probe.store.now
      try await probe.set("minute", .cron("* * * * *"))
      let command = ScheduleCommand.backfill(from: start + .seconds(-29 * 60), through: start)
      let count = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<6 {
          group.addTask { try await stores[number % 2].perform(command, on: "minute").addedCount ?? 0 }
        }
        return try await group.reduce(0, +)
      }
      try probe.expect(count, 30, "the number of jobs that were added")
      try probe.expect(try await probe.tickTimes("minute").count, 30, "the number of ticks")
    },
  ]
}
