import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let rescuing = [
    JobStoreCheck("J38: the interrupted attempt of a rescued job is not counted, but a crash is") { probe in
      let (id, other) = (try await probe.enqueue(), try await probe.enqueue())
      let (worker, living) = (try await probe.register(), try await probe.register())
      let job = try await probe.claimOne(by: worker)
      let safe = try await probe.claimOne(by: living)
      try probe.expect(try await probe.store.rescue(), [], "the rescued jobs of living workers")
      try await probe.fixture.kill(worker)
      try probe.expect(try await probe.store.rescue(), [id], "the rescued jobs")
      try probe.expect(try await probe.store.rescue(), [], "the jobs of a second rescue")
      let rescued = try await probe.stored(id)
      try probe.expect(rescued.state, .waiting, "the state")
      try probe.expect(rescued.attempt, 0, "the attempt")
      try probe.expect(rescued.crashCount, 1, "the number of crashes")
      try probe.expect(rescued.epoch, job.epoch, "the number of claims")
      try probe.expect(rescued.history.errors, [], "the errors")
      try probe.expect(try await probe.record(other), safe, "the job of the living worker")
      let fence = try probe.fence(of: job)
      try probe.expect(try await probe.store.beat(worker, running: [fence]).isRegistered, false, "whether it lives")
      try probe.expect(try await probe.store.beat(worker, running: [fence]).lost, [fence], "the lost attempts")
      try probe.expect(try await probe.claimOne(by: living).attempt, 1, "the next attempt")
    },
    JobStoreCheck("J38: a job fails at its fourth crash, and the reason names the workers") { probe in
      let id = try await probe.enqueue()
      var workers: [WorkerID] = []
      for number in 1...4 {
        let owner = try probe.fence(of: await probe.crash()).owner
        workers.append(owner)
        try probe.expect(try await probe.record(id)?.crashCount, number, "the number of crashes")
        try probe.expect(try await probe.state(id), number < 4 ? .waiting : .failed, "the state")
      }
      let reason = try await probe.stored(id).reason
      try probe.expect(reason?.code, .crashed, "the reason")
      let names = workers.map(\.description).joined(separator: ", ")
      let text = reason?.text ?? ""
      guard text.hasSuffix(names) else { throw probe.fail("the reason “\(text)” lacks the workers \(names)") }
    },
    JobStoreCheck("J38: you can set the number of crashes before a job fails") { probe in
      let id = try await probe.enqueue(options: [.maxCrashCount(1)])
      try await probe.crash()
      try probe.expect(try await probe.record(id)?.reason?.code, .crashed, "the reason")
    },
    JobStoreCheck("J39: a claim returns at most one suspect, and no suspect unless the claim allows it") { probe in
      for _ in 0..<2 { try await probe.enqueue() }
      let dying = try await probe.register()
      let suspects = probe.numbers(try await probe.claim(2, by: dying))
      try await probe.fixture.kill(dying)
      try probe.expect(try await probe.store.rescue().sorted(), suspects, "the rescued jobs")
      let plain = [try await probe.enqueue(), try await probe.enqueue()]
      let worker = try await probe.register()
      try probe.expect(
        probe.numbers(try await probe.claim(1, by: worker, allowsSuspect: false)), [plain[0]], "the first claim")
      let mixed = probe.numbers(try await probe.claim(9, by: worker))
      try probe.expect(mixed.sorted(), [suspects[0], plain[1]], "the second claim")
      try probe.expect(try await probe.claim(9, by: worker, allowsSuspect: false).count, 0, "the third claim")
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), [suspects[1]], "the last claim")
    },
    JobStoreCheck("J39: a job that kills its workers fails, and the 100 other jobs succeed") { probe in
      let poison = try await probe.enqueueBatch(of: 101)[50]
      var deaths = 0
      while deaths < 10 {
        let worker = try await probe.register()
        var jobs = try await probe.claim(16, by: worker)
        var exchanges = 0
        while exchanges < 200, !jobs.isEmpty, !jobs.contains(where: { $0.id == poison }) {
          exchanges += 1
          let endings = try jobs.map { JobEnding(try probe.fence(of: $0), .succeed(result: nil)) }
          let claim = JobClaim(queue: "default", count: 16, allowsSuspect: true, kinds: ["test": 1])
          let exchange = JobExchange(worker: worker, endings: endings, claims: [claim])
          jobs = try await probe.store.exchange(exchange).claimed[0]
        }
        if jobs.isEmpty { break }
        deaths += 1
        try await probe.fixture.kill(worker)
        _ = try await probe.store.rescue()
      }
      try probe.expect(deaths, 4, "the number of dead workers")
      let ended = try await probe.store.jobs(.all, after: nil, limit: 200)
      try probe.expect(ended.filter { $0.state == .succeeded }.count, 100, "the number of jobs that succeeded")
      try probe.expect(ended.filter { $0.state == .failed }.map(\.id), [poison], "the jobs that failed")
      try probe.expect(
        ended.filter { $0.id != poison && $0.crashCount > 1 }.count, 0, "the number of jobs with several crashes")
    },
  ]

  static let stopping = [
    JobStoreCheck("J42, J101: the jobs of a worker that stops return to their places, and no attempt is counted") {
      probe in
      let ids = [try await probe.enqueue(), try await probe.enqueue(), try await probe.enqueue()]
      let worker = try await probe.register()
      try probe.expect(probe.numbers(try await probe.claim(2, by: worker)), Array(ids[..<2]), "the claimed jobs")
      try await probe.store.unregister(worker, isRunningCode: false)
      for id in ids {
        let job = try await probe.stored(id)
        try probe.expect(job.state, .waiting, "the state")
        try probe.expect([job.attempt, job.crashCount], [0, 0], "the attempts and crashes")
      }
      let jobs = try await probe.claim(9, by: probe.register(), allowsSuspect: false)
      try probe.expect(probe.numbers(jobs), ids, "the jobs of the next worker")
    },
    JobStoreCheck(
      "J101: jobs whose code still runs when the worker stops return to their queues when the process has ended"
    ) { probe in
      let id = try await probe.enqueue()
      let worker = try await probe.register()
      let job = try await probe.claimOne(by: worker)
      try await probe.store.unregister(worker, isRunningCode: true)
      try probe.expect(try await probe.store.rescue(), [], "the rescued jobs while the process lives")
      try probe.expect(try await probe.record(id), job, "the job while the process lives")
      try await probe.fixture.kill(worker)
      try probe.expect(try await probe.store.rescue(), [id], "the rescued jobs")
      let back = try await probe.stored(id)
      try probe.expect(back.state, .waiting, "the state")
      try probe.expect([back.attempt, back.crashCount], [0, 0], "the attempts and crashes")
    },
  ]
}
