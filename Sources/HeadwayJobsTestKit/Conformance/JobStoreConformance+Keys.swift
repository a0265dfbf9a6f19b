import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let keys = [
    JobStoreCheck("J13: processes that enqueue the same key at the same time add one job") { probe in
      let stores = [probe.store, try await probe.fixture.openAgain()]
      let new = probe.job(options: [.unique(.unfinished("key"))])
      let answers = try await withThrowingTaskGroup(of: Enqueued.self) { group in
        for number in 0..<16 { group.addTask { try await stores[number % 2].enqueue([new])[0] } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      try probe.expect(answers.filter(\.isNew).count, 1, "the number of new jobs")
      try probe.expect(Set(answers.map(\.id)).count, 1, "the number of jobs that were named")
      try probe.expect(try await probe.store.jobs(.all, after: nil, limit: 9).map(\.id), [answers[0].id], "the jobs")
    },
    JobStoreCheck("J13: two jobs of a batch with the same key are one job") { probe in
      let keyed = probe.job(options: [.unique(.unfinished("key"))])
      let answers = try await probe.store.enqueue([keyed, probe.job(), keyed])
      try probe.expect(answers.map(\.isNew), [true, true, false], "whether the jobs are new")
      try probe.expect(answers[2].id, answers[0].id, "the job that holds the key")
    },
    JobStoreCheck("J14: a key with the scope “waiting” is free when the job is claimed") { probe in
      let options: JobOptions = [.unique(.waiting("key"))]
      let first = try await probe.enqueue(options: options)
      try probe.expect(try await probe.enqueue(options: options), first, "the job that holds the key")
      try await probe.claimOne(by: probe.register())
      let second = try await probe.store.enqueue([probe.job(options: options)])[0]
      try probe.expect(second.isNew, true, "whether a job is new while the other one runs")
      try probe.expect(try await probe.enqueue(options: options), second.id, "the next holder")
    },
    JobStoreCheck("J14: a key with the scope “unfinished” is free after each kind of end, and not before") { probe in
      let options: JobOptions = [.unique(.unfinished("key"))]
      let worker = try await probe.register()
      let error = JobErrorDescription(type: "Test", text: "")
      let ends: [JobEnding.Action] = [
        .succeed(result: nil), .fail(JobEndReason(.failed), error), .cancel(JobEndReason(.cancelled)),
      ]
      for end in ends {
        let id = try await probe.enqueue(options: options)
        for action in [.release, .snooze(.seconds(1)), .retry(after: .seconds(1), error)] as [JobEnding.Action] {
          let job = try await probe.claimOne(by: worker)
          try probe.expect(job.id, id, "the claimed job")
          try probe.expect(try await probe.enqueue(options: options), id, "the holder while the job runs")
          try await probe.end(job, action)
          try probe.expect(try await probe.enqueue(options: options), id, "the holder while the job waits again")
          try await probe.pass(.seconds(1))
        }
        try await probe.end(probe.claimOne(by: worker), end)
      }
      let cancelled = try await probe.enqueue(options: options)
      try await probe.perform(.cancel(.id(cancelled)))
      let abandoned = try await probe.enqueue(options: options)
      try await probe.claimOne(by: worker)
      try await probe.perform(.abandon(.id(abandoned)))
      try probe.expect(try await probe.store.jobs(.all, after: nil, limit: 9).count, 5, "the number of jobs")
      try probe.expect(try await probe.store.enqueue([probe.job(options: options)])[0].isNew, true, "the last one")
    },
    JobStoreCheck("J14: a key that is held for a time stays held when the job ends, is deleted or is pruned earlier") {
      probe in
      let options: JobOptions = [.unique(.held("key", for: .seconds(10)))]
      let id = try await probe.enqueue(options: options)
      let free = probe.store.now + .seconds(10)
      try probe.expect(try await probe.enqueue(options: options), id, "the holder")
      try probe.expect(
        try await probe.enqueue(options: [.unique(.unfinished("key"))]) == id, false,
        "whether keys of the other scopes are the same")
      try await probe.perform(.cancel(.all))
      try probe.expect(try await probe.enqueue(options: options), id, "the holder after the end")
      try await probe.perform(.delete(.all))
      try await probe.perform(.prune)
      probe.fixture.advanceClock(by: .microseconds(9_999_999))
      try await probe.perform(.prune)
      let held = try await probe.store.enqueue([probe.job(options: options)])[0]
      try probe.expect(held, Enqueued(id: id, isNew: false), "the answer after the deletion")
      probe.fixture.advanceClock(by: .microseconds(1))
      try probe.expect(probe.store.now, free, "the time")
      try probe.expect(try await probe.store.enqueue([probe.job(options: options)])[0].isNew, true, "the next job")
    },
    JobStoreCheck("J14: with the conflict policy “keep”, the other job is not changed") { probe in
      let id = try await probe.enqueue("1", options: [.unique(.unfinished("key"))])
      let before = try await probe.record(id)
      let options: JobOptions = [.priority(.high), .delay(.seconds(1)), .unique(.unfinished("key"))]
      try probe.expect(try await probe.enqueue("2", options: options), id, "the holder")
      try probe.expect(try await probe.record(id), before, "the job")
    },
    JobStoreCheck("J14: with the conflict policy “replace”, a job that has not started is changed") { probe in
      let key = UniqueKey.unfinished("key", onConflict: .replace)
      let id = try await probe.enqueue("1", options: [.unique(key)])
      let delayed: JobOptions = [.priority(.high), .delay(.seconds(1)), .unique(key)]
      try probe.expect(
        try await probe.store.enqueue([probe.job("2", kind: "other", version: 2, options: delayed)]),
        [Enqueued(id: id, isNew: false)], "the answer")
      let replaced = try await probe.stored(id)
      try probe.expect(replaced.payload, probe.job("2").payload, "the payload")
      try probe.expect(replaced.kind, "other", "the kind")
      try probe.expect(replaced.version, 2, "the version")
      try probe.expect(replaced.priority, 4, "the priority")
      try probe.expect(replaced.dueTime, probe.store.now + .seconds(1), "when it is due")
      try probe.expect(replaced.state, .scheduled, "the state")
      try await probe.enqueue("3", options: [.unique(key)])
      let job = try await probe.claimOne(by: probe.register())
      try probe.expect(job.payload, probe.job("3").payload, "the payload after the second replacement")
      try probe.expect(job.dueTime, nil, "when it is due after the second replacement")
    },
    JobStoreCheck("J14: with the conflict policy “replace”, a running job is not changed") { probe in
      let options: JobOptions = [.unique(.unfinished("key", onConflict: .replace))]
      let id = try await probe.enqueue("1", options: options)
      let job = try await probe.claimOne(by: probe.register())
      try probe.expect(try await probe.enqueue("2", options: options), id, "the holder")
      try probe.expect(try await probe.record(id), job, "the job")
    },
    JobStoreCheck("J15: only a job that returns to its queue while another job holds its key is superseded") { probe in
      let options: JobOptions = [.unique(.waiting("key"))]
      let error = JobErrorDescription(type: "Test", text: "")
      let actions: [JobEnding.Action] = [.retry(after: .seconds(1), error), .snooze(.seconds(1)), .release]
      for action in actions {
        let worker = try await probe.register()
        let (first, beside) = (try await probe.enqueue(options: options), try await probe.enqueue())
        let jobs = try await probe.claim(2, by: worker)
        try probe.expect(probe.numbers(jobs), [first, beside], "the claimed jobs")
        let second = try await probe.enqueue(options: options)
        let exchange = try JobExchange(
          worker: worker,
          endings: [
            JobEnding(probe.fence(of: jobs[0]), action), JobEnding(probe.fence(of: jobs[1]), .succeed(result: nil)),
          ], claims: [JobClaim(queue: "default", count: 9, allowsSuspect: true, kinds: ["test": 1])])
        let answer = try await probe.store.exchange(exchange)
        try probe.expect(answer.verdicts, [.recorded, .recorded], "the answers")
        try probe.expect(answer.claimed.map(probe.numbers), [[second]], "the claimed jobs")
        let superseded = try await probe.stored(first)
        try probe.expect(superseded.state, .cancelled, "the state")
        try probe.expect(superseded.reason?.code, .superseded, "the reason")
        try await probe.end(answer.claimed[0][0], .succeed(result: nil))
      }
    },
    JobStoreCheck("J15: a rescued job whose key is held by another job is superseded, and all other jobs are rescued") {
      probe in
      let options: JobOptions = [.unique(.waiting("key"))]
      let (first, beside) = (try await probe.enqueue(options: options), try await probe.enqueue())
      let worker = try await probe.register()
      try probe.expect(try await probe.claim(9, by: worker).count, 2, "the number of claimed jobs")
      let second = try await probe.enqueue(options: options)
      try await probe.fixture.kill(worker)
      _ = try await probe.store.rescue()
      try probe.expect(try await probe.record(first)?.reason?.code, .superseded, "the reason")
      try probe.expect(try await probe.state(beside), .waiting, "the state of the other job")
      try probe.expect(try await probe.state(second), .waiting, "the state of the job that has the key")
      try probe.expect(try await probe.enqueue(options: options), second, "the holder")
    },
  ]
}
