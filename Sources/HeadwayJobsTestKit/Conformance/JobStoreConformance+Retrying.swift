import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let retrying = [
    JobStoreCheck("J310: a job is retrying until its next attempt is due, and then waits for a worker") { probe in
      let worker = try await probe.register()
      let id = try await probe.enqueueRetrying(by: worker)
      let due = probe.store.now + .seconds(60)
      let job = try await probe.stored(id)
      try probe.expect(job.state, .retrying, "the state")
      try probe.expect(job.dueTime, due, "when it is due")
      try probe.expect(job.attempt, 1, "the attempt")
      try probe.expect(job.history.transitions.last?.state, .retrying, "the state in the history")
      try probe.expect(try await probe.pass(.seconds(59)), due, "the next time when the store must advance")
      try probe.expect(try await probe.state(id), .retrying, "the state before the time")
      try probe.expect(try await probe.claim(1, by: worker).count, 0, "the number of jobs before the time")
      try await probe.pass(.seconds(1))
      try probe.expect(try await probe.state(id), .waiting, "the state at the time")
      let second = try await probe.claimOne(by: worker)
      try probe.expect(second.attempt, 2, "the second attempt")
      try await probe.end(second, .retry(after: .zero, probe.error))
      try probe.expect(try await probe.state(id), .waiting, "the state without a pause")
    },
    JobStoreCheck("J310: a job that snoozes, sleeps or waits for a signal is scheduled, even after a failure") {
      probe in
      let worker = try await probe.register()
      let id = try await probe.enqueue()
      let time = probe.store.now + .seconds(60)
      for action in [
        .snooze(.seconds(60)), .wait(.sleep("night"), until: time), .wait(.signal("paid"), until: time),
      ] as [JobEnding.Action] {
        try await probe.end(probe.claimOne(by: worker), .retry(after: .zero, probe.error))
        try await probe.end(probe.claimOne(by: worker), action)
        try probe.expect(try await probe.state(id), .scheduled, "the state after \(action)")
        try await probe.perform(.change(.id(id), .runNow))
      }
    },
    JobStoreCheck("J311: retrying jobs can be run now, postponed, changed, and cancelled") { probe in
      let worker = try await probe.register()
      var ids: [JobID] = []
      for _ in 0..<4 { ids.append(try await probe.enqueueRetrying(by: worker)) }
      let scheduled = try await probe.enqueue(options: [.delay(.seconds(60))])
      let retrying = JobFilter(states: [.retrying])
      try probe.expect(try await probe.perform(.retry(retrying)), 0, "the number of jobs that had ended")
      try probe.expect(
        try await probe.perform(.change(JobFilter(ids: [ids[0]], states: [.retrying]), .runNow)), 1, "the due jobs")
      try probe.expect(try await probe.state(ids[0]), .waiting, "the state of the due job")
      let later = probe.store.now + .seconds(90)
      try probe.expect(try await probe.perform(.change(.id(ids[1]), .dueTime(later))), 1, "the postponed jobs")
      let postponed = try await probe.stored(ids[1])
      try probe.expect(postponed.state, .retrying, "the state of the postponed job")
      try probe.expect(postponed.dueTime, later, "when it is due")
      for change in [
        .priority(.high), .queue("other"), .payload(JobPayload(bytes: [1]), version: 1), .deadline(later),
      ] as [JobChange] {
        try probe.expect(try await probe.perform(.change(.id(ids[2]), change)), 1, "the changes by \(change)")
      }
      try probe.expect(try await probe.state(ids[2]), .retrying, "the state of the changed job")
      try probe.expect(try await probe.perform(.cancel(retrying)), 3, "the number of cancelled jobs")
      try probe.expect(try await probe.stored(ids[3]).reason?.code, .cancelled, "the reason")
      try probe.expect(try await probe.state(scheduled), .scheduled, "the state of another job")
      try probe.expect(probe.numbers(try await probe.claim(9, by: worker)), [ids[0]], "the claimed jobs")
    },
    JobStoreCheck("J311: a retrying job misses its deadline, holds its key, and counts as pending") { probe in
      let worker = try await probe.register()
      let late = try await probe.enqueueRetrying(
        by: worker, options: [.deadline((probe.store.now + .seconds(30)).date)])
      try await probe.pass(.seconds(31))
      try probe.expect(try await probe.stored(late).reason?.code, .expired, "the reason of the late job")
      let key: JobOptions = [.unique(.waiting("key", onConflict: .replace))]
      let id = try await probe.enqueueRetrying(by: worker, options: key)
      try await probe.perform(.configure(queue: "default", .maxPendingJobCount(1)))
      do {
        try await probe.enqueue()
        throw probe.fail("a job was added to a full queue")
      } catch let error as JobError where error.code == .queueFull {}
      try probe.expect(try await probe.enqueue("2", options: key), id, "the job that holds the key")
      let replaced = try await probe.stored(id)
      try probe.expect(replaced.state, .waiting, "the state of the replaced job")
      try probe.expect(replaced.payload, probe.job("2").payload, "its payload")
    },
    JobStoreCheck("J312: retrying jobs are listed and counted separately, among jobs in all other states") { probe in
      let worker = try await probe.register()
      let ended = try await probe.enqueueBatch(of: 2)
      try await probe.end(probe.claimOne(by: worker), .succeed(result: nil))
      try await probe.end(probe.claimOne(by: worker), .fail(JobEndReason(.failed), probe.error))
      var ids: [JobID] = []
      for _ in 0..<3 { ids.append(try await probe.enqueueRetrying(by: worker)) }
      let scheduled = try await probe.enqueue(options: [.delay(.seconds(60))])
      try await probe.enqueue(options: [.after(JobDependency(.job(scheduled)))])
      try await probe.enqueueBatch(of: 2)
      try await probe.perform(.change(.id(ids[1]), .queue("other")))
      let filters: [(JobFilter, [JobID])] = [
        (JobFilter(states: [.retrying]), ids), (JobFilter(states: [.retrying], queues: ["other"]), [ids[1]]),
        (JobFilter(states: [.retrying, .failed]), [ended[1]] + ids), (JobFilter(states: [.scheduled]), [scheduled]),
        (JobFilter(states: [.retrying], kinds: ["none"]), []), (JobFilter(states: [.retrying], payload: "{"), ids),
        (JobFilter(ids: [ids[2]], states: [.retrying]), [ids[2]]),
      ]
      for (filter, expected) in filters {
        for limit in [1, 2, 99] {
          let found = try await probe.ids(filter, limit: limit)
          try probe.expect(found, expected.reversed(), "the jobs of \(filter), \(limit) per page")
        }
        let jobs = try await probe.store.jobs(filter, after: nil, limit: 99)
        try probe.expect(probe.numbers(jobs), expected, "the jobs of \(filter), oldest first")
        let rest = try await probe.store.jobs(filter, after: ids[0], limit: 1)
        try probe.expect(probe.numbers(rest), Array(expected.filter { $0 > ids[0] }.prefix(1)), "the next job")
      }
      let counts: [String: [JobState: Int]] = [
        "default": [.held: 1, .scheduled: 1, .retrying: 2, .waiting: 2], "other": [.retrying: 1],
      ]
      let overview = try await probe.store.overview(countingTo: 9).snapshot
      for (snapshot, name) in [(overview, "overview"), (try await probe.unfinishedSnapshot(), "snapshot")] {
        let found = Dictionary(uniqueKeysWithValues: snapshot.queues.map { ($0.name, $0.counts.byState) })
        try probe.expect(found, counts, "the counts of the \(name)")
      }
    },
    JobStoreCheck("J313: jobs are counted up to a limit") { probe in
      let worker = try await probe.register()
      for _ in 0..<3 { try await probe.enqueueRetrying(by: worker) }
      try await probe.enqueueBatch(of: 4)
      let jobs = Jobs(probe.store)
      let counts: [(JobFilter, Int, JobCount)] = [
        (.all, 7, JobCount(7, isExact: true)), (.all, 6, JobCount(6, isExact: false)),
        (JobFilter(states: [.retrying]), 9, JobCount(3, isExact: true)),
        (JobFilter(states: [.retrying]), 2, JobCount(2, isExact: false)),
        (JobFilter(states: [.waiting], queues: ["default"]), 4, JobCount(4, isExact: true)),
        (JobFilter(states: [.failed]), 1, JobCount(0, isExact: true)),
        (JobFilter(ids: []), 1, JobCount(0, isExact: true)), (JobFilter(payload: "{"), 9, JobCount(7, isExact: true)),
      ]
      for (filter, limit, expected) in counts {
        try probe.expect(try await jobs.count(filter, upTo: limit), expected, "the number of \(filter) up to \(limit)")
      }
    },
    JobStoreCheck("J314: a filter selects jobs by the time when they ended") { probe in
      let worker = try await probe.register()
      let start = probe.store.now
      let ids = try await probe.enqueueBatch(of: 4)
      let jobs = try await probe.claim(3, by: worker)
      // The order of the ends differs from the order of the numbers.
      for (index, action) in [(2, .succeed(result: nil)), (0, .fail(JobEndReason(.failed), nil))]
        as [(Int, JobEnding.Action)]
      {
        try await probe.pass(.seconds(10))
        try await probe.end(jobs[index], action)
      }
      let filters: [(JobFilter, [Int])] = [
        (JobFilter(endedSince: start), [0, 2]), (JobFilter(endedSince: start + .seconds(11)), [0]),
        (JobFilter(endedUntil: start + .seconds(10)), [2]), (JobFilter(endedUntil: start + .seconds(9)), []),
        (JobFilter(states: [.failed], endedSince: start), [0]), (JobFilter(states: [.running], endedSince: start), []),
        (JobFilter(kinds: ["test"], endedSince: start, endedUntil: start + .seconds(20)), [0, 2]),
        (JobFilter(ids: [ids[0], ids[1]], endedSince: start), [0]),
        (JobFilter(payload: "{", endedUntil: start + .seconds(30)), [0, 2]),
      ]
      for (filter, indices) in filters {
        let expected = indices.map { ids[$0] }
        try probe.expect(try await probe.ids(filter, limit: 1), expected.reversed(), "the jobs of \(filter)")
        let found = try await probe.store.jobs(filter, after: nil, limit: 9)
        try probe.expect(probe.numbers(found), expected, "the jobs of \(filter), oldest first")
      }
      let ended = JobFilter(endedSince: start)
      try probe.expect(try await probe.perform(.cancel(ended)), 0, "the number of cancelled jobs")
      try probe.expect(try await probe.perform(.delete(ended)), 2, "the number of deleted jobs")
    },
  ]
}

extension JobStoreProbe {
  /// An error of an attempt.
  fileprivate var error: JobErrorDescription { JobErrorDescription(type: "Test", text: "text") }

  /// Adds a job whose first attempt fails, and whose next one is due after a minute.
  @discardableResult
  fileprivate func enqueueRetrying(by worker: WorkerID, options: JobOptions = []) async throws -> JobID {
    let id = try await enqueue(options: options)
    let job = try await claimOne(by: worker)
    try expect(job.id, id, "the claimed job")
    try await end(job, .retry(after: .seconds(60), error))
    return id
  }
}
