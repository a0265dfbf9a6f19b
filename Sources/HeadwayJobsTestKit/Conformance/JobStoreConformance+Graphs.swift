import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let graphs = [
    JobStoreCheck("J60: a job waits until jobs of any queue have ended, no matter how they end") { probe in
      let worker = try await probe.register()
      let first = try await probe.enqueue()
      let second = try await probe.enqueue(options: [.queue("other")])
      let id = try await probe.enqueue(options: [.after(first.dependency, second.dependency)])
      try probe.expect(try await probe.stored(id).unmetCount, 2, "the number of dependencies")
      let job = try await probe.claimOne(by: worker)
      try probe.expect(job.id, first, "the job that was claimed")
      try await probe.end(job, .fail(JobEndReason(.failed), nil))
      try probe.expect(try await probe.state(id), .held, "the state after the first end")
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of claimed jobs")
      try probe.expect(try await probe.perform(.cancel(.id(second))), 1, "the number of cancelled jobs")
      try probe.expect(try await probe.state(id), .waiting, "the state after the last end")
      try probe.expect(try await probe.stored(id).unmetCount, 0, "the number of dependencies that have not ended")
      try probe.expect(try await probe.claimOne(by: worker).id, id, "the dependent")
    },
    JobStoreCheck("J60: jobs of a batch wait for other jobs of the batch, even for later jobs") { probe in
      let ids = try await probe.batch([[1], [2], [], [0, 2]])
      let worker = try await probe.register()
      var order: [JobID] = []
      while let job = try await probe.claim(9, by: worker).first {
        order.append(job.id)
        try await probe.end(job, .succeed(result: nil))
      }
      try probe.expect(order, [ids[2], ids[1], ids[0], ids[3]], "the jobs in the order of their starts")
    },
    JobStoreCheck(
      "J60: a held job with a delay is scheduled when it is released, and its delay begins when it is stored"
    ) {
      probe in
      let first = try await probe.enqueue()
      let later = try await probe.enqueue(options: [.delay(.seconds(10)), .after(first.dependency)])
      let sooner = try await probe.enqueue(options: [.delay(.seconds(1)), .after(first.dependency)])
      try await probe.pass(.seconds(2))
      try probe.expect(try await probe.state(sooner), .held, "the state of a held job whose time has come")
      try await probe.end(probe.claimOne(by: probe.register()), .succeed(result: nil))
      try probe.expect(try await probe.state(later), .scheduled, "the state before the time")
      try probe.expect(try await probe.state(sooner), .waiting, "the state after the time")
      try await probe.pass(.seconds(8))
      try probe.expect(try await probe.state(later), .waiting, "the state at the time")
    },
    JobStoreCheck("J60: a held job keeps its key and its deadline, and its priority and queue can be changed") {
      probe in
      let first = try await probe.enqueue()
      let options: JobOptions = [.unique(.waiting("key")), .after(first.dependency)]
      let held = try await probe.enqueue(options: options)
      let other = try await probe.store.enqueue([probe.job(options: [.unique(.waiting("key"))])])[0]
      try probe.expect(other, Enqueued(id: held, isNew: false), "the job with the key")
      try await probe.enqueue("new", options: [.unique(.waiting("key", onConflict: .replace))])
      try probe.expect(try await probe.stored(held).payload.bytes, Array("new".utf8), "the payload")
      try probe.expect(
        try await probe.perform(.change(.id(held), .priority(.veryHigh))), 1, "the number of changed jobs")
      try probe.expect(try await probe.perform(.change(.id(held), .queue("other"))), 1, "the number of moved jobs")
      try probe.expect(try await probe.state(held), .held, "the state of a job with new content")
      let deadline = (probe.store.now + .seconds(5)).date
      let late = try await probe.enqueue(options: [.deadline(deadline), .after(held.dependency)])
      try await probe.pass(.seconds(5))
      try probe.expect(try await probe.stored(late).reason?.code, .expired, "the reason after the deadline")
    },
    JobStoreCheck("J61: an attempt that is retried, snoozed, given back or rescued releases no dependent") { probe in
      let first = try await probe.enqueue()
      let id = try await probe.enqueue(options: [.after(first.dependency)])
      let worker = try await probe.register()
      let error = JobErrorDescription(type: "Test", text: "")
      for action in [.retry(after: .zero, error), .snooze(.zero), .release] as [JobEnding.Action] {
        try await probe.end(probe.claimOne(by: worker), action)
        try probe.expect(try await probe.state(id), .held, "the state after \(action)")
      }
      try await probe.crash()
      try probe.expect(try await probe.state(id), .held, "the state after a crash")
      try await probe.end(probe.claimOne(by: worker), .succeed(result: nil))
      try probe.expect(try await probe.state(id), .waiting, "the state after the success")
    },
    JobStoreCheck("J61: one exchange finishes a job and claims the job that has waited for it") { probe in
      try await probe.batch([[], [0], [1], [2]])
      let worker = try await probe.register()
      let claim = JobClaim(queue: "default", count: 4, allowsSuspect: false, kinds: ["test": 1])
      var job = try await probe.claimOne(by: worker)
      for step in 1...3 {
        let ending = JobEnding(try probe.fence(of: job), .succeed(result: nil))
        let exchange = JobExchange(worker: worker, endings: [ending], claims: [claim])
        let answer = try await probe.store.exchange(exchange)
        guard let next = answer.claimed[0].first else { throw probe.fail("step \(step) of the chain can't be claimed") }
        try probe.expect(answer.claimed[0].count, 1, "the number of claimed jobs")
        job = next
      }
    },
    JobStoreCheck("J61, J68: if all dependencies of many jobs end at the same time, each job is released once") {
      probe in
      let stores = [probe.store, try await probe.fixture.openAgain()]
      let dependencies = try await probe.enqueueBatch(of: 12)
      let after = dependencies.map(\.dependency)
      let dependents = try await probe.store.enqueue(
        (0..<8).map { number in probe.job(options: [.after(number % 2 == 0 ? after : after.reversed())]) })
      var claimed: [JobRecord] = []
      for store in stores {
        let worker = try await probe.register(in: store)
        claimed += try await probe.claim(6, by: worker, in: store)
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, job) in claimed.enumerated() {
          let ending = JobEnding(try probe.fence(of: job), .succeed(result: nil))
          group.addTask {
            _ = try await stores[number / 6].exchange(JobExchange(worker: ending.fence.owner, endings: [ending]))
          }
        }
        for number in 0..<4 {
          let priority: Operation.QueuePriority = number.isMultiple(of: 2) ? .low : .high
          group.addTask { _ = try await stores[number % 2].perform(.change(.all, .priority(priority))) }
        }
        try await group.waitForAll()
      }
      let worker = try await probe.register()
      let released = try await probe.claim(99, by: worker)
      try probe.expect(Set(released.map(\.id)), Set(dependents.map(\.id)), "the dependents")
      try probe.expect(released.count, 8, "the number of claims")
    },
    JobStoreCheck("J64: a dependency that has ended counts immediately, and an empty list is the same as none") {
      probe in
      let worker = try await probe.register()
      let done = try await probe.enqueue()
      try await probe.end(probe.claimOne(by: worker), .succeed(result: nil))
      let failed = try await probe.enqueue()
      try await probe.end(probe.claimOne(by: worker), .fail(JobEndReason(.failed), nil))
      let ready = try await probe.enqueue(options: [.after(done.success, failed.dependency)])
      try probe.expect(try await probe.state(ready), .waiting, "the state after ended dependencies")
      let free = try await probe.enqueue(options: [.after([])])
      try probe.expect(try await probe.state(free), .waiting, "the state without dependencies")
      let cancelled = try await probe.enqueue(options: [.after(done.success, failed.success)])
      try probe.expect(try await probe.stored(cancelled).reason?.culprit, failed, "the culprit")
      let both = try await probe.batch([[], [0]], after: [failed.success])
      for id in both { try probe.expect(try await probe.stored(id).reason?.culprit, failed, "the culprit of a batch") }
    },
    JobStoreCheck("J64: an unknown or deleted dependency is rejected, and nothing is stored") { probe in
      let id = try await probe.enqueue()
      try await probe.end(probe.claimOne(by: probe.register()), .succeed(result: nil))
      try probe.expect(try await probe.perform(.delete(.id(id))), 1, "the number of deleted jobs")
      for unknown in [id, JobID(rawValue: 1_000_000_000)] {
        let dependent = probe.job(options: [.after(unknown.dependency)])
        do {
          _ = try await probe.store.enqueue([probe.job(), dependent])
          throw probe.fail("a job waits for job \(unknown), which does not exist")
        } catch let error as JobError {
          try probe.expect(error.code, .unknownJob, "the error")
          try probe.expect(error.context.contains("job \(unknown)"), true, "whether the error names the job")
        }
      }
      try probe.expect(try await probe.store.jobs(.all, after: nil, limit: 9).count, 0, "the number of jobs")
    },
    JobStoreCheck("J65: a batch with a cycle is rejected with an error that names the cycle") { probe in
      do {
        try await probe.batch([[], [0, 3], [1], [2]])
        throw probe.fail("a batch with a cycle was stored")
      } catch let error as JobError {
        try probe.expect(error.code, .dependencyCycle, "the error")
        let circle = "test (number 2) waits for test (number 4) waits for test (number 3) waits for test (number 2)"
        try probe.expect(error.context.contains(circle), true, "whether \(error.context) names the cycle")
      }
      try probe.expect(try await probe.store.jobs(.all, after: nil, limit: 9).count, 0, "the number of jobs")
    },
    JobStoreCheck("J66: jobs that wait for a running job also wait for children that are added before its dependents") {
      probe in
      let ids = try await probe.batch([[], [0]], requiring: .completion)
      let strict = try await probe.enqueue(options: [.after(ids[0].success)])
      let worker = try await probe.register()
      let parent = try await probe.claimOne(by: worker)
      var second = probe.job()
      second.dependencies = [JobDependency(.batch(0))]
      let fence = try probe.fence(of: parent)
      let answer = try await probe.write(.enqueueBatch([probe.job(), second], beforeDependents: true), by: fence)
      guard case .enqueuedBatch(let children) = answer else { throw probe.fail("the answer is \(answer)") }
      try await probe.end(parent, .succeed(result: nil))
      try probe.expect(try await probe.stored(ids[1]).unmetCount, 2, "the number of children that have not ended")
      let first = try await probe.claimOne(by: worker)
      try probe.expect(first.id, children[0].id, "the first child")
      try await probe.end(first, .succeed(result: nil))
      try await probe.end(probe.claimOne(by: worker), .fail(JobEndReason(.failed), nil))
      try probe.expect(try await probe.state(ids[1]), .waiting, "the state of the dependent")
      try probe.expect(try await probe.stored(strict).reason?.culprit, children[1].id, "the culprit of the other one")
    },
    JobStoreCheck("J66: a dependent that is replaced because a child has its key also waits for the other children") {
      probe in
      let parentID = try await probe.enqueue()
      let key = JobOption.unique(.unfinished("key", onConflict: .replace))
      let dependent = try await probe.enqueue(options: [key, .after(parentID.dependency)])
      let worker = try await probe.register()
      let parent = try await probe.claimOne(by: worker)
      let batch = [probe.job(), probe.job(options: [key])]
      let answer = try await probe.write(
        .enqueueBatch(batch, beforeDependents: true), by: try probe.fence(of: parent))
      guard case .enqueuedBatch(let added) = answer else { throw probe.fail("the answer is \(answer)") }
      try probe.expect(added[1], Enqueued(id: dependent, isNew: false), "the job that holds the key")
      try probe.expect(try await probe.stored(dependent).unmetCount, 2, "the number of unmet dependencies")
      try await probe.end(parent, .succeed(result: nil))
      try probe.expect(try await probe.state(dependent), .held, "the state while a child has not ended")
      try await probe.end(probe.claimOne(by: worker), .succeed(result: nil))
      try probe.expect(try await probe.state(dependent), .waiting, "the state after the child")
    },
    JobStoreCheck("J66: a child that is added before the dependents and waits for a stored job is rejected") { probe in
      let ids = try await probe.batch([[], [0]])
      let parent = try await probe.claimOne(by: probe.register())
      let fence = try probe.fence(of: parent)
      let holder = try await probe.enqueue(options: [.unique(.unfinished("key")), .after(ids[1].dependency)])
      let outside = probe.job(options: [.after(ids[1].dependency)])
      var inside = probe.job()
      inside.dependencies = [JobDependency(.batch(1))]
      for batch in [[outside], [inside, probe.job(options: [.unique(.unfinished("key"))])]] {
        do {
          try await probe.write(.enqueueBatch(batch, beforeDependents: true), by: fence)
          throw probe.fail("children wait for stored jobs")
        } catch let error as JobError {
          try probe.expect(error.code, .dependencyCycle, "the error")
        }
      }
      // If another job holds the key of a child, the dependents don't wait for that job.
      let keyed = probe.job(options: [.unique(.unfinished("key"))])
      let answer = try await probe.write(.enqueueBatch([keyed], beforeDependents: true), by: fence)
      try probe.expect(answer, .enqueuedBatch([Enqueued(id: holder, isNew: false)]), "the answer")
      try await probe.end(parent, .succeed(result: nil))
      try probe.expect(try await probe.state(ids[1]), .waiting, "the state of the dependent")
      try probe.expect(try await probe.write(.enqueueBatch([keyed], beforeDependents: true), by: fence), .refused)
    },
    JobStoreCheck("J67: a result is kept until the dependents have ended, regardless of the retention") { probe in
      let worker = try await probe.register()
      for retention in [JobRetention.none, JobRetention(succeeded: .seconds(1))] {
        let id = try await probe.enqueue(options: [.retention(retention)])
        let dependent = try await probe.enqueue(options: [.after(id.success)])
        try await probe.end(probe.claimOne(by: worker), .succeed(result: JobPayload(bytes: [7])))
        try await probe.pass(.seconds(100))
        try probe.expect(try await probe.perform(.prune), 0, "the number of pruned jobs")
        try probe.expect(try await probe.perform(.delete(.all)), 0, "the number of deleted jobs")
        let job = try await probe.claimOne(by: worker)
        try probe.expect(try await probe.stored(id).result?.bytes, [7], "the result")
        let edge = JobEdge(dependency: id, dependent: dependent, requirement: .success, status: .met)
        try probe.expect(try await probe.store.edges(of: [dependent]), [edge], "the dependencies")
        try probe.expect(try await probe.store.edges(of: [id]), [edge], "the dependents")
        try await probe.end(job, .succeed(result: nil))
        try probe.expect(try await probe.perform(.prune), 1, "the number of pruned jobs")
        try probe.expect(try await probe.perform(.delete(.all)), 1, "the number of deleted jobs")
        try probe.expect(try await probe.store.edges(of: [id, dependent]), [], "the dependencies of deleted jobs")
      }
    },
  ]
}

extension JobStoreProbe {
  /// Stores a batch of jobs, each with the indexes of the jobs that it waits for.
  @discardableResult
  func batch(_ dependencies: [[Int]], after: [JobDependency] = [], requiring: DependencyRequirement = .success)
    async throws -> [JobID]
  {
    let jobs = dependencies.map { indexes in
      var job = job()
      job.dependencies = indexes.map { JobDependency(.batch($0), requiring: requiring) }
      if indexes.isEmpty { job.dependencies += after }
      return job
    }
    return try await store.enqueue(jobs).map(\.id)
  }
}
