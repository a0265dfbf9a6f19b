import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let signals = [
    JobStoreCheck("J220: a signal that is sent before, during, or after the wait reaches the job") { probe in
      let worker = try await probe.register()
      // Before the job begins.
      let first = try await probe.enqueue()
      try probe.expect(try await probe.signal(first, "paid", 1), 1, "the number of jobs that received it")
      let early = try await probe.claimOne(by: worker)
      try probe.expect(try await probe.wait(early, .signal("paid")), .waited(probe.payload(1)), "the early value")
      try await probe.end(early, .succeed(result: nil))
      // While the job runs, before its code waits.
      let second = try await probe.enqueue()
      let running = try await probe.claimOne(by: worker)
      try await probe.signal(second, "paid", 2)
      try probe.expect(try await probe.wait(running, .signal("paid")), .waited(probe.payload(2)), "the value")
      try await probe.end(running, .succeed(result: nil))
      // While the job waits without a worker.
      let third = try await probe.enqueue()
      let suspended = try await probe.suspend(probe.claimOne(by: worker), .signal("paid"))
      try probe.expect(try await probe.claim(1, by: worker).count, 0, "the number of jobs that can run")
      try await probe.signal(third, "other", 0)
      try probe.expect(try await probe.record(third), suspended, "the job after another signal")
      try await probe.signal(third, "paid", 3)
      let late = try await probe.claimOne(by: worker)
      try probe.expect([late.wait == nil, late.dueTime == nil], [true, true], "whether it waits no longer")
      try probe.expect(try await probe.wait(late, .signal("paid")), .waited(probe.payload(3)), "the late value")
    },
    JobStoreCheck("J221: no signal is lost between the check of the code and the end of its attempt") { probe in
      let id = try await probe.enqueue()
      let worker = try await probe.register()
      let job = try await probe.claimOne(by: worker)
      let until = probe.store.now + .seconds(60)
      try probe.expect(try await probe.wait(job, .signal("paid")), .waits(until: until), "the answer")
      try await probe.signal(id, "paid", 1, in: probe.fixture.openAgain())
      try await probe.end(job, .wait(.signal("paid"), until: until))
      let ready = try await probe.stored(id)
      try probe.expect(ready.state, .waiting, "the state")
      try probe.expect(ready.wait, nil, "what it waits for")
      let again = try await probe.claimOne(by: worker)
      try probe.expect(try await probe.wait(again, .signal("paid")), .waited(probe.payload(1)), "the value")
    },
    JobStoreCheck("J222: signals with the same name are consumed in order, each by one wait") { probe in
      let id = try await probe.enqueue()
      let worker = try await probe.register()
      for value in 1...2 { try await probe.signal(id, "item", value) }
      let job = try await probe.claimOne(by: worker)
      for number in 1...2 {
        for _ in 0..<2 {
          let answer = try await probe.wait(job, .signal("item"), number: number)
          try probe.expect(answer, .waited(probe.payload(number)), "the value of wait \(number)")
        }
      }
      let third = try await probe.wait(job, .signal("item"), number: 3)
      try probe.expect(third, .waits(until: probe.store.now + .seconds(60)), "the third wait")
    },
    JobStoreCheck("J222: two names that are equal but have different bytes are the same signal") { probe in
      let id = try await probe.enqueue()
      let job = try await probe.claimOne(by: probe.register())
      let names = ["caf\u{E9}", "cafe\u{301}"]
      for (name, value) in zip(names, 1...2) { try await probe.signal(id, name, value) }
      for (name, number) in zip(names.reversed(), 1...2) {
        let answer = try await probe.wait(job, .signal(name), number: number)
        try probe.expect(answer, .waited(probe.payload(number)), "the value of wait \(number)")
      }
    },
    JobStoreCheck("J223: the outcome of a wait remains, even if its signal arrives later or the process crashes") {
      probe in
      let id = try await probe.enqueue()
      let worker = try await probe.register()
      try await probe.suspend(probe.claimOne(by: worker), .signal("paid"))
      try await probe.pass(.seconds(60))
      let job = try await probe.claimOne(by: worker)
      try probe.expect(try await probe.wait(job, .signal("paid")), .waited(nil), "the outcome")
      try await probe.signal(id, "paid", 1)
      try probe.expect(try await probe.wait(job, .signal("paid")), .waited(nil), "the outcome after the signal")
      try probe.expect(
        try await probe.wait(job, .signal("paid"), number: 2), .waited(probe.payload(1)), "the next wait")
      try await probe.end(job, .release)
      let crashed = try await probe.crash()
      try probe.expect(crashed.id, id, "the crashed job")
      let again = try await probe.claimOne(by: worker)
      try probe.expect(try await probe.wait(again, .signal("paid")), .waited(nil), "the outcome after a crash")
      try probe.expect(
        try await probe.wait(again, .signal("paid"), number: 2), .waited(probe.payload(1)), "the value after a crash")
    },
    JobStoreCheck("J224: a job keeps a limited number of signals, and other jobs still receive their signals") {
      probe in
      let (full, other) = (try await probe.enqueue(), try await probe.enqueue())
      for number in 0..<JobSignal.maxPendingCount { try await probe.signal(full, number % 2 == 0 ? "a" : "b", number) }
      do {
        try await probe.signal(full, "c", 0)
        throw probe.fail("a job received too many signals")
      } catch let error as JobError {
        try probe.expect(error.code, .tooManySignals, "the error")
      }
      let signal = JobSignal(name: "c", value: probe.payload(0))
      try probe.expect(try await probe.perform(.signal(.all, signal)), 1, "the number of jobs that received it")
      let jobs = try await probe.claim(2, by: probe.register())
      try probe.expect(jobs.map(\.id), [full, other], "the jobs")
      try probe.expect(try await probe.wait(jobs[0], .signal("a")), .waited(probe.payload(0)), "the first value")
      try probe.expect(try await probe.signal(full, "c", 9), 1, "the number when there is room")
      try probe.expect(try await probe.wait(jobs[0], .signal("c")), .waited(probe.payload(9)), "the last value")
    },
    JobStoreCheck("J225: a job that has ended receives no signal, and its signals are deleted with its checkpoints") {
      probe in
      let worker = try await probe.register()
      let row = StoredSignals.value(of: "paid", 1)
      for end in [.succeed(result: nil), .cancel(JobEndReason(.cancelled))] as [JobEnding.Action] {
        let id = try await probe.enqueue()
        try await probe.signal(id, "paid", 1)
        try probe.expect(try await probe.store.checkpoint(row, of: id), probe.payload(1), "the stored value")
        try await probe.end(probe.claimOne(by: worker), end)
        try probe.expect(try await probe.signal(id, "paid", 2), 0, "the number of jobs that received it")
        if end != .succeed(result: nil) { try await probe.perform(.delete(.id(id))) }
        try probe.expect(try await probe.store.checkpoint(row, of: id), nil, "the value after the end")
      }
      try probe.expect(
        try await probe.signal(JobID(rawValue: 1_000_000_000), "paid", 1), 0, "the number of unknown jobs")
    },
    JobStoreCheck("J225: a job that is run again keeps its signals and the outcomes of its waits") { probe in
      let id = try await probe.enqueue()
      let worker = try await probe.register()
      for value in 1...2 { try await probe.signal(id, "paid", value) }
      let job = try await probe.claimOne(by: worker)
      try await probe.wait(job, .signal("paid"))
      try await probe.end(job, .fail(JobEndReason(.failed), nil))
      try await probe.perform(.retry(.id(id)))
      let again = try await probe.claimOne(by: worker)
      for number in 1...2 {
        let answer = try await probe.wait(again, .signal("paid"), number: number)
        try probe.expect(answer, .waited(probe.payload(number)), "the value of wait \(number)")
      }
    },
  ]
}

