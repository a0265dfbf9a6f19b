import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let commands = [
    JobStoreCheck("J55: a command changes at most 1,000 jobs, and can be repeated until it changes none") { probe in
      let count = JobCommand.maxChangedCount
      try await probe.enqueueBatch(of: count + 1)
      let commands: [JobCommand] = [
        .change(.all, .priority(.high)), .change(.all, .queue("other")), .cancel(.all), .retry(.all), .cancel(.all),
        .delete(.all),
      ]
      for command in commands {
        for changed in [count, 1, 0] {
          try probe.expect(try await probe.perform(command), changed, "the number of changes by \(command)")
        }
      }
      try probe.expect(try await probe.store.counts(), [:], "the remaining jobs")
      try await probe.enqueueBatch(of: count + 1)
      let worker = try await probe.register()
      try probe.expect(try await probe.claim(count + 9, by: worker).count, count + 1, "the number of claimed jobs")
      for changed in [count, 1, 0] {
        try probe.expect(try await probe.perform(.abandon(.all)), changed, "the number of abandoned jobs")
      }
    },
    JobStoreCheck("J55: a command changes each job that matched when it began once, even if jobs end again") { probe in
      let count = 2 * JobCommand.maxChangedCount + 1
      try await probe.enqueueBatch(of: count)
      let (jobs, store) = (Jobs(probe.store), probe.store)
      try probe.expect(try await jobs.perform(.cancel(.all)), count, "the number of cancelled jobs")
      try await probe.pass(.seconds(1))
      let cancelling = Task {
        while !Task.isCancelled {
          _ = try await store.perform(.cancel(.all))
          await Task.yield()
        }
      }
      let retried: Int
      do {
        retried = try await jobs.perform(.retry(JobFilter(states: [.cancelled])))
      } catch {
        cancelling.cancel()
        throw error
      }
      cancelling.cancel()
      try await cancelling.value
      try probe.expect(retried, count, "the number of jobs that were run again")
      let retries = try await store.jobs(.all, after: nil, limit: .max).map { job in
        job.history.transitions.count { $0.note?.hasPrefix("retried") == true }
      }
      try probe.expect(Set(retries), [1], "how often a job was run again")
    },
    JobStoreCheck("J44: a command runs a job again even if only a later transaction runs its dependency again") {
      probe in
      let worker = try await probe.register()
      let parent = try await probe.enqueue()
      let success = JobDependency(.job(parent), requiring: .success)
      let dependent = try await probe.enqueue(options: [.after(success)])
      let running = try await probe.claimOne(by: worker)
      try await probe.enqueueBatch(of: JobCommand.maxChangedCount)
      let fence = try probe.fence(of: running)
      try await probe.write(.enqueueBatch([probe.job(kind: "child")], beforeDependents: true), by: fence)
      try await probe.end(running, .succeed(result: nil))
      guard let child = try await probe.claim(1, by: worker, kinds: ["child": 1]).first else {
        throw probe.fail("the child was not added")
      }
      try await probe.end(child, .fail(JobEndReason(.failed), nil))
      let jobs = Jobs(probe.store)
      try await jobs.perform(.cancel(.all))
      try await probe.pass(.seconds(1))
      try probe.expect(try await probe.state(dependent), .cancelled, "the state of the dependent")
      let count = JobCommand.maxChangedCount + 2
      try probe.expect(try await jobs.perform(.retry(.all)), count, "the number of jobs that were run again")
      try probe.expect(try await probe.state(dependent), .held, "the state of the dependent afterward")
    },
    JobStoreCheck("J55: a command does not change jobs that begin to match while the command changes other jobs") {
      probe in
      let count = JobCommand.maxChangedCount + 1
      try await probe.enqueueBatch(of: 2 * count)
      let worker = try await probe.register()
      try probe.expect(try await probe.claim(count, by: worker).count, count, "the number of running jobs")
      let (ends, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      let token = probe.store.observeHints { hint in
        if case .finished = hint { continuation.yield() }
      }
      let claiming = Task {
        for await _ in ends { break }
        return try await probe.claim(count, by: worker).count
      }
      let abandoned = try await Jobs(probe.store).perform(.abandon(.all))
      continuation.yield()
      try probe.expect(try await claiming.value, count, "the number of jobs that are claimed later")
      withExtendedLifetime(token) {}
      try probe.expect(abandoned, count, "the number of abandoned jobs")
      try probe.expect(try await probe.store.counts()["default"]?[.running], count, "the number of running jobs")
    },
    JobStoreCheck("J55: only finished jobs are deleted") { probe in
      let scheduled = try await probe.enqueue(options: [.delay(.seconds(1))])
      let running = try await probe.enqueue()
      let worker = try await probe.register()
      let job = try await probe.claimOne(by: worker)
      let finished = try await probe.enqueue()
      try await probe.end(probe.claimOne(by: worker), .succeed(result: nil))
      let waiting = try await probe.enqueue()
      try probe.expect(try await probe.perform(.delete(.all)), 1, "the number of deleted jobs")
      try probe.expect(try await probe.record(finished), nil, "the finished job")
      let left = try await probe.store.jobs(.all, after: nil, limit: 9)
      try probe.expect(probe.numbers(left), [scheduled, running, waiting], "the remaining jobs")
      try probe.expect(try await probe.end(job, .succeed(result: nil)), .recorded, "the ending of the running job")
    },
    JobStoreCheck("J55: the priority and the queue of jobs that have not started can be changed") { probe in
      let (running, waiting) = (try await probe.enqueue(), try await probe.enqueue())
      let scheduled = try await probe.enqueue(options: [.delay(.seconds(1))])
      let ended = try await probe.enqueue()
      try await probe.perform(.cancel(.id(ended)))
      let worker = try await probe.register()
      try await probe.claimOne(by: worker)
      let first = try await probe.enqueue(options: [.queue("other")])
      try probe.expect(try await probe.perform(.change(.all, .priority(.high))), 3, "the number of changed priorities")
      try probe.expect(try await probe.perform(.change(.all, .queue("other"))), 2, "the number of moved jobs")
      for id in [running, ended] {
        let job = try await probe.stored(id)
        try probe.expect(job.priority, 0, "the priority of a job that has started")
        try probe.expect(job.queue, "default", "its queue")
      }
      try await probe.pass(.seconds(1))
      let last = try await probe.enqueue(options: [.queue("other")])
      // The jobs keep their places, ordered by the time when they became ready.
      let jobs = try await probe.claim(9, by: worker, queue: "other")
      try probe.expect(probe.numbers(jobs), [waiting, first, scheduled, last], "the claimed jobs")
    },
    JobStoreCheck("J198: jobs that have not started can be rescheduled, and a job that becomes due now is placed last")
    {
      probe in
      let retrying = try await probe.enqueue()
      let worker = try await probe.register()
      let error = JobErrorDescription(type: "Test", text: "failed")
      try await probe.end(probe.claimOne(by: worker), .retry(after: .seconds(60), error))
      let running = try await probe.enqueue()
      try await probe.claimOne(by: worker)
      let scheduled = try await probe.enqueue(options: [.delay(.seconds(60))])
      let waiting = try await probe.enqueue()
      let held = try await probe.enqueue(options: [.after(running.dependency)])
      let later = probe.store.now + .seconds(30)
      let postponed = try await probe.perform(.change(.id(waiting), .dueTime(later)))
      try probe.expect(postponed, 1, "the number of postponed jobs")
      try probe.expect(try await probe.stored(waiting).state, .scheduled, "the state of a postponed job")
      let changed = try await probe.perform(.change(.all, .dueTime(later)))
      try probe.expect(changed, 3, "the number of jobs with another time")
      try probe.expect(try await probe.stored(running).state, .running, "the state of the running job")
      try probe.expect(try await probe.stored(held).state, .held, "the state of the held job")
      let last = try await probe.enqueue()
      try probe.expect(try await probe.perform(.change(.id(retrying), .runNow)), 1, "the number of jobs that are due")
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), [last, retrying], "the claimed jobs")
      try await probe.pass(.seconds(30))
      let due = probe.numbers(try await probe.claim(9, by: worker))
      try probe.expect(due, [scheduled, waiting], "the jobs that are due later")
    },
    JobStoreCheck("J203: the payload and the deadline of jobs that have not started can be changed") { probe in
      let (running, waiting, late) = (try await probe.enqueue(), try await probe.enqueue(), try await probe.enqueue())
      let held = try await probe.enqueue(options: [.after(running.dependency)])
      let worker = try await probe.register()
      let attempt = try await probe.claimOne(by: worker)
      let payload = JobPayload(bytes: Array("\"changed\"".utf8))
      for (expected, description) in [(3, "changes"), (0, "repeated changes")] {
        let changed = try await probe.perform(.change(.all, .payload(payload, version: 1)))
        try probe.expect(changed, expected, "the number of \(description) of payloads")
      }
      try probe.expect(try await probe.stored(running).payload, attempt.payload, "the payload of the running job")
      try probe.expect(try await probe.stored(held).payload, payload, "the payload of the held job")
      let time = probe.store.now + .seconds(30)
      for id in [waiting, late, held] {
        try probe.expect(try await probe.perform(.change(.id(id), .deadline(time))), 1, "the changes of a deadline")
      }
      for id in [waiting, held] {
        try probe.expect(try await probe.perform(.change(.id(id), .deadline(nil))), 1, "the removed deadlines")
      }
      try await probe.pass(.seconds(31))
      try probe.expect(try await probe.stored(late).reason?.code, .expired, "the reason of the late job")
      let claimed = try await probe.claimOne(by: worker)
      try probe.expect([claimed.id], [waiting], "the claimed job")
      try probe.expect(claimed.payload, payload, "its payload")
    },
    JobStoreCheck("J55: a filter selects jobs that meet all of its conditions") { probe in
      let job = try await probe.enqueue(kind: "a", options: [.queue("one"), .tags(["x", "y"])])
      try await probe.enqueue(kind: "a", options: [.queue("one")])
      try await probe.enqueue(kind: "b", options: [.queue("one"), .tags(["x"])])
      try await probe.enqueue(kind: "a", options: [.queue("two"), .tags(["x"])])
      try await probe.enqueue(kind: "a", options: [.queue("one"), .delay(.seconds(1)), .tags(["x"])])
      let filter = JobFilter(states: [.waiting], queues: ["one"], kinds: ["a"], tag: "x")
      let none = [
        JobFilter(ids: []), JobFilter(states: []), JobFilter(queues: []), JobFilter(kinds: []), JobFilter(tag: "z"),
        JobFilter(queues: ["' OR 1 = 1 --"]), JobFilter(tag: "%"),
      ]
      for filter in none { try probe.expect(try await probe.perform(.cancel(filter)), 0, "the changes by \(filter)") }
      try probe.expect(try await probe.perform(.cancel(filter)), 1, "the number of changes")
      try probe.expect(try await probe.state(job), .cancelled, "the state")
    },
  ]

  static let reading = [
    JobStoreCheck("J130: counts match the jobs of each queue in each state") { probe in
      try probe.expect(try await probe.store.counts(), [:], "the counts of an empty store")
      let worker = try await probe.register()
      let ends: [JobEnding.Action] = [
        .succeed(result: nil), .fail(JobEndReason(.failed), nil), .cancel(JobEndReason(.cancelled)),
      ]
      for end in ends {
        try await probe.enqueue()
        try await probe.end(probe.claimOne(by: worker), end)
      }
      try await probe.enqueue()
      try await probe.claimOne(by: worker)
      for _ in 0..<2 { try await probe.enqueue() }
      try await probe.enqueue(options: [.queue("other"), .delay(.seconds(1))])
      try await probe.perform(.setPaused(queue: "empty", true))
      let expected = [
        "default": JobQueueCounts(byState: [.succeeded: 1, .failed: 1, .cancelled: 1, .running: 1, .waiting: 2]),
        "other": JobQueueCounts(byState: [.scheduled: 1]), "empty": JobQueueCounts(isPaused: true),
      ]
      try probe.expect(try await probe.store.counts(), expected, "the counts")
      try probe.expect(try await probe.fixture.openAgain().counts(), expected, "the counts in another process")
      try await probe.perform(.setPaused(queue: "empty", false))
      try await probe.perform(.cancel(JobFilter(queues: ["other"])))
      try await probe.perform(.delete(JobFilter(queues: ["other"])))
      try probe.expect(try await probe.store.counts().keys.sorted(), ["default"], "the queues")
    },
    JobStoreCheck("J130: jobs are listed by number and in pages, including finished jobs") { probe in
      let ids = try await probe.enqueueBatch(of: 10)
      let worker = try await probe.register()
      for job in try await probe.claim(6, by: worker) where job.id.rawValue % 2 == 0 {
        try await probe.end(job, .succeed(result: nil))
      }
      var (seen, last): ([JobID], JobID?) = ([], nil)
      for _ in 0..<5 {
        let page = probe.numbers(try await probe.store.jobs(.all, after: last, limit: 3))
        try probe.expect(page.count <= 3, true, "whether a page has at most 3 jobs")
        seen += page
        last = page.last
      }
      try probe.expect(seen, ids, "the jobs")
      let store = probe.store
      let ended = try await store.jobs(JobFilter(states: [.succeeded]), after: ids[0], limit: 9)
      let expected = ids[..<6].filter { $0.rawValue % 2 == 0 && $0 > ids[0] }
      try probe.expect(probe.numbers(ended), expected, "the jobs that succeeded")
      let some = [ids[8], ids[2], JobID(rawValue: ids[9].rawValue + 5), ids[2]]
      try probe.expect(
        probe.numbers(try await store.jobs(JobFilter(ids: some), after: nil, limit: 9)), [ids[2], ids[8]], "some jobs")
      try probe.expect(try await store.jobs(.all, after: nil, limit: 0).count, 0, "the number of jobs in no page")
    },
  ]
}
