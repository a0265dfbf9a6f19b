import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let bounds = [
    JobStoreCheck(
      "J185: a transaction processes at most 1,000 due schedules, and the next transaction follows immediately"
    ) {
      probe in
      let limit = JobCommand.maxChangedCount
      let start = probe.store.now
      let definition = ScheduleDefinition(.every(.seconds(60)), job: probe.job())
      for number in 0..<limit + 5 { _ = try await probe.store.perform(.set(definition), on: "schedule \(number)") }
      try probe.expect(try await probe.pass(.seconds(60)), probe.store.now, "the next time, with ticks left")
      try probe.expect(try await probe.counts()[.waiting], limit, "the number of jobs after the first transaction")
      try probe.expect(try await probe.store.advance(), start + .seconds(120), "the next time, without ticks left")
      let ticks = try await probe.store.jobs(.all, after: nil, limit: .max).map { $0.settings.tick?.schedule }
      try probe.expect(ticks.count, limit + 5, "the number of jobs")
      try probe.expect(Set(ticks).count, limit + 5, "the number of schedules with a job")
    },
    JobStoreCheck("J185: after 1,000 jobs of ticks, the remaining schedules are processed next") { probe in
      let limit = JobCommand.maxChangedCount
      for number in 0..<3 {
        let definition = ScheduleDefinition(.every(.seconds(1)), missed: .all(limit: limit), job: probe.job())
        _ = try await probe.store.perform(.set(definition), on: "schedule \(number)")
      }
      for round in 1...3 {
        let next = round == 1 ? try await probe.pass(.seconds(limit)) : try await probe.store.advance()
        try probe.expect(try await probe.counts()[.waiting], round * limit, "the number of jobs after \(round) times")
        try probe.expect(next == probe.store.now, round < 3, "whether there are ticks left")
      }
    },
    JobStoreCheck("J185: at most 1,000 jobs become due, and 1,000 miss their deadline, in a transaction") { probe in
      let limit = JobCommand.maxChangedCount
      let deadline = (probe.store.now + .seconds(2)).date
      let late = probe.job(options: [.delay(.seconds(9)), .deadline(deadline)])
      let due = probe.job(options: [.delay(.seconds(2))])
      _ = try await probe.store.enqueue(Array(repeating: late, count: limit + 5))
      _ = try await probe.store.enqueue(Array(repeating: due, count: limit + 5))
      try probe.expect(try await probe.pass(.seconds(2)), probe.store.now, "the next time, with jobs left")
      try probe.expect(try await probe.counts()[.waiting], limit, "the number of waiting jobs")
      try probe.expect(try await probe.counts()[.cancelled], limit, "the number of expired jobs")
      _ = try await probe.store.advance()
      try probe.expect(try await probe.counts()[.waiting], limit + 5, "the final number of waiting jobs")
      try probe.expect(
        try await probe.counts()[.cancelled], limit + 5, "the final number of expired jobs")
    },
    JobStoreCheck(
      "J61, J185: the end of a job fulfills 5,000 dependencies, and the next advances of the store fulfill the rest"
    ) {
      probe in
      let count = JobGraph.maxMetCount + 5
      var dependent = probe.job()
      dependent.dependencies = [JobDependency(.batch(0))]
      let first = probe.job(options: [.priority(.high)])
      let ids = try await probe.store.enqueue([first] + Array(repeating: dependent, count: count)).map(\.id)
      let worker = try await probe.register()
      try await probe.end(probe.claimOne(by: worker), .succeed(result: nil))
      let other = try await probe.fixture.openAgain()
      try probe.expect(try await probe.counts()[.waiting], JobGraph.maxMetCount, "the number of ready dependents")
      try probe.expect(try await probe.counts()[.held], 5, "the number of held dependents")
      let first9 = try await probe.claim(9, by: worker).map(\.id)
      try probe.expect(first9, Array(ids[1...9]), "the first dependents in their order")
      try probe.expect(try await other.advance(), nil, "the next time")
      try probe.expect(try await probe.counts()[.waiting], count - 9, "the final number of dependents")
      try probe.expect(try await probe.counts()[.held], 0, "the number of held dependents after the store advanced")
    },
    JobStoreCheck("J185: the claims of an exchange return at most 1,000 jobs together") { probe in
      for queue in ["first", "second", "third"] {
        _ = try await probe.store.enqueue(
          Array(repeating: probe.job(options: [.queue(queue)]), count: 600))
      }
      let worker = try await probe.register()
      let claims = ["first", "second", "third"].map {
        JobClaim(queue: $0, count: 600, allowsSuspect: false, kinds: ["test": 1])
      }
      for expected in [[600, 400, 0], [0, 200, 600], [0, 0, 0]] {
        let answer = try await probe.store.exchange(JobExchange(worker: worker, claims: claims))
        try probe.expect(answer.claimed.map(\.count), expected, "the numbers of claimed jobs")
      }
    },
    JobStoreCheck("J10, J185: a batch with many keys, some of them held, is stored in its order") { probe in
      let held = try await probe.store.enqueue([
        probe.job(options: [.unique(.held("timed 3", for: .seconds(60)))]),
        probe.job(options: [.unique(.unfinished("key 4"))]),
        probe.job(options: [.unique(.held("old 5", for: .seconds(1)))]),
      ]).map(\.id)
      _ = try await probe.pass(.seconds(2))
      let new = (0..<10).flatMap { number in
        let keys: [UniqueKey] = [
          .held("timed \(number)", for: .seconds(60)), .unfinished("key \(number)"),
          .held("old \(number)", for: .seconds(60)),
          // The same string as a key of another kind.
          .held("key \(number)", for: .seconds(60)),
        ]
        return keys.map { probe.job(options: [.unique($0)]) } + [probe.job()]
      }
      let stored = try await probe.store.enqueue(new)
      let others = stored.enumerated().filter { !$1.isNew }
      try probe.expect(others.map(\.offset), [15, 21], "the places of the jobs whose keys are held")
      try probe.expect(others.map(\.element.id), Array(held[0...1]), "the holders")
      let ids = stored.filter(\.isNew).map(\.id)
      try probe.expect(ids, ids.sorted(), "the order of the numbers")
      let worker = try await probe.register()
      try probe.expect(try await probe.claim(99, by: worker).map(\.id), held + ids, "the order of the claimed jobs")
      let again = try await probe.store.enqueue(new.filter { $0.settings.unique != nil })
      try probe.expect(again.map(\.isNew), Array(repeating: false, count: 40), "whether jobs are new")
    },
    JobStoreCheck("J44, J185: one command runs many jobs with dependencies and keys again") { probe in
      let first = try await probe.enqueue()
      let jobs = (0..<300).map { number in
        var job = probe.job(options: [.unique(.unfinished("key \(number)")), .after(first.success)])
        if number % 3 == 2 { job.dependencies.append(JobDependency(.batch(number - 1), requiring: .success)) }
        return job
      }
      let ids = try await probe.store.enqueue(jobs).map(\.id)
      let worker = try await probe.register()
      try await probe.end(probe.claimOne(by: worker), .fail(JobEndReason(.failed), nil))
      _ = try await probe.store.advance()
      let holder = try await probe.enqueue(options: [.unique(.unfinished("key 7"))])
      try probe.expect(try await probe.store.perform(.retry(.all)), 299, "the number of jobs that run again")
      try probe.expect(try await probe.counts()[.held], 298, "the number of held jobs")
      try probe.expect(try await probe.stored(ids[7]).state, .cancelled, "the job whose key is held")
      try probe.expect(try await probe.stored(ids[8]).state, .cancelled, "the job that requires it")
      let claimed = try await probe.claim(9, by: worker)
      try probe.expect(claimed.map(\.id), [holder, first], "the claimed jobs")
      try await probe.end(claimed[1], .succeed(result: nil))
      try probe.expect(try await probe.counts()[.waiting], 199, "the number of jobs that are ready then")
    },
    JobStoreCheck("J185: more than 1,000 jobs of a worker return when it stops, and when it has died") { probe in
      let count = JobCommand.maxChangedCount + 5
      try await probe.enqueueBatch(of: count)
      let stopped = try await probe.register()
      try probe.expect(try await probe.claim(count, by: stopped).count, count, "the number of claimed jobs")
      try await probe.store.unregister(stopped, isRunningCode: false)
      try probe.expect(try await probe.counts()[.waiting], count, "the number of returned jobs")
      let dead = try await probe.register()
      try probe.expect(
        try await probe.claim(count, by: dead).map(\.crashCount), Array(repeating: 0, count: count), "the crashes")
      try await probe.fixture.kill(dead)
      try probe.expect(try await probe.store.rescue().count, count, "the number of rescued jobs")
      let crashes = try await probe.store.jobs(.all, after: nil, limit: .max).map(\.crashCount)
      try probe.expect(crashes, Array(repeating: 1, count: count), "the crashes after the rescue")
      try probe.expect(try await probe.store.rescue().count, 0, "the number of jobs that are rescued again")
    },
    JobStoreCheck("J10, J185: a graph of 3,000 jobs with keys, and with dependents of each kind, is stored as a whole")
    {
      probe in
      let failed = try await probe.enqueue()
      let worker = try await probe.register()
      try await probe.end(probe.claimOne(by: worker), .fail(JobEndReason(.failed), nil))
      let held = try await probe.enqueue(options: [.unique(.unfinished("key 7"))])
      var jobs = (0..<2_000).map { number in
        probe.job(options: number < 500 ? [.unique(.unfinished("key \(number)"))] : [])
      }
      // The first job waits for all others. Other jobs wait for the job before them, or for the success of a failed
      // job.
      jobs[0].dependencies = (1..<1_500).map { JobDependency(.batch($0), requiring: .success) }
      for number in 1_500..<2_000 { jobs[number].dependencies = [JobDependency(.batch(number - 1))] }
      for _ in 0..<1_000 { jobs.append(probe.job(options: [.after(failed.success)])) }
      let stored = try await probe.store.enqueue(jobs)
      try probe.expect(stored.count { !$0.isNew }, 1, "the number of jobs that others hold the key of")
      try probe.expect(stored[7].id, held, "the job that holds the key")
      try probe.expect(Set(stored.map(\.id)).count, jobs.count, "the number of different jobs")
      try probe.expect(try await probe.stored(stored[0].id).unmetCount, 1_499, "the number of dependencies")
      let counts = try await probe.counts()
      try probe.expect(counts[.cancelled], 1_000, "the number of cancelled jobs")
      try probe.expect(counts[.held], 501, "the number of held jobs")
      try probe.expect(counts[.waiting], 1_499, "the number of waiting jobs")
      let edges = try await probe.store.edges(of: [stored[0].id])
      try probe.expect(edges.count, 1_499, "the number of edges")
      let ready = try await probe.claim(2_000, by: worker)
      try probe.expect(ready.allSatisfy(\.hasDependents), true, "whether all jobs that are claimed have dependents")
    },
    JobStoreCheck("J186: an exchange with claims for 1,000 queues returns the jobs of each queue") { probe in
      let worker = try await probe.register()
      let queues = (0..<1_000).map { "queue \($0)" }
      func claim() async throws -> [[JobID]] {
        let claims = queues.map { JobClaim(queue: $0, count: 2, allowsSuspect: $0 == queues[7], kinds: ["test": 1]) }
        let answer = try await probe.store.exchange(JobExchange(worker: worker, claims: claims))
        return answer.claimed.map(probe.numbers)
      }
      let none = Array(repeating: [JobID](), count: queues.count)
      try probe.expect(try await claim(), none, "the jobs of an empty store")
      // Queues before, between and after the queues of the claims, and jobs of an unknown kind, are not claimed.
      for queue in ["a", "queue", "queue 5a", "queue 999\u{10FFFF}", "z", "\u{E4}"] {
        try await probe.enqueue(options: [.queue(queue)])
      }
      try await probe.enqueue(kind: "other", options: [.queue(queues[3])])
      try probe.expect(try await claim(), none, "the jobs of other queues and kinds")
      var expected = none
      for number in [0, 1, 7, 500, 998, 999] {
        for _ in 0..<2 { expected[number].append(try await probe.enqueue(options: [.queue(queues[number])])) }
      }
      expected[10] = [try await probe.enqueue(options: [.queue(queues[10]), .limits([.serial(key: "key")])])]
      try probe.expect(try await claim(), expected, "the claimed jobs")
      try probe.expect(try await claim(), none, "the jobs after all were claimed")
    },
  ]
}

extension JobStoreProbe {
  /// Returns the job counts of the default queue.
  fileprivate func counts() async throws -> JobQueueCounts {
    try await store.counts()["default"] ?? JobQueueCounts()
  }
}