extension JobStoreProbe {
  func payload(_ number: Int) -> JobPayload { JobPayload(bytes: Array("\(number)".utf8)) }

  /// Sends a signal to a job.
  @discardableResult
  func signal(_ id: JobID, _ name: String, _ value: Int, in store: (any JobStoreBackend)? = nil) async throws -> Int {
    try await (store ?? self.store).perform(.signal(.id(id), JobSignal(name: name, value: payload(value))))
  }

  /// Requests the outcome of a wait with a time limit of one minute.
  @discardableResult
  func wait(_ job: JobRecord, _ wait: JobWait, number: Int = 1) async throws -> FencedAnswer {
    try await write(.wait(wait, number: number, timeLimit: .seconds(60)), by: fence(of: job))
  }

  /// Ends an attempt with a wait of one minute and returns the suspended job.
  @discardableResult
  func suspend(_ job: JobRecord, _ wait: JobWait, file: StaticString = #fileID, line: UInt = #line) async throws
    -> JobRecord
  {
    guard case .waits(let until) = try await self.wait(job, wait) else {
      throw fail("job \(job.id) need not wait", file: file, line: line)
    }
    try expect(until, store.now + .seconds(60), "the end of the wait", file: file, line: line)
    try expect(try await end(job, .wait(wait, until: until)), .recorded, "the answer", file: file, line: line)
    let suspended = try await stored(job.id)
    try expect(suspended.state, .scheduled, "the state", file: file, line: line)
    try expect(suspended.wait, wait, "what it waits for", file: file, line: line)
    try expect(suspended.dueTime, until, "when it is due", file: file, line: line)
    return suspended
  }
}
