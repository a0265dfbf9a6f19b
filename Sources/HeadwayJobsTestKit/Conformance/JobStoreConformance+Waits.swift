import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let waits = [
    JobStoreCheck("J226: the time limit of a wait counts from its first request, through errors and crashes") { probe in
      let id = try await probe.enqueue()
      let worker = try await probe.register()
      let until = probe.store.now + .seconds(60)
      let job = try await probe.claimOne(by: worker)
      try probe.expect(try await probe.wait(job, .sleep("nap")), .waits(until: until), "the answer")
      try await probe.pass(.seconds(10))
      try await probe.end(job, .retry(after: .zero, JobErrorDescription(type: "Test", text: "")))
      try probe.expect(try await probe.crash().id, id, "the crashed job")
      try await probe.pass(.seconds(10))
      let again = try await probe.claimOne(by: worker)
      try probe.expect(try await probe.wait(again, .sleep("nap")), .waits(until: until), "the answer after a crash")
      try await probe.end(again, .wait(.sleep("nap"), until: until))
      try probe.expect(try await probe.pass(.seconds(39)), until, "the next time")
      try probe.expect(try await probe.claim(1, by: worker).count, 0, "the number of jobs that can run")
      try await probe.pass(.seconds(1))
      let awake = try await probe.claimOne(by: worker)
      try probe.expect(try await probe.wait(awake, .sleep("nap")), .waited(nil), "the outcome")
      try await probe.signal(id, "nap", 1)
      let second = try await probe.wait(awake, .sleep("nap"), number: 2)
      try probe.expect(second, .waits(until: probe.store.now + .seconds(60)), "the second sleep")
    },
    JobStoreCheck("J227: after a wait, a job has all its attempts, crashes, and snoozes again") { probe in
      let id = try await probe.enqueue(options: [.maxSnoozeCount(2), .maxCrashCount(2)])
      let worker = try await probe.register()
      let error = JobErrorDescription(type: "Test", text: "")
      try await probe.end(probe.claimOne(by: worker), .retry(after: .zero, error))
      try await probe.end(probe.claimOne(by: worker), .snooze(.zero))
      try await probe.crash()
      let job = try await probe.claimOne(by: worker)
      try probe.expect([job.attempt, job.snoozeCount, job.crashCount], [2, 1, 1], "the numbers before the wait")
      let suspended = try await probe.suspend(job, .signal("paid"))
      try probe.expect(
        [suspended.attempt, suspended.snoozeCount, suspended.crashCount], [0, 0, 0], "the numbers after the wait")
      try probe.expect(suspended.history.errors.count, 1, "the number of errors")
      try await probe.pass(.seconds(60))
      let again = try await probe.claimOne(by: worker)
      try probe.expect(again.attempt, 1, "the attempt")
      try probe.expect(again.epoch, job.epoch + 1, "the number of claims")
      try probe.expect(again.firstClaimedTime, probe.store.now, "when it was first claimed")
      try probe.expect(try await probe.end(job, .release), .refused, "the answer to the earlier attempt")
      try probe.expect(again.id, id, "the number")
    },
    JobStoreCheck("J228: a job that waits can be cancelled, and a cancelled job does not wait") { probe in
      let worker = try await probe.register()
      let first = try await probe.enqueue()
      try await probe.suspend(probe.claimOne(by: worker), .signal("paid"))
      try probe.expect(try await probe.perform(.cancel(.id(first))), 1, "the number of changes")
      try probe.expect(try await probe.signal(first, "paid", 1), 0, "the number of jobs that received a signal")
      let cancelled = try await probe.stored(first)
      try probe.expect(cancelled.state, .cancelled, "the state")
      try probe.expect(cancelled.wait, nil, "what it waits for")
      let second = try await probe.enqueue()
      let job = try await probe.claimOne(by: worker)
      try await probe.perform(.cancel(.id(second)))
      try await probe.end(job, .wait(.signal("paid"), until: probe.store.now + .seconds(60)))
      try probe.expect(try await probe.state(second), .cancelled, "the state of the running job")
    },
    JobStoreCheck("J228: at the deadline of a job, its waits end, too") { probe in
      let date = (probe.store.now + .seconds(30)).date
      let id = try await probe.enqueue(options: [.deadline(date)])
      try await probe.suspend(probe.claimOne(by: probe.register()), .signal("paid"))
      try await probe.pass(.seconds(31))
      try probe.expect(try await probe.stored(id).reason?.code, .expired, "the reason")
    },
    JobStoreCheck("J228: a job that a command makes due runs early, waits again, and still receives its signal") {
      probe in
      let id = try await probe.enqueue()
      let worker = try await probe.register()
      let until = probe.store.now + .seconds(60)
      try await probe.suspend(probe.claimOne(by: worker), .signal("paid"))
      try await probe.pass(.seconds(5))
      try probe.expect(try await probe.perform(.change(.id(id), .runNow)), 1, "the number of changes")
      try probe.expect(try await probe.stored(id).wait, nil, "what it waits for")
      let job = try await probe.claimOne(by: worker)
      try probe.expect(try await probe.wait(job, .signal("paid")), .waits(until: until), "the answer")
      try await probe.end(job, .wait(.signal("paid"), until: until))
      let earlier = probe.store.now + .seconds(5)
      try await probe.perform(.change(.id(id), .dueTime(earlier)))
      try probe.expect(try await probe.stored(id).wait, .signal("paid"), "what it waits for until another time")
      try await probe.signal(id, "paid", 1)
      let again = try await probe.claimOne(by: worker)
      try probe.expect(try await probe.wait(again, .signal("paid")), .waited(probe.payload(1)), "the value")
    },
    JobStoreCheck("J230: a job that waits uses no units of its limits, and keeps its turn for a serial key") { probe in
      let worker = try await probe.register()
      let limit: JobOptions = [.limits([.concurrency(1, key: "one")])]
      try await probe.enqueue(options: limit)
      let next = try await probe.enqueue(options: limit)
      try await probe.suspend(probe.claimOne(by: worker), .signal("paid"))
      try await probe.end(probe.claimOne(by: worker), .succeed(result: nil))
      try probe.expect(try await probe.state(next), .succeeded, "the state of the next job")
      try await probe.perform(.cancel(.all))
      let serial: JobOptions = [.limits([.serial(key: "line")])]
      let first = try await probe.enqueue(options: serial)
      let second = try await probe.enqueue(options: serial)
      try await probe.suspend(probe.claimOne(by: worker), .signal("paid"))
      try probe.expect(try await probe.claim(1, by: worker).count, 0, "the number of jobs behind it that can run")
      try await probe.signal(first, "paid", 1)
      let jobs = try await probe.claim(2, by: worker)
      try probe.expect(jobs.map(\.id), [first], "the claimed jobs")
      try await probe.end(jobs[0], .succeed(result: nil))
      try probe.expect(try await probe.claimOne(by: worker).id, second, "the next job of the key")
    },
    JobStoreCheck(
      "J231: jobs that a signal wakes are placed behind all ready jobs, in ascending order of their numbers"
    ) {
      probe in
      let worker = try await probe.register()
      let ids = try await probe.enqueueBatch(of: 3)
      for job in try await probe.claim(3, by: worker) { try await probe.suspend(job, .signal("go")) }
      let ready = try await probe.enqueue()
      let signal = JobSignal(name: "go", value: probe.payload(1))
      try probe.expect(
        try await probe.perform(.signal(JobFilter(states: [.scheduled]), signal)), 3, "the number of jobs")
      try probe.expect(try await probe.claim(4, by: worker).map(\.id), [ready] + ids, "the order")
    },
  ]
}
