import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  // Stores without statistics pass these checks.
  static let statistics = [
    JobStoreCheck("J320: statistics count the events of jobs by queue and kind") { probe in
      guard probe.store.keepsStatistics else { return }
      let worker = try await probe.register()
      try await probe.enqueueBatch(of: 4)
      try await probe.enqueue(options: [.queue("b")])
      try await probe.enqueue(kind: "other", options: [.queue("b")])
      let error = JobErrorDescription(type: "Test", text: "")
      let actions: [JobEnding.Action] = [
        .succeed(result: nil), .fail(JobEndReason(.failed), error), .retry(after: .zero, error),
        .cancel(JobEndReason(.cancelled)),
      ]
      for (job, action) in zip(try await probe.claim(4, by: worker), actions) { try await probe.end(job, action) }
      let statistics = try await probe.store.statistics(over: .hour, queue: nil)
      let activity = statistics.byQueue["default"] ?? JobActivity()
      try probe.expect(activity.enqueued, 4, "the number of new jobs")
      try probe.expect([activity.succeeded, activity.failed, activity.cancelled], [1, 1, 1], "the numbers of ends")
      try probe.expect(activity.failedAttempts, 2, "the number of failed attempts")
      try probe.expect([activity.waits.count, activity.runs.count], [4, 4], "the numbers of waits and runs")
      try probe.expect(statistics.byQueue["b"]?.enqueued, 2, "the number of new jobs in another queue")
      try probe.expect(statistics.byKind["test"]?.enqueued, 5, "the number of new jobs of a kind")
      let other = try await probe.store.statistics(over: .day, queue: "b")
      try probe.expect(other.byKind.mapValues(\.enqueued), ["test": 1, "other": 1], "the kinds of one queue")
      try probe.expect(other.total.ended, 0, "the number of ends in one queue")
    },
    JobStoreCheck("J320: statistics count jobs that run again, are discarded, snooze, or are given back") { probe in
      guard probe.store.keepsStatistics else { return }
      let worker = try await probe.register()
      let id = try await probe.enqueue()
      try await probe.end(probe.claimOne(by: worker), .release)
      try await probe.end(probe.claimOne(by: worker), .snooze(.zero))
      try await probe.end(probe.claimOne(by: worker), .fail(JobEndReason(.discarded), nil))
      try probe.expect(try await probe.perform(.retry(.id(id))), 1, "the number of jobs that run again")
      let total = try await probe.total()
      try probe.expect([total.enqueued, total.restarted, total.failed], [1, 1, 1], "the numbers of jobs")
      try probe.expect(total.failedAttempts, 0, "the number of failed attempts")
      try probe.expect([total.waits.count, total.runs.count], [3, 2], "the numbers of waits and runs")
    },
    JobStoreCheck("J321: waits count from when a job is ready, and runs from the claim") { probe in
      guard probe.store.keepsStatistics else { return }
      let worker = try await probe.register()
      try await probe.enqueue()
      try await probe.pass(.seconds(10))
      let job = try await probe.claimOne(by: worker)
      try await probe.pass(.seconds(20))
      try await probe.end(job, .retry(after: .seconds(30), JobErrorDescription(type: "Test", text: "")))
      try await probe.pass(.seconds(30))
      try await probe.pass(.seconds(40))
      try await probe.end(probe.claimOne(by: worker), .succeed(result: nil))
      let total = try await probe.total()
      try probe.expect(total.waits, probe.durations(.seconds(10), .seconds(40)), "the waits")
      try probe.expect(total.runs, probe.durations(.seconds(20), .zero), "the runs")
    },
    JobStoreCheck("J322: repeated and rejected endings do not count, and a crash counts") { probe in
      guard probe.store.keepsStatistics else { return }
      let worker = try await probe.register()
      try await probe.enqueue()
      let job = try await probe.claimOne(by: worker)
      for _ in 0..<2 { try await probe.end(job, .succeed(result: nil)) }
      try await probe.enqueue()
      let crashed = try await probe.crash()
      try probe.expect(try await probe.end(crashed, .succeed(result: nil)), .refused, "the answer after the crash")
      let total = try await probe.total()
      try probe.expect([total.succeeded, total.crashes, total.failedAttempts], [1, 1, 0], "the numbers of ends")
      try probe.expect([total.waits.count, total.runs.count], [2, 1], "the numbers of waits and runs")
    },
    JobStoreCheck(
      "J323: merging does not change statistics, and statistics of minutes and hours are deleted after some time"
    ) { probe in
      guard probe.store.keepsStatistics else { return }
      try await probe.enqueueBatch(of: 3)
      let total = try await probe.total()
      let store = try await probe.fixture.openAgain()
      for _ in 0..<2 {
        probe.fixture.advanceClock(by: .seconds(11))
        try await store.mergeStatistics()
        try probe.expect(try await probe.total(), total, "the sum after merging")
      }
      probe.fixture.advanceClock(by: .seconds(3_660))
      try await store.mergeStatistics()
      try probe.expect(try await probe.total(), JobActivity(), "the sum of the last hour")
      try probe.expect(try await probe.total(over: .day), total, "the sum of the last day")
      probe.fixture.advanceClock(by: .seconds(25 * 3_600))
      try await store.mergeStatistics()
      try probe.expect(try await probe.total(over: .day), JobActivity(), "the sum of another day")
      try await probe.enqueue()
      try probe.expect(try await probe.total().enqueued, 1, "the number of new jobs")
    },
    JobStoreCheck("J323: the periods have equal lengths, and the last one contains the current time") { probe in
      guard probe.store.keepsStatistics else { return }
      try await probe.enqueue()
      for span in JobStatistics.Span.allCases {
        let statistics = try await probe.store.statistics(over: span, queue: nil)
        let (starts, now) = (statistics.periods.map(\.startTime), probe.store.now)
        try probe.expect(starts.count, span.periodCount, "the number of periods")
        for (start, next) in zip(starts, starts.dropFirst()) {
          try probe.expect(next - start, span.periodLength, "the length of a period")
        }
        guard let last = statistics.periods.last, last.startTime <= now, now < last.startTime + span.periodLength else {
          throw probe.fail("the last period does not contain \(now)")
        }
        try probe.expect(last.total.enqueued, 1, "the number of new jobs in the last period")
      }
    },
    JobStoreCheck("J324: in an hour, a limited number of queues and kinds is counted separately") { probe in
      guard probe.store.keepsStatistics else { return }
      let count = JobStatistics.maxGroupCount + 50
      for merges in [false, true] {
        _ = try await probe.store.enqueue((0..<count).map { probe.job(options: [.queue("\($0)")]) })
        if merges {
          probe.fixture.advanceClock(by: .seconds(11))
          try await probe.store.mergeStatistics()
        }
        let statistics = try await probe.store.statistics(over: .day, queue: nil)
        let jobCount = merges ? 2 * count : count
        try probe.expect(statistics.total.enqueued, jobCount, "the number of new jobs")
        try probe.expect(statistics.byQueue.count, JobStatistics.maxGroupCount + 1, "the number of queues")
        try probe.expect(
          statistics.byQueue[JobStatistics.rest]?.enqueued, jobCount / count * 50, "the number of the other jobs")
      }
    },
    JobStoreCheck("J326: all ways to add and end jobs are counted") { probe in
      guard probe.store.keepsStatistics else { return }
      let worker = try await probe.register()
      let (first, deadline) = (try await probe.enqueue(), (probe.store.now + .seconds(5)).date)
      try await probe.enqueue(options: [.after(first.success)])
      try await probe.enqueue(options: [.deadline(deadline)])
      try await probe.enqueue(options: [.unique(.unfinished("key")), .retention(.none)])
      try await probe.enqueue(options: [.unique(.unfinished("key"))])
      let jobs = try await probe.claim(3, by: worker)
      try await probe.end(jobs[0], .fail(JobEndReason(.failed), nil))
      try await probe.enqueue(options: [.after(first.success)])
      try await probe.write(.enqueue(probe.job()), by: probe.fence(of: jobs[1]))
      try await probe.perform(.abandon(.id(jobs[1].id)))
      try await probe.end(jobs[2], .succeed(result: nil))
      let late = try await probe.enqueue(options: [.delay(.seconds(1)), .deadline(deadline)])
      try await probe.pass(.seconds(6))
      try probe.expect(try await probe.state(late), .cancelled, "the state of the late job")
      try await probe.perform(.delete(JobFilter(states: [.cancelled])))
      let unfinished = try await probe.store.counts().values.reduce(0) { sum, counts in
        sum + counts.byState.reduce(0) { $0 + ($1.key.isFinished ? 0 : $1.value) }
      }
      let total = try await probe.total()
      try probe.expect(total.enqueued, 7, "the number of new jobs")
      try probe.expect(total.enqueued + total.restarted - total.ended, unfinished, "the number of unfinished jobs")
    },
  ]
}

extension JobStoreProbe {
  /// Returns the sum of the statistics.
  fileprivate func total(over span: JobStatistics.Span = .hour) async throws -> JobActivity {
    try await store.statistics(over: span, queue: nil).total
  }

  /// Returns the distribution of durations.
  fileprivate func durations(_ durations: Duration...) -> JobDurations {
    durations.reduce(into: JobDurations()) { $0.add($1) }
  }
}
