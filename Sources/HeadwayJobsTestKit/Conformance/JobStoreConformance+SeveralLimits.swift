@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let severalLimits = [
    JobStoreCheck("J240: a job is claimed when all its limits permit it, and counts toward each limit") { probe in
      let shared = JobLimit.concurrency(2, key: "shared")
      var ids: [JobID] = []
      for customer in ["a", "a", "b", "c"] {
        ids.append(try await probe.enqueue(options: [.limits([.concurrency(1, key: customer), shared])]))
      }
      let free = try await probe.enqueue(options: [.limits([.concurrency(1, key: "d")])])
      let (first, second) = (try await probe.register(), try await probe.register())
      let jobs = try await probe.claim(1, by: first) + probe.claim(9, by: second)
      try probe.expect(jobs.count, 3, "the number of claimed jobs")
      try probe.expect(jobs.map(\.id).contains(free), true, "whether the job without the shared limit is claimed")
      let holders = jobs.filter { $0.id != free }
      try probe.expect(holders.map(\.id).contains(ids[1]), false, "whether a customer has two jobs")
      try await probe.end(holders[0], .succeed(result: nil))
      try probe.expect(try await probe.claim(9, by: first).count, 1, "the number of jobs for the free unit")
      try await probe.perform(.abandon(.all))
      try probe.expect(try await probe.claim(9, by: second).count, 1, "the jobs after the running jobs were abandoned")
      // One job has the shared key as its first key.
      try await probe.enqueue(options: [.limits([shared])])
      try await probe.enqueue(options: [.limits([shared])])
      try probe.expect(try await probe.claim(9, by: second).count, 1, "the jobs whose first limit is the shared one")
    },
    JobStoreCheck("J240: the sum of running weights never exceeds the limit, even after endings and crashes") {
      probe in
      func options(_ weight: Int, _ key: String) -> JobOptions {
        [.limits([.concurrency(9, key: key), .concurrency(10, key: "shared", weight: weight)])]
      }
      let heavy = try await [probe.enqueue(options: options(6, "a")), probe.enqueue(options: options(6, "a"))]
      let dead = try await probe.crash()
      try probe.expect(dead.id, heavy[0], "the job that crashes")
      let worker = try await probe.register()
      // Its units are free again.
      let second = try await probe.claim(9, by: worker, allowsSuspect: false)
      try probe.expect(probe.numbers(second), [heavy[1]], "the job after the crash")
      let light = try await [probe.enqueue(options: options(4, "b")), probe.enqueue(options: options(4, "b"))]
      let jobs = try await probe.claim(9, by: worker, allowsSuspect: false)
      try probe.expect(probe.numbers(jobs), [light[0]], "the job for the remaining units")
      try await probe.end(jobs[0], .snooze(.seconds(100)))
      try probe.expect(
        probe.numbers(try await probe.claim(9, by: worker, allowsSuspect: false)), [light[1]],
        "the job after the snooze")
      try await probe.end(second[0], .retry(after: .seconds(100), JobErrorDescription(type: "", text: "")))
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), [heavy[0]], "the suspect")
      try await probe.store.unregister(worker, isRunningCode: false)
      let other = try await probe.register()
      try probe.expect(try await probe.claim(9, by: other).count, 2, "the jobs after the worker has stopped")
    },
    JobStoreCheck("J240: a job that is blocked by one limit takes no token of another limit") { probe in
      let limits: [JobLimit] = [
        .rate(2, per: .seconds(10), key: "rate", weight: 2), .concurrency(1, key: "shared"),
      ]
      let worker = try await probe.register()
      try await probe.enqueue(options: [.limits([.concurrency(1, key: "shared")])])
      let holder = try await probe.claimOne(by: worker)
      let id = try await probe.enqueue(options: [.limits(limits)])
      for _ in 0..<3 { try probe.expect(try await probe.claim(9, by: worker).count, 0, "the jobs without a unit") }
      try await probe.end(holder, .succeed(result: nil))
      let jobs = try await probe.claim(9, by: worker)
      try probe.expect(probe.numbers(jobs), [id], "the job with both tokens")
      try await probe.enqueue(options: [.limits(limits)])
      try await probe.end(jobs[0], .succeed(result: nil))
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the jobs without tokens")
      try await probe.pass(.seconds(5))
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the jobs with one of two tokens")
      try await probe.pass(.seconds(5))
      try probe.expect(try await probe.claim(9, by: worker).count, 1, "the jobs with two tokens")
    },
    JobStoreCheck("J242: an exhausted limit does not delay jobs without this limit, even if they have the same key") {
      probe in
      let shared = JobLimit.concurrency(1, key: "shared")
      try await probe.enqueue(options: [.limits([shared])])
      let worker = try await probe.register()
      let holder = try await probe.claimOne(by: worker)
      for number in 0..<40 {
        try await probe.enqueue(options: [.limits([.concurrency(1, key: "\(number)"), shared])])
      }
      let free = try await [
        probe.enqueue(options: [.limits([.concurrency(1, key: "7")])]),
        probe.enqueue(options: [.limits([.serial(key: "own")])]), probe.enqueue(),
      ]
      let jobs = try await probe.claim(9, by: worker)
      try probe.expect(Set(jobs.map(\.id)), Set(free), "the claimed jobs")
      try await probe.end(holder, .succeed(result: nil))
      try probe.expect(try await probe.claim(9, by: worker).count, 1, "the number of jobs for the free unit")
    },
    JobStoreCheck("J243: units are kept for a heavy job until there are enough") { probe in
      func options(_ key: String, _ weight: Int) -> JobOptions {
        [.limits([.concurrency(9, key: key), .concurrency(4, key: "shared", weight: weight)])]
      }
      let worker = try await probe.register()
      for number in 0..<4 { try await probe.enqueue(options: options("\(number)", 1)) }
      let running = try await probe.claim(9, by: worker)
      try probe.expect(running.count, 4, "the number of running jobs")
      let heavy = try await probe.enqueue(options: options("heavy", 3))
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of jobs without a unit")
      for number in 0..<8 { try await probe.enqueue(options: options("\(number)", 1)) }
      for job in running[..<2] {
        try await probe.end(job, .succeed(result: nil))
        try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of lighter jobs")
      }
      try await probe.end(running[2], .succeed(result: nil))
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), [heavy], "the heavy job")
      try await probe.end(running[3], .succeed(result: nil))
      try probe.expect(try await probe.claim(9, by: worker).count, 1, "the number of lighter jobs after it")
    },
    JobStoreCheck("J298: units are kept for heavy jobs, except jobs of a kind that no worker supports") {
      probe in
      func options(_ key: String, _ weight: Int) -> JobOptions {
        [.limits([.concurrency(9, key: key), .concurrency(4, key: "shared", weight: weight)])]
      }
      let worker = try await probe.register()
      for number in 0..<4 { try await probe.enqueue(options: options("a\(number)", 1)) }
      let running = try await probe.claim(9, by: worker)
      try probe.expect(running.count, 4, "the number of running jobs")
      let unknown = try await probe.enqueue(kind: "unknown", options: options("x", 3))
      try probe.expect(
        try await probe.claim(9, by: worker, kinds: ["unknown": 1]).count, 0, "the jobs of a worker that leaves")
      let heavy = try await probe.enqueue(options: options("y", 3))
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of jobs without a unit")
      // These keys are next in turn.
      for number in 0..<8 { try await probe.enqueue(options: options("m\(number)", 1)) }
      for job in running[..<2] {
        try await probe.end(job, .succeed(result: nil))
        try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of lighter jobs")
      }
      try await probe.end(running[2], .succeed(result: nil))
      let claimed = try await probe.claim(9, by: worker)
      try probe.expect(probe.numbers(claimed), [heavy], "the heavy job")
      try await probe.end(claimed[0], .succeed(result: nil))
      // The first heavy job is still remembered for the workers that support its kind.
      let others = try await probe.claim(9, by: worker, kinds: ["test": 1, "unknown": 1])
      try probe.expect(probe.numbers(others), [unknown], "the job of the other kind")
    },
    JobStoreCheck(
      "J243: the store reports when a heavy job can have its tokens, even if one token is available for other jobs"
    ) {
      probe in
      func options(_ key: String, _ weight: Int) -> JobOptions {
        [.limits([.concurrency(9, key: key), .rate(4, per: .seconds(40), key: "rate", weight: weight)])]
      }
      let worker = try await probe.register()
      try await probe.enqueue(options: options("first", 3))
      try probe.expect(try await probe.claim(9, by: worker).count, 1, "the number of jobs for three tokens")
      let next = probe.store.now + .seconds(30)
      let heavy = try await probe.enqueue(options: options("heavy", 4))
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of jobs for the last token")
      try await probe.enqueue(options: options("light", 1))
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of lighter jobs")
      try probe.expect(try await probe.store.advance(), next, "when all tokens are available")
      try await probe.pass(.seconds(30))
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), [heavy], "the job with all tokens")
    },
    JobStoreCheck("J240: workers of several processes that claim at the same time exceed no limit") {
      probe in
      let jobs = (0..<60).map { number in
        probe.job(
          options: [
            .limits([.concurrency(2, key: "\(number % 6)"), .concurrency(7, key: "shared", weight: 1 + number % 2)])
          ])
      }
      _ = try await probe.store.enqueue(jobs)
      let stores = [probe.store, try await probe.fixture.openAgain()]
      let claimed = try await withThrowingTaskGroup(of: [JobRecord].self) { group in
        for number in 0..<8 {
          let store = stores[number % 2]
          let worker = try await probe.register(in: store)
          group.addTask { try await probe.claim(3, by: worker, in: store) }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      var weights: [String: Int] = [:]
      for limit in claimed.flatMap({ $0.settings.limits ?? [] }) { weights[limit.key, default: 0] += limit.weight }
      let shared = weights.removeValue(forKey: "shared") ?? 0
      guard (6...7).contains(shared), weights.values.allSatisfy({ $0 <= 2 }) else {
        throw probe.fail("the running jobs have the weights \(weights), and \(shared) of the shared limit")
      }
    },
  ]
}
