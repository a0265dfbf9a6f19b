import Headway
@_spi(JobStore) import HeadwayJobs
import Synchronization

extension JobStoreConformance {
  static let limits = [
    JobStoreCheck("J80: a queue's limit applies to all workers together, until the limit is changed") { probe in
      let ids = try await probe.enqueueBatch(of: 6)
      let other = try await probe.enqueue(options: [.queue("other")])
      try probe.expect(
        try await probe.perform(.configure(queue: "default", .maxRunningJobCount(2))), 1, "the number of changes")
      try probe.expect(
        try await probe.perform(.configure(queue: "default", .maxRunningJobCount(2))), 0, "the repeated changes")
      let (first, second) = (try await probe.register(), try await probe.register())
      let jobs = try await probe.claim(1, by: first) + probe.claim(9, by: second)
      try probe.expect(probe.numbers(jobs), Array(ids[..<2]), "the claimed jobs")
      try probe.expect(try await probe.claim(9, by: first).count, 0, "the number of further jobs")
      try probe.expect(probe.numbers(try await probe.claim(9, by: first, queue: "other")), [other], "the other queue")
      try await probe.end(jobs[1], .succeed(result: nil))
      try probe.expect(probe.numbers(try await probe.claim(9, by: first)), [ids[2]], "the job for the free slot")
      try await probe.perform(.configure(queue: "default", .maxRunningJobCount(nil)))
      try probe.expect(probe.numbers(try await probe.claim(9, by: second)), Array(ids[3...]), "the rest")
    },
    JobStoreCheck("J80: a key's limit applies to all workers and queues") { probe in
      let options: JobOptions = [.limits([.concurrency(2, key: "key")])]
      var moved = options
      moved.set(.queue("other"))
      let ids = try await [probe.enqueue(options: options), probe.enqueue(options: options)]
      let elsewhere = try await probe.enqueue(options: moved)
      let free = try await probe.enqueue(options: [.queue("other"), .limits([.concurrency(1, key: "free")])])
      let (first, second) = (try await probe.register(), try await probe.register())
      let jobs = try await probe.claim(9, by: first)
      try probe.expect(probe.numbers(jobs), ids, "the claimed jobs")
      try probe.expect(probe.numbers(try await probe.claim(9, by: second, queue: "other")), [free], "the other queue")
      try await probe.end(jobs[0], .retry(after: .seconds(1), JobErrorDescription(type: "", text: "")))
      let next = probe.numbers(try await probe.claim(9, by: second, queue: "other"))
      try probe.expect(next, [elsewhere], "the job for the free slot")
      try await probe.pass(.seconds(1))
      try probe.expect(try await probe.claim(9, by: first).count, 0, "the number of jobs that are due")
    },
    JobStoreCheck("J80: workers of several processes that claim at the same time don't exceed a limit") { probe in
      let options: JobOptions = [.limits([.concurrency(3, key: "key")])]
      _ = try await probe.store.enqueue((0..<40).map { _ in probe.job(options: options) })
      let stores = [probe.store, try await probe.fixture.openAgain()]
      let count = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<8 {
          let store = stores[number % 2]
          let worker = try await probe.register(in: store)
          group.addTask { try await probe.claim(6, by: worker, in: store).count }
        }
        return try await group.reduce(0, +)
      }
      try probe.expect(count, 3, "the number of claimed jobs")
    },
    JobStoreCheck("J81: when a worker dies, the slots of its jobs are freed, and a late ending frees no slot twice") {
      probe in
      let options: JobOptions = [.limits([.concurrency(1, key: "key")])]
      let ids = try await [probe.enqueue(options: options), probe.enqueue(options: options)]
      let dead = try await probe.crash()
      let worker = try await probe.register()
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), [ids[0]], "the job after the crash")
      try probe.expect(try await probe.end(dead, .succeed(result: nil)), .refused, "the late ending")
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of jobs after the late ending")
      try await probe.perform(.abandon(.id(ids[0])))
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), [ids[1]], "the job after the abandoned one")
    },
    JobStoreCheck("J82: jobs of a serial key run one at a time, in the order of enqueueing, at any priority") {
      probe in
      let serial = JobLimit.serial(key: "key")
      let ids = try await [
        probe.enqueue(options: [.priority(.low), .limits([serial])]),
        probe.enqueue(options: [.priority(.high), .limits([serial])]),
        probe.enqueue(options: [.queue("other"), .limits([serial])]),
      ]
      let worker = try await probe.register()
      for (id, queue) in zip(ids, ["default", "default", "other"]) {
        for other in ["default", "other"] where other != queue {
          try probe.expect(try await probe.claim(9, by: worker, queue: other).count, 0, "the jobs of the other queue")
        }
        let jobs = try await probe.claim(9, by: worker, queue: queue)
        try probe.expect(probe.numbers(jobs), [id], "the claimed jobs")
        try await probe.end(jobs[0], .succeed(result: nil))
      }
    },
    JobStoreCheck("J82: a serial job keeps its place when it is scheduled, retried, snoozed, given back or rescued") {
      probe in
      let serial: JobOptions = [.limits([.serial(key: "key")])]
      var delayed = serial
      delayed.set(.delay(.seconds(1)))
      let first = try await probe.enqueue(options: delayed)
      let second = try await probe.enqueue(options: serial)
      let worker = try await probe.register()
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of jobs before the first one is due")
      try await probe.pass(.seconds(1))
      let error = JobErrorDescription(type: "", text: "")
      for action in [.retry(after: .seconds(1), error), .snooze(.seconds(1)), .release] as [JobEnding.Action] {
        let jobs = try await probe.claim(9, by: worker)
        try probe.expect(probe.numbers(jobs), [first], "the claimed jobs")
        try await probe.end(jobs[0], action)
        if action != .release {
          try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of jobs during the pause")
        }
        try await probe.pass(.seconds(1))
      }
      try probe.expect(try await probe.crash().id, first, "the job that crashes")
      try probe.expect(
        try await probe.claim(9, by: worker, allowsSuspect: false).count, 0, "the number of jobs behind a suspect")
      try await probe.perform(.cancel(.id(first)))
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), [second], "the job after the cancellation")
    },
    JobStoreCheck("J83: keys are served in turn, and a key whose limit is reached misses its turn") { probe in
      let worker = try await probe.register()
      for key in ["big", "big", "big", "big", "big", "small", "other"] {
        try await probe.enqueue("{}", options: [.label(key), .limits([.concurrency(2, key: key)])])
      }
      // Three rounds, in two claims: each key has one job in the first round.
      let first = try await probe.claim(2, by: worker) + probe.claim(1, by: worker)
      try probe.expect(
        Set(first.compactMap(\.settings.label)), ["big", "small", "other"], "the keys of the first round")
      let second = try await probe.claim(9, by: worker)
      try probe.expect(second.compactMap(\.settings.label), ["big"], "the keys of the second round")
      try await probe.enqueue("{}", options: [.label("new"), .limits([.concurrency(2, key: "new")])])
      try probe.expect(try await probe.claim(9, by: worker).compactMap(\.settings.label), ["new"], "the new key")
    },
    JobStoreCheck("J83: a claim finds the keys with free slots among many keys whose limit is reached") { probe in
      let limits = (0..<24).map { number in
        switch number % 3 {
        case 0: JobLimit.serial(key: "\(number)")
        case 1: JobLimit.concurrency(1, key: "\(number)")
        default: JobLimit.rate(1, per: .seconds(10), key: "\(number)")
        }
      }
      for limit in limits + limits { try await probe.enqueue(options: [.label(limit.key), .limits([limit])]) }
      let worker = try await probe.register()
      let jobs = try await probe.claim(24, by: worker)
      try probe.expect(Set(jobs.compactMap(\.settings.label)).count, 24, "the number of keys in the first round")
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of jobs without room")
      let ending: Set = ["3", "10", "21"]
      for job in jobs where job.settings.label.map(ending.contains) == true {
        try await probe.end(job, .succeed(result: nil))
      }
      let retried = jobs.first { $0.settings.label == "6" }
      if let retried {
        try await probe.end(retried, .retry(after: .seconds(100), JobErrorDescription(type: "", text: "")))
      }
      let next = try await probe.claim(9, by: worker).compactMap(\.settings.label)
      try probe.expect(next.sorted(), ending.sorted(), "the keys with room")
      try await probe.pass(.seconds(10))
      try probe.expect(try await probe.claim(24, by: worker).count, 8, "the number of keys with a token")
    },
    JobStoreCheck("J83: jobs with and without a key take turns, and jobs of a higher priority precede both") { probe in
      let worker = try await probe.register()
      for number in 0..<3 {
        try await probe.enqueue("\(number)")
        try await probe.enqueue("\(number + 10)", options: [.limits([.concurrency(9, key: "key")])])
      }
      try await probe.enqueue("20", options: [.priority(.high), .limits([.concurrency(9, key: "key")])])
      try await probe.enqueue("30", options: [.priority(.low)])
      var texts: [String] = []
      while let job = try await probe.claim(1, by: worker).first {
        texts.append(String(decoding: job.payload.bytes, as: UTF8.self))
      }
      try probe.expect(texts, ["20", "10", "0", "11", "1", "12", "2", "30"], "the order of the jobs")
    },
    JobStoreCheck("J84: jobs of a key are claimed at its rate, and a crash returns no token") { probe in
      let options: JobOptions = [.limits([.rate(2, per: .seconds(10), burst: 3, key: "key")])]
      _ = try await probe.store.enqueue((0..<9).map { _ in probe.job(options: options) })
      let worker = try await probe.register()
      try probe.expect(try await probe.claim(9, by: worker).count, 3, "the number of jobs at first")
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of further jobs")
      let next = probe.store.now + .seconds(5)
      try probe.expect(try await probe.store.advance(), next, "when the next token is available")
      try await probe.fixture.kill(worker)
      try probe.expect(try await probe.store.rescue().count, 3, "the number of rescued jobs")
      let other = try await probe.register()
      try probe.expect(try await probe.claim(9, by: other, allowsSuspect: false).count, 0, "the jobs after the crash")
      try await probe.pass(.seconds(5))
      try probe.expect(try await probe.claim(9, by: other).count, 1, "the number of jobs for one token")
      try await probe.perform(.prune)
      try probe.expect(try await probe.claim(9, by: other).count, 0, "the number of jobs after pruning")
      try await probe.pass(.seconds(100))
      try probe.expect(try await probe.claim(9, by: other).count, 3, "the number of jobs after a long pause")
    },
    JobStoreCheck(
      "J84: a claim that finds no token sends a hint, so that jobs are claimed again when the next token is due"
    ) { probe in
      let hintCount = Mutex(0)
      let observation = probe.store.observeHints { hint in
        if case .scheduled = hint { hintCount.withLock { $0 += 1 } }
      }
      let options: JobOptions = [.limits([.rate(1, per: .seconds(10), key: "key")])]
      _ = try await probe.store.enqueue((0..<3).map { _ in probe.job(options: options) })
      let worker = try await probe.register()
      for (token, expected) in [(1, 1), (0, 1), (1, 2)] {
        if expected == 2 { try await probe.pass(.seconds(10)) }
        try probe.expect(try await probe.claim(1, by: worker).count, token, "the number of jobs for a token")
        try probe.expect(try await probe.claim(1, by: worker).count, 0, "the number of jobs without one")
        try probe.expect(hintCount.withLock(\.self), expected, "the number of hints")
      }
      withExtendedLifetime(observation) {}
    },
    JobStoreCheck("J85: if a queue has an aging interval, a waiting job rises above later jobs of a higher priority") {
      probe in
      let low = try await probe.enqueue(options: [.priority(.veryLow)])
      let keyed = try await probe.enqueue(
        options: [.priority(.veryLow), .limits([.concurrency(1, key: "key")])])
      let worker = try await probe.register()
      try await probe.pass(.seconds(30))
      let (normal, high) = (try await probe.enqueue(), try await probe.enqueue(options: [.priority(.high)]))
      try await probe.perform(.configure(queue: "default", .agingInterval(.seconds(10))))
      // They have risen by three priorities.
      let jobs = try await probe.claim(2, by: worker) + probe.claim(1, by: worker)
      try probe.expect(Set(jobs.map(\.id)), [low, keyed, high], "the claimed jobs")
      try probe.expect(jobs.first { $0.id == low }?.priority, -8, "the stored priority")
      try await probe.end(jobs[0], .release)
      try await probe.perform(.configure(queue: "default", .agingInterval(nil)))
      let strict = try await probe.claim(1, by: worker)
      try probe.expect(strict.count, 1, "the number of jobs by strict priority")
      try probe.expect(strict[0].id == normal || strict[0].id == high, true, "whether the priority is strict")
    },
    JobStoreCheck("J39: a suspect is claimed in the order of priority and place, but not ahead") { probe in
      let suspect = try await probe.enqueue(options: [.priority(.low)])
      try await probe.crash()
      let high = try await probe.enqueue(options: [.priority(.high)])
      let low = try await probe.enqueue(options: [.priority(.low)])
      let worker = try await probe.register()
      try probe.expect(probe.numbers(try await probe.claim(1, by: worker)), [high], "the first job")
      let next = try await probe.enqueue()
      let claim = JobClaim(queue: "default", count: 2, allowsSuspect: true, freeSlotCount: 1, kinds: ["test": 1])
      let ahead = try await probe.store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
      try probe.expect(probe.numbers(ahead), [next, low], "the jobs with one free slot")
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), [suspect], "the last job")
    },
  ]

  static let queueSettings = [
    JobStoreCheck("J18: a full queue accepts no new jobs, and a queue that is not full accepts a whole batch") {
      probe in
      try await probe.perform(.configure(queue: "default", .maxPendingJobCount(3)))
      try await probe.enqueue(options: [.delay(.seconds(1))])
      try await probe.enqueueBatch(of: 4)
      let unique: JobOptions = [.queue("other"), .unique(.unfinished("key"))]
      let held = try await probe.enqueue(options: unique)
      try await Self.expectFull(probe) { try await $0.enqueue() }
      try await Self.expectFull(probe) { try await $0.store.enqueue([$0.job(options: unique), $0.job()]) }
      // A job whose key is held needs no room.
      try probe.expect(try await probe.enqueue(options: [.unique(.unfinished("key"))]), held, "the holder")
      let worker = try await probe.register()
      let jobs = try await probe.claim(2, by: worker)
      try await Self.expectFull(probe) { try await $0.enqueue() }
      let fence = try probe.fence(of: jobs[0])
      try probe.expect(try await probe.write(.enqueue(probe.job()), by: fence), .queueFull, "the answer to a child")
      try await probe.claim(1, by: worker)
      try await probe.enqueue()
      try await probe.end(jobs[0], .release)
      try probe.expect(try await probe.store.counts()["default"]?[.waiting], 3, "the number of waiting jobs")
      try await probe.perform(.configure(queue: "default", .maxPendingJobCount(nil)))
      try await probe.enqueue()
    },
    JobStoreCheck("J45: a queue with a failure limit is paused after that many failures in a row") { probe in
      try await probe.perform(.configure(queue: "default", .maxFailureCount(3)))
      let worker = try await probe.register()
      try await probe.enqueueBatch(of: 9)
      let error = JobErrorDescription(type: "", text: "")
      let (fail, retry) = (
        JobEnding.Action.fail(JobEndReason(.failed), error), JobEnding.Action.retry(after: .zero, error)
      )
      for action in [fail, retry, .succeed(result: nil), fail, .snooze(.zero), retry] {
        try await probe.end(probe.claimOne(by: worker), action)
      }
      let job = try await probe.claimOne(by: worker)
      var counts = try await probe.store.counts()["default"]
      try probe.expect(counts?.isPaused, false, "whether the queue is paused after two failures")
      try probe.expect(counts?.failureCount, 2, "the number of failures")
      // A repeated ending counts once.
      for _ in 0..<2 { try await probe.end(job, fail) }
      counts = try await probe.fixture.openAgain().counts()["default"]
      try probe.expect(counts?.isPaused, true, "whether the queue is paused after three failures")
      try probe.expect(counts?.failureCount, 3, "the number of failures")
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of jobs of the paused queue")
      try await probe.perform(.setPaused(queue: "default", false))
      try probe.expect(try await probe.store.counts()["default"]?.failureCount, 0, "the failures after it is resumed")
      try await probe.claimOne(by: worker)
    },
    JobStoreCheck("J80, J85: the settings of a queue are stored, and read with the counts") { probe in
      let settings: [JobQueueChange] = [
        .maxRunningJobCount(0), .maxPendingJobCount(7), .maxFailureCount(5), .agingInterval(.milliseconds(1_500)),
      ]
      for setting in settings {
        try probe.expect(try await probe.perform(.configure(queue: "mail", setting)), 1, "the changes by \(setting)")
      }
      var expected = JobQueueSettings()
      (expected.maxRunningJobCount, expected.maxPendingJobCount, expected.maxFailureCount) = (0, 7, 5)
      expected.agingInterval = .milliseconds(1_500)
      for store in [probe.store, try await probe.fixture.openAgain()] {
        try probe.expect(try await store.counts(), ["mail": JobQueueCounts(settings: expected)], "the counts")
      }
      for setting in [.maxRunningJobCount(nil), .maxPendingJobCount(nil), .maxFailureCount(nil), .agingInterval(nil)]
        as [JobQueueChange]
      {
        try await probe.perform(.configure(queue: "mail", setting))
      }
      try probe.expect(try await probe.store.counts(), [:], "the counts without settings")
    },
  ]

  private static func expectFull<Answer>(
    _ probe: JobStoreProbe, file: StaticString = #fileID, line: UInt = #line,
    _ body: (JobStoreProbe) async throws -> Answer
  ) async throws {
    let before = try await probe.store.jobs(.all, after: nil, limit: 100)
    do {
      _ = try await body(probe)
    } catch let error as JobError where error.code == .queueFull {
      return try probe.expect(try await probe.store.jobs(.all, after: nil, limit: 100), before, "the jobs")
    }
    throw probe.fail("the full queue has accepted a job", file: file, line: line)
  }
}
