import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let ticks = [
    JobStoreCheck("J70: each tick adds a job, with the options of the schedule and the time of the tick") { probe in
      let start = probe.store.now
      let job = probe.job("1", version: 2, options: [.queue("other"), .priority(.high), .tags(["x"])])
      try await probe.set("five", .cron("*/5 * * * *"), job: job)
      try probe.expect(try await probe.pass(.seconds(299)), start + .seconds(300), "the next time")
      try probe.expect(try await probe.tickTimes("five"), [], "the ticks before the first time")
      try probe.expect(try await probe.pass(.seconds(1)), start + .seconds(600), "the time after the first tick")
      try probe.expect(try await probe.pass(.seconds(1)), start + .seconds(600), "the time a second later")
      try await probe.pass(.seconds(299))
      let jobs = try await probe.store.jobs(.all, after: nil, limit: 9)
      let times = jobs.map { $0.settings.tick?.time }
      try probe.expect(times, [start + .seconds(300), start + .seconds(600)], "the ticks")
      for stored in jobs {
        var expected = JobRecord(id: stored.id, job, at: stored.enqueuedTime)
        expected.position = stored.position
        expected.settings.tick = stored.settings.tick
        try probe.expect(stored, expected, "the job of a tick")
      }
      let worker = try await probe.register()
      let claimed = try await probe.claim(9, by: worker, queue: "other", kinds: ["test": 2])
      try probe.expect(probe.numbers(claimed), probe.numbers(jobs), "the claimed jobs")
    },
    JobStoreCheck("J70: equal intervals begin when the schedule is set, and do not drift") { probe in
      probe.fixture.advanceClock(by: .microseconds(1_500_000))
      let start = probe.store.now
      try await probe.set("interval", .every(.seconds(90)))
      try await probe.pass(.seconds(100))
      try probe.expect(try await probe.pass(.seconds(85)), start + .seconds(270), "the next time")
      try probe.expect(
        try await probe.tickTimes("interval"), [start + .seconds(90), start + .seconds(180)], "the ticks")
    },
    JobStoreCheck("J71: stores that check the same tick at the same time add one job") { probe in
      let stores = [probe.store, try await probe.fixture.openAgain()]
      let start = probe.store.now
      try await probe.set("minute", .cron("* * * * *"))
      for _ in 0..<5 {
        probe.fixture.advanceClock(by: .seconds(60))
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<8 { group.addTask { _ = try await stores[number % 2].advance() } }
          try await group.waitForAll()
        }
      }
      let expected = (1...5).map { start + .seconds(60 * $0) }
      try probe.expect(try await probe.tickTimes("minute"), expected, "the ticks")
    },
    JobStoreCheck("J71: no tick is repeated after its job was deleted, or when a clock is behind") { probe in
      try await probe.set(
        "minute", .cron("* * * * *"), job: probe.job(options: [.retention(.none)]))
      try await probe.pass(.seconds(60))
      try await probe.end(probe.claimOne(by: probe.register()), .succeed(result: nil))
      try await probe.perform(.prune)
      for step in [0, -3_600, 3_600, 59] {
        try await probe.pass(.seconds(step))
        try probe.expect(try await probe.tickTimes("minute"), [], "the ticks after \(step) s")
      }
      try await probe.pass(.seconds(1))
      try probe.expect(try await probe.tickTimes("minute"), [probe.store.now], "the next tick")
    },
    JobStoreCheck("J71: a schedule that is set again keeps its last tick, and loses no due tick") { probe in
      let start = probe.store.now
      let other = try await probe.fixture.openAgain()
      try await probe.set("interval", .every(.seconds(60)))
      try await probe.pass(.seconds(60))
      probe.fixture.advanceClock(by: .seconds(30))
      try await probe.set("interval", .every(.seconds(60)), job: probe.job("2"), in: other)
      try probe.expect(try await probe.store.advance(), start + .seconds(120), "the next time")
      probe.fixture.advanceClock(by: .seconds(40))
      try await probe.set("interval", .every(.seconds(60)), job: probe.job("2"), in: other)
      _ = try await probe.store.advance()
      try probe.expect(
        try await probe.tickTimes("interval"), [start + .seconds(60), start + .seconds(120)], "the ticks")
      let payloads = try await probe.store.jobs(.all, after: nil, limit: 9).map(\.payload)
      try probe.expect(payloads, [probe.job().payload, probe.job("2").payload], "the payloads")
    },
    JobStoreCheck("J72: the latest, none, or several of the missed ticks add a job") { probe in
      let start = probe.store.now
      try await probe.set("latest", .cron("*/10 * * * *"))
      try await probe.set("none", .cron("*/10 * * * *"), missed: .none)
      try await probe.set("all", .cron("*/10 * * * *"), missed: .all(limit: 9))
      try await probe.set("two", .cron("*/10 * * * *"), missed: .all(limit: 2))
      try await probe.pass(.seconds(2_460 + 1))
      let expected = [600, 1_200, 1_800, 2_400].map { start + .seconds($0) }
      try probe.expect(try await probe.tickTimes("latest"), [expected[3]], "the ticks of latest")
      try probe.expect(try await probe.tickTimes("none"), [], "the ticks of none")
      try probe.expect(try await probe.tickTimes("all"), expected, "the ticks of all")
      try probe.expect(try await probe.tickTimes("two"), Array(expected[2...]), "the ticks of the last two")
      // A tick that is a minute late is not missed.
      try await probe.pass(.seconds(599))
      try probe.expect(try await probe.tickTimes("none"), [start + .seconds(3_000)], "the ticks of none a minute later")
      // After a long time.
      try await probe.pass(.seconds(500 * 86_400))
      try probe.expect(try await probe.tickTimes("two").count, 5, "the number of ticks after a long time")
    },
  ]

  static let schedules = [
    JobStoreCheck("J74: ticks add jobs even if the previous job is unfinished, unless the schedule skips such ticks") {
      probe in
      let start = probe.store.now
      let worker = try await probe.register()
      try await probe.set("allow", .every(.seconds(60)), job: probe.job(options: [.queue("other")]))
      try await probe.set("skip", .every(.seconds(60)), missed: .all(limit: 9), overlap: .skip)
      try await probe.pass(.seconds(120))
      try await probe.pass(.seconds(60))
      let job = try await probe.claimOne(by: worker)
      try await probe.pass(.seconds(60))
      try await probe.end(job, .retry(after: .seconds(1), JobErrorDescription(type: "Test", text: "")))
      try await probe.pass(.seconds(60))
      try await probe.end(probe.claimOne(by: worker), .succeed(result: nil))
      try await probe.pass(.seconds(60))
      try probe.expect(
        try await probe.tickTimes("skip"), [start + .seconds(120), start + .seconds(360)], "the ticks that skip")
      try probe.expect(
        try await probe.tickTimes("allow"), (2...6).map { start + .seconds(60 * $0) }, "the ticks that overlap")
      let schedule = try await probe.schedule("skip")
      try probe.expect(schedule.lastTickTime, start + .seconds(360), "the last tick")
    },
    JobStoreCheck("J75: changed times take effect immediately, for later ticks") { probe in
      let start = probe.store.now
      let other = try await probe.fixture.openAgain()
      try await probe.set("change", .every(.seconds(600)))
      try await probe.pass(.seconds(610))
      try await probe.set("change", .every(.seconds(60)), in: other)
      try probe.expect(try await probe.store.advance(), start + .seconds(670), "the next time")
      try await probe.pass(.seconds(60))
      probe.fixture.advanceClock(by: .seconds(60))
      // The tick that is due is not lost.
      try await probe.set("change", .cron("0 0 1 1 *"), in: other)
      let expected = [600, 670, 730].map { start + .seconds($0) }
      try probe.expect(try await probe.tickTimes("change"), expected, "the ticks")
      try await probe.pass(.seconds(86_400))
      try probe.expect(try await probe.tickTimes("change"), expected, "the ticks after a day")
    },
    JobStoreCheck("J75: a schedule can be paused and resumed, and ticks in between have no effect") { probe in
      let start = probe.store.now
      let other = try await probe.fixture.openAgain()
      try await probe.set("pause", .every(.seconds(60)), missed: .all(limit: 9))
      let paused = try await other.perform(.setPaused(true), on: "pause")
      try probe.expect(paused, ScheduleAnswer(isFound: true), "the answer")
      try probe.expect(try await probe.schedule("pause").isPaused, true, "whether it is paused")
      try probe.expect(try await probe.pass(.seconds(90)), nil, "the next time")
      try await probe.set("pause", .every(.seconds(60)), missed: .all(limit: 9), in: other)
      try probe.expect(try await probe.pass(.seconds(60)), nil, "the next time after it was set again")
      _ = try await other.perform(.setPaused(false), on: "pause")
      try probe.expect(try await probe.pass(.seconds(29)), start + .seconds(180), "the next time after it was resumed")
      try await probe.pass(.seconds(1))
      try probe.expect(try await probe.tickTimes("pause"), [start + .seconds(180)], "the ticks")
    },
    JobStoreCheck("J75: a schedule can be run immediately, and its next tick remains") { probe in
      let start = probe.store.now
      try await probe.set("run", .every(.seconds(60)), overlap: .skip)
      try await probe.pass(.seconds(10))
      for number in 1...2 {
        let answer = try await probe.store.perform(.run, on: "run")
        let jobs = try await probe.store.jobs(.all, after: nil, limit: 9)
        try probe.expect(jobs.count, number, "the number of jobs")
        try probe.expect(answer, ScheduleAnswer(isFound: true, job: jobs.last?.id), "the answer")
        let tick = JobTick(schedule: "run", time: start + .seconds(10))
        try probe.expect(jobs.last?.settings.tick, tick, "the tick")
      }
      let schedule = try await probe.schedule("run")
      try probe.expect(schedule.nextTickTime, start + .seconds(60), "the next tick")
      try probe.expect(schedule.lastTickTime, nil, "the last tick")
      try await probe.pass(.seconds(50))
      try probe.expect(try await probe.tickTimes("run").count, 2, "the number of jobs after a tick that was skipped")
    },
    JobStoreCheck("J75: schedules are listed by name, and can be removed") { probe in
      let start = probe.store.now
      try await probe.set("b", .every(.seconds(60)))
      try await probe.set("a", .cron("0 9 * * *"), missed: .all(limit: 3), overlap: .skip, job: probe.job("2"))
      try await probe.pass(.seconds(60))
      let listed = try await probe.fixture.openAgain().schedules()
      try probe.expect(listed, try await probe.store.schedules(), "the schedules in another process")
      try probe.expect(listed.map(\.name), ["a", "b"], "the names")
      let definition = try ScheduleDefinition(
        .cron("0 9 * * *"), missed: .all(limit: 3), overlap: .skip, job: probe.job("2"))
      try probe.expect(listed[0].definition, definition, "the definition")
      try probe.expect(listed[0].nextTickTime, start + .seconds(3_600), "the next tick")
      try probe.expect(listed[1].lastTickTime, start + .seconds(60), "the last tick")
      try probe.expect(listed[1].lastJob, try await probe.store.jobs(.all, after: nil, limit: 9).first?.id, "the job")
      let commands: [ScheduleCommand] = [.remove, .remove, .run, .setPaused(true)]
      for (command, isFound) in zip(commands, [true, false, false, false]) {
        let answer = try await probe.store.perform(command, on: "b")
        try probe.expect(answer, ScheduleAnswer(isFound: isFound), "the answer to \(command)")
      }
      try probe.expect(try await probe.store.schedules().map(\.name), ["a"], "the names after the removal")
      try await probe.pass(.seconds(60))
      try probe.expect(try await probe.tickTimes("b").count, 1, "the number of its ticks")
    },
    JobStoreCheck("J76: ticks do not depend on a worker that has died or was removed") { probe in
      try await probe.set("minute", .every(.seconds(60)))
      let first = try await probe.register()
      try await probe.pass(.seconds(60))
      try await probe.fixture.kill(first)
      let other = try await probe.fixture.openAgain()
      probe.fixture.advanceClock(by: .seconds(60))
      _ = try await other.advance()
      try probe.expect(try await probe.tickTimes("minute").count, 2, "the number of ticks")
    },
  ]
}

extension JobStoreProbe {
  /// Sets a schedule.
  func set(
    _ name: String, _ schedule: JobSchedule, missed: MissedTicks = .latest, overlap: ScheduleOverlap = .allow,
    jitter: Duration = .zero, job: NewJob? = nil, in store: (any JobStoreBackend)? = nil
  ) async throws {
    let definition = ScheduleDefinition(
      schedule, missed: missed, overlap: overlap, jitter: jitter, job: job ?? self.job())
    _ = try await (store ?? self.store).perform(.set(definition), on: name)
  }

  /// Returns a schedule and fails the check if there is none.
  func schedule(
    _ name: String, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> ScheduleRecord {
    guard let schedule = try await store.schedules().first(where: { $0.name == name }) else {
      throw fail("there is no schedule \(name)", file: file, line: line)
    }
    return schedule
  }

  /// Returns the ticks of a schedule whose jobs are in the store, ordered like the jobs.
  func tickTimes(_ name: String) async throws -> [StoreTime] {
    try await store.jobs(.all, after: nil, limit: .max).compactMap { job in
      job.settings.tick.flatMap { $0.schedule == name ? $0.time : nil }
    }
  }
}
