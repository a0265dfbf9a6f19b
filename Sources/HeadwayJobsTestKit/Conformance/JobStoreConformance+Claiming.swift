import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let claiming = [
    JobStoreCheck("J3: a claim returns only kinds and versions that the worker supports") { probe in
      let old = try await probe.enqueue(kind: "known", version: 1)
      try await probe.enqueue(kind: "unknown", version: 1)
      try await probe.enqueue(kind: "known", version: 3)
      let new = try await probe.enqueue(kind: "known", version: 2)
      let jobs = try await probe.claim(9, by: probe.register(), kinds: ["known": 2, "other": 9])
      try probe.expect(probe.numbers(jobs), [old, new], "the claimed jobs")
    },
    JobStoreCheck("J30: a claim sets the owner and counts the claim and the attempt") { probe in
      let id = try await probe.enqueue()
      let worker = try await probe.register()
      let job = try await probe.claimOne(by: worker)
      try probe.expect(job.id, id, "the claimed job")
      try probe.expect(job.state, .running, "its state")
      try probe.expect(job.owner, worker, "its owner")
      try probe.expect(job.attempt, 1, "its attempt")
      try probe.expect(job.epoch, 1, "the number of claims")
      try probe.expect(job.claimedTime, probe.store.now, "when it was claimed")
      try probe.expect(job.firstClaimedTime, probe.store.now, "when it was first claimed")
      try probe.expect(try await probe.record(id), job, "the stored job")
    },
    JobStoreCheck("J30: no job is claimed twice, and a claim returns at most as many jobs as requested") {
      probe in
      var ids: [JobID] = []
      for _ in 0..<5 { ids.append(try await probe.enqueue()) }
      let (first, second) = (try await probe.register(), try await probe.register())
      try probe.expect(probe.numbers(try await probe.claim(2, by: first)), Array(ids[..<2]), "the first claim")
      try probe.expect(probe.numbers(try await probe.claim(9, by: second)), Array(ids[2...]), "the second claim")
      try probe.expect(try await probe.claim(9, by: first).count, 0, "the number of jobs left")
    },
    JobStoreCheck("J30: workers of several processes that claim at the same time receive different jobs") { probe in
      let ids = try await probe.enqueueBatch(of: 40)
      let stores = [probe.store, try await probe.fixture.openAgain()]
      let claimed = try await withThrowingTaskGroup(of: [JobRecord].self) { group in
        for number in 0..<8 {
          let store = stores[number % 2]
          let worker = try await probe.register(in: store)
          group.addTask { try await probe.claim(6, by: worker, in: store) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      try probe.expect(claimed.filter { $0.count > 6 }.count, 0, "the number of claims with too many jobs")
      try probe.expect(claimed.joined().map(\.id).sorted(), ids, "the claimed jobs")
    },
    JobStoreCheck("J30: the claims of an exchange are served one after another, each for its queue") { probe in
      let mail = try await probe.enqueue(options: [.queue("mail")])
      let (first, second) = (try await probe.enqueue(), try await probe.enqueue())
      let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: ["test": 1])
      var (other, none, unknown) = (claim, claim, claim)
      (other.queue, none.count, unknown.queue) = ("mail", 0, "unknown")
      let exchange = JobExchange(worker: try await probe.register(), claims: [claim, other, none, unknown, claim])
      let answer = try await probe.store.exchange(exchange)
      try probe.expect(answer.claimed.map(probe.numbers), [[first], [mail], [], [], [second]], "the claimed jobs")
    },
    JobStoreCheck(
      "J43: after a lost answer, a worker keeps the jobs that it has received, and the remaining jobs return"
    ) {
      probe in
      for _ in 0..<4 { try await probe.enqueue() }
      let worker = try await probe.register()
      let known = try await probe.claim(1, by: worker)
      try await probe.claim(2, by: worker)  // The answer is lost.
      let other = try await probe.claim(1, by: probe.register())
      let claim = JobClaim(queue: "default", count: 9, allowsSuspect: true, kinds: ["test": 1])
      let exchange = JobExchange(worker: worker, claims: [claim], running: Set(known.compactMap(\.fence)))
      let jobs = try await probe.store.exchange(exchange).claimed[0]
      try probe.expect(jobs.map(\.id.rawValue), [2, 3], "the claimed jobs")
      try probe.expect(jobs.map(\.attempt), [1, 1], "their attempts")
      try probe.expect(try await probe.end(known[0], .succeed(result: nil)), .recorded, "the end of the known job")
      try probe.expect(try await probe.end(other[0], .succeed(result: nil)), .recorded, "the end of the other job")
    },
    JobStoreCheck("J22: the claims of a group return at most the requested number together, in their order") { probe in
      for queue in ["first", "second", "third"] {
        for _ in 0..<2 { try await probe.enqueue(options: [.queue(queue)]) }
      }
      func claim(_ queue: String, _ count: Int, _ group: Int?) -> JobClaim {
        JobClaim(queue: queue, count: count, allowsSuspect: false, kinds: ["test": 1], group: group)
      }
      let claims = [
        claim("first", 1, 7), claim("second", 3, 8), claim("third", 1, 7), claim("third", 3, 8), claim("first", 1, nil),
      ]
      let exchange = JobExchange(worker: try await probe.register(), claims: claims)
      let claimed = try await probe.store.exchange(exchange).claimed
      try probe.expect(claimed.map(\.count), [1, 2, 0, 1, 1], "the numbers of claimed jobs")
      try probe.expect(claimed.map { $0.first?.queue }, ["first", "second", nil, "third", "first"], "the queues")
    },
    JobStoreCheck("J34: each worker has a new identity, and a removed worker claims nothing") { probe in
      let first = try await probe.register()
      try await probe.store.unregister(first, isRunningCode: false)
      let second = try await probe.register(in: probe.fixture.openAgain())
      let third = try await probe.register()
      try probe.expect(Set([first, second, third]).count, 3, "the number of identities")
      try await probe.enqueue()
      try probe.expect(try await probe.store.beat(first, running: []).isRegistered, false, "whether it is registered")
      try probe.expect(try await probe.store.beat(third, running: []).isRegistered, true, "whether the last one is")
      try probe.expect(try await probe.claim(1, by: first).count, 0, "the number of jobs for the removed worker")
    },
    JobStoreCheck("J100: jobs in a paused queue are not claimed until the queue is resumed, but running jobs can end") {
      probe in
      let worker = try await probe.register()
      try await probe.enqueue()
      let running = try await probe.claimOne(by: worker)
      try probe.expect(try await probe.perform(.setPaused(queue: "default", true)), 1, "the number of changes")
      try probe.expect(try await probe.perform(.setPaused(queue: "default", true)), 0, "the number of repeated changes")
      let id = try await probe.enqueue()
      let other = try await probe.enqueue(options: [.queue("other")])
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of jobs of the paused queue")
      try probe.expect(
        probe.numbers(try await probe.claim(9, by: worker, queue: "other")), [other], "the jobs of another queue")
      try probe.expect(try await probe.end(running, .succeed(result: nil)), .recorded, "the end of a running job")
      let again = try await probe.fixture.openAgain()
      try probe.expect(try await again.counts()["default"]?.isPaused, true, "whether the queue is paused")
      try probe.expect(try await again.perform(.setPaused(queue: "default", false)), 1, "the number of changes")
      try probe.expect(try await probe.store.counts()["default"]?.isPaused, false, "whether the queue is paused")
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), [id], "the jobs of the resumed queue")
    },
  ]

  static let order = [
    JobStoreCheck("J134: jobs are claimed by priority, then in the order of becoming ready") { probe in
      var ids: [Operation.QueuePriority: [JobID]] = [:]
      for priority in [.low, .normal, .veryHigh, .low, .veryLow, .high, .veryHigh] as [Operation.QueuePriority] {
        ids[priority, default: []].append(try await probe.enqueue(options: [.priority(priority)]))
      }
      let expected = Operation.QueuePriority.allCases.sorted(by: >).flatMap { ids[$0, default: []] }
      let worker = try await probe.register()
      try probe.expect(probe.numbers(try await probe.claim(3, by: worker)), Array(expected[..<3]), "the first jobs")
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), Array(expected[3...]), "the other jobs")
    },
    JobStoreCheck("J134: a job runs after the jobs that were ready before it was due") { probe in
      let late = try await probe.enqueue(options: [.delay(.seconds(2))])
      let early = try await probe.enqueue(options: [.delay(.seconds(1))])
      let same = try await probe.enqueue(options: [.delay(.seconds(2))])
      let first = try await probe.enqueue()
      try await probe.pass(.seconds(3))
      let last = try await probe.enqueue()
      let jobs = try await probe.claim(9, by: probe.register())
      try probe.expect(probe.numbers(jobs), [first, early, late, same, last], "the claimed jobs")
    },
    JobStoreCheck("J134: a retried job moves behind all other jobs, and a job that is given back keeps its place") {
      probe in
      let (first, second, third) = (try await probe.enqueue(), try await probe.enqueue(), try await probe.enqueue())
      let worker = try await probe.register()
      let jobs = try await probe.claim(2, by: worker)
      try await probe.end(jobs[0], .retry(after: .zero, JobErrorDescription(type: "Test", text: "")))
      try await probe.end(jobs[1], .release)
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), [second, third, first], "the claimed jobs")
    },
    JobStoreCheck("J134: a replaced job that becomes ready runs after the jobs that were already ready") { probe in
      let key = UniqueKey.unfinished("key", onConflict: .replace)
      let replaced = try await probe.enqueue(options: [.delay(.seconds(9)), .unique(key)])
      let other = try await probe.enqueue()
      try await probe.enqueue(options: [.unique(key)])
      let jobs = try await probe.claim(9, by: probe.register())
      try probe.expect(probe.numbers(jobs), [other, replaced], "the claimed jobs")
    },
  ]
}
