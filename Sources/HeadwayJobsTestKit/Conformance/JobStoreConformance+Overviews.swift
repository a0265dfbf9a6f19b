import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let overviews = [
    JobStoreCheck("J154: job numbers are returned newest first, and each page continues the previous page") { probe in
      let worker = try await probe.register()
      var expected = try await probe.enqueueBatch(of: 7)
      for index in 0..<4 {
        let action: JobEnding.Action = index < 2 ? .fail(JobEndReason(.failed), nil) : .succeed(result: nil)
        try await probe.end(probe.claimOne(by: worker), action)
      }
      try await probe.claimOne(by: worker)
      expected.append(try await probe.enqueue(options: [.delay(.seconds(9))]))
      expected.append(try await probe.enqueue(options: [.after(JobDependency(.job(expected[6])))]))
      let store = probe.store
      try probe.expect(try await probe.ids(.all, limit: 99), expected.reversed(), "all jobs")
      try probe.expect(try await probe.ids(.all, limit: 2), expected.reversed(), "all jobs, in pages")
      let page = try await store.ids(.all, before: expected[4], limit: 3)
      try probe.expect(page, JobIDPage(ids: [expected[3], expected[2], expected[1]], next: expected[1]), "a page")
      let last = try await store.ids(.all, before: expected[1], limit: 3)
      try probe.expect(last, JobIDPage(ids: [expected[0]]), "the last page")
      let states: [(Set<JobState>, [Int])] = [
        ([.held], [8]), ([.scheduled], [7]), ([.waiting], [6, 5]), ([.running], [4]), ([.succeeded], [3, 2]),
        ([.failed], [1, 0]), ([.cancelled], []), ([.failed, .running, .held], [8, 4, 1, 0]),
        ([.succeeded, .waiting], [6, 5, 3, 2]),
      ]
      for (states, indices) in states {
        for limit in [1, 2, 99] {
          let found = try await probe.ids(JobFilter(states: states), limit: limit)
          try probe.expect(found, indices.map { expected[$0] }, "the jobs in \(states), \(limit) per page")
        }
      }
    },
    JobStoreCheck("J154: the job numbers match the filter, even by label, tag, and time") { probe in
      let start = probe.store.now
      let first = try await probe.enqueue(options: [.label("Invoice \"7\" / é"), .tags(["a/b", "new"])])
      try await probe.pass(.seconds(10))
      let second = try await probe.enqueue(kind: "other", options: [.queue("mail"), .label("invoice 8")])
      try await probe.perform(.cancel(.id(first)))
      try await probe.pass(.seconds(10))
      let third = try await probe.enqueue(options: [.queue("mail"), .tags(["new"])])
      let filters: [(JobFilter, [JobID])] = [
        (JobFilter(label: "nvoice"), [second, first]), (JobFilter(label: "\"7\" / é"), [first]),
        (JobFilter(label: "INVOICE"), []), (JobFilter(label: ""), [second, first]), (JobFilter(tag: "a/b"), [first]),
        (JobFilter(tag: "new"), [third, first]), (JobFilter(tag: "ne"), []),
        (JobFilter(states: [.waiting], tag: "new"), [third]), (JobFilter(queues: ["mail"]), [third, second]),
        (JobFilter(queues: ["mail"], kinds: ["test"]), [third]), (JobFilter(kinds: ["other"]), [second]),
        (JobFilter(since: start + .seconds(10)), [third, second]),
        (JobFilter(until: start + .seconds(10)), [second, first]),
        (JobFilter(since: start + .seconds(1), until: start + .seconds(11)), [second]),
        (JobFilter(ids: [third, first]), [third, first]),
      ]
      for (filter, expected) in filters {
        try probe.expect(try await probe.ids(filter, limit: 1), expected, "the jobs of \(filter)")
        let jobs = try await probe.store.jobs(filter, after: nil, limit: 9)
        try probe.expect(probe.numbers(jobs), expected.reversed(), "the same jobs, oldest first")
      }
      // A command changes the jobs that the same filter finds.
      try probe.expect(try await probe.perform(.cancel(JobFilter(label: "voice", until: start + .seconds(10)))), 1)
    },
    JobStoreCheck("J274: a filter selects jobs whose payload contains a string, among any number of jobs") { probe in
      let first = try await probe.enqueue(#"{"path":"a%b_é.jpg"}"#)
      try await probe.enqueueBatch(of: 2_100)
      let second = try await probe.enqueue(#"{"path":"b.jpg"}"#, options: [.queue("mail"), .label("b")])
      let third = try await probe.enqueue("\0x'\\\"")
      let last = try await probe.enqueue("", options: [.queue("mail")])
      try await probe.perform(.cancel(.id(first)))
      let filters: [(JobFilter, [JobID])] = [
        (JobFilter(payload: "b_é"), [first]), (JobFilter(payload: "e\u{301}"), []), (JobFilter(payload: "%"), [first]),
        (JobFilter(payload: #""path":""#), [second, first]), (JobFilter(payload: ".JPG"), []),
        (JobFilter(payload: "\0x"), [third]), (JobFilter(payload: "'\\\""), [third]),
        (JobFilter(queues: ["mail"], payload: ""), [last, second]),
        (JobFilter(states: [.cancelled], payload: "path"), [first]),
        (JobFilter(states: [.waiting, .failed], payload: "path"), [second]),
        (JobFilter(ids: [first, last], payload: "path"), [first]), (JobFilter(label: "b", payload: "path"), [second]),
      ]
      for (filter, expected) in filters {
        try probe.expect(try await probe.ids(filter, limit: 1), expected, "the jobs of \(filter)")
        let jobs = try await probe.store.jobs(filter, after: nil, limit: 9)
        try probe.expect(probe.numbers(jobs), expected.reversed(), "the same jobs, oldest first")
      }
      try probe.expect(try await probe.store.ids(JobFilter(payload: ""), before: nil, limit: 3).ids.count, 3)
      let after = try await probe.store.jobs(JobFilter(payload: "path"), after: first, limit: 9)
      try probe.expect(probe.numbers(after), [second], "the jobs after the first one")
      try probe.expect(try await probe.perform(.cancel(JobFilter(payload: ".jpg"))), 1, "the number of cancelled jobs")
      try probe.expect(try await probe.perform(.retry(JobFilter(payload: "é"))), 1, "the number of jobs that run again")
    },
    JobStoreCheck("J154: an overview counts unfinished jobs, up to the limit") {
      probe in
      let worker = try await probe.register()
      try await probe.enqueueBatch(of: 5)
      let scheduled = try await probe.enqueue(options: [.queue("mail"), .delay(.seconds(9))])
      try await probe.enqueue(options: [.queue("mail"), .after(JobDependency(.job(scheduled)))])
      try await probe.perform(.setPaused(queue: "paused", true))
      try await probe.claimOne(by: worker)
      let all = try await probe.store.overview(countingTo: 9).snapshot
      let states = Dictionary(uniqueKeysWithValues: all.queues.map { ($0.name, $0.counts.byState) })
      let expected: [String: [JobState: Int]] = [
        "default": [.waiting: 4, .running: 1], "mail": [.held: 1, .scheduled: 1], "paused": [:],
      ]
      try probe.expect(states, expected, "the numbers")
      try probe.expect(all.queues.map(\.counts.isPaused), [false, false, true], "whether each queue is paused")
      try probe.expect(all, try await probe.unfinishedSnapshot(), "the snapshot")
      let few = try await probe.store.overview(countingTo: 3)
      let waiting = few.snapshot.queues[0].counts[.waiting]
      guard waiting > 3 else { throw probe.fail("\(waiting) jobs are said to wait, but there are more than 3") }
      try probe.expect(few.snapshot.queues[0].waiting.map(\.first), all.queues[0].waiting.map(\.first), "the first job")
    },
    JobStoreCheck("J154: an overview counts the waiting jobs of a queue up to the limit, with priorities and keys") {
      probe in
      for limits in [
        [], [.serial(key: "key")], [.concurrency(9, key: "key"), .rate(9, per: .seconds(1), key: "key", weight: 2)],
      ] as [[JobLimit]] {
        for priority in [Operation.QueuePriority.low, .normal, .high] {
          try await probe.enqueue(options: [.priority(priority), .limits(limits)])
          try await probe.enqueue(options: [.queue("mail"), .limits(limits)])
        }
      }
      try await probe.enqueue(options: [.queue("mail")])
      for (limit, expected) in [(12, [9, 10]), (10, [9, 10]), (9, [9, nil]), (8, [nil, nil])] {
        let counts = try await probe.store.overview(countingTo: limit).snapshot.queues.map(\.counts[.waiting])
        try probe.expect(counts.map { $0 > limit ? nil : $0 }, expected, "the numbers up to \(limit)")
      }
    },
    JobStoreCheck("J154: an overview finds the oldest waiting job, whatever its priority") { probe in
      let old = try await probe.enqueue(options: [.priority(.veryLow)])
      try await probe.pass(.seconds(5))
      for _ in 0..<5 { try await probe.enqueue(options: [.priority(.high)]) }
      try await probe.enqueue(kind: "other", version: 2)
      let waiting = try await probe.store.overview(countingTo: 2).snapshot.queues[0].waiting
      try probe.expect(waiting.map(\.kind), ["other", "test"], "the kinds")
      try probe.expect(waiting.last?.first, old, "the oldest job")
    },
    JobStoreCheck("J154: an overview contains the endings of the last hour, and how long these jobs waited and ran") {
      probe in
      let worker = try await probe.register()
      let early = try await probe.enqueue()
      try await probe.end(probe.claimOne(by: worker), .succeed(result: nil))
      try await probe.pass(.seconds(3_601))
      let second = try await probe.enqueue()
      let third = try await probe.enqueue()
      try await probe.pass(.seconds(2))
      let job = try await probe.claimOne(by: worker)
      try await probe.pass(.seconds(3))
      try await probe.end(job, .fail(JobEndReason(.failed), nil))
      try await probe.pass(.seconds(1))
      try await probe.perform(.cancel(.id(third)))
      let overview = try await probe.store.overview(countingTo: 9)
      try probe.expect(overview.endings.map(\.id), [third, second], "the endings, except for \(early)")
      try probe.expect(overview.endings.map(\.state), [.cancelled, .failed], "the states")
      try probe.expect(overview.endings.map(\.waitDuration), [nil, .seconds(2)], "the waiting times")
      try probe.expect(overview.endings.map(\.runDuration), [nil, .seconds(3)], "the running times")
      try probe.expect(overview.failedCount, 1, "the number of failed jobs")
      try probe.expect(overview.cancelledCount, 1, "the number of cancelled jobs")
      try probe.expect(overview.latestFailures, [second], "the failures")
      try probe.expect(try await probe.store.overview(countingTo: 1).endings.map(\.id), [third], "the last ending")
    },
    JobStoreCheck("J154: the latest failures are the failed jobs that ended last, regardless of their numbers") {
      probe in
      let worker = try await probe.register()
      let ids = try await probe.enqueueBatch(of: 4)
      let jobs = try await probe.claim(4, by: worker)
      for index in [3, 0, 2, 1] {
        try await probe.pass(.seconds(1))
        try await probe.end(jobs[index], .fail(JobEndReason(.failed), nil))
      }
      let overview = try await probe.store.overview(countingTo: 9)
      try probe.expect(overview.latestFailures, [1, 2, 0, 3].map { ids[$0] }, "the latest failures")
      // The two failed jobs with the highest numbers, and the two jobs that ended last.
      let partial = try await probe.store.overview(countingTo: 2)
      try probe.expect(partial.latestFailures.prefix(2), [ids[1], ids[2]], "the latest failures among many")
    },
    JobStoreCheck("J372: an overview counts the jobs of many queues less far, and states which numbers are exact") {
      probe in
      for state in [JobState.waiting, .scheduled] {
        func job(in queue: String) -> NewJob {
          probe.job(options: state == .waiting ? [.queue(queue)] : [.queue(queue), .delay(.seconds(9))])
        }
        let names = (10..<22).map { "queue-\($0)" }
        let jobs = names.flatMap { name in (0..<110).map { _ in job(in: name) } }
        _ = try await probe.store.enqueue(jobs + [job(in: "small")])
        let overview = try await probe.store.overview(countingTo: 101)
        for queue in overview.snapshot.queues {
          let (count, actual) = (overview.count(of: state, in: queue), queue.name == "small" ? 1 : 110)
          guard count.isExact ? count.count == actual : count.count < actual && queue.name != "small" else {
            throw probe.fail("\(count) jobs are \(state) in \(queue.name), but there are \(actual)")
          }
        }
        try probe.expect(overview.count(of: state), JobCount(101, isExact: false), "all jobs that are \(state)")
        try probe.expect(overview.count(of: .held), JobCount(0, isExact: true), "the held jobs")
        if state == .waiting {
          let found = overview.snapshot.queues.filter { $0.oldestWaitStartTime != nil }.map(\.name)
          try probe.expect(found, names + ["small"], "the queues with an oldest job")
        }
      }
    },
  ]
}

extension JobStoreProbe {
  /// Returns the numbers of all pages.
  func ids(_ filter: JobFilter, limit: Int) async throws -> [JobID] {
    var (ids, end) = ([JobID](), JobID?.none)
    repeat {
      let page = try await store.ids(filter, before: end, limit: limit)
      guard page.ids.count <= limit else { throw fail("a page has \(page.ids.count) numbers, not \(limit)") }
      if let next = page.next, let end, next >= end { throw fail("a page ends at \(next), after \(end)") }
      ids += page.ids
      end = page.next
    } while end != nil
    return ids
  }

  /// A snapshot without the failures and the numbers of finished jobs.
  func unfinishedSnapshot() async throws -> JobsSnapshot {
    var snapshot = try await store.snapshot([.counts, .waiting, .workers])
    for index in snapshot.queues.indices {
      snapshot.queues[index].counts.byState = snapshot.queues[index].counts.byState.filter { !$0.key.isFinished }
    }
    return snapshot
  }
}
