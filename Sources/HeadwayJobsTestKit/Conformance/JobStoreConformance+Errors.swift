import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let errors = [
    JobStoreCheck("J330: attempts that fail with the same error are one group, whether they are retried or not") {
      probe in
      let worker = try await probe.register()
      let ids = try await probe.enqueueBatch(of: 3)
      let start = probe.store.now
      try await probe.fail(probe.claim(2, by: worker), "row 7 of \"a.csv\"", retries: true)
      probe.fixture.advanceClock(by: .seconds(5))
      try await probe.fail(probe.claim(1, by: worker), "row 12 of \"b.csv\"")
      let group = try await probe.onlyErrorGroup()
      try probe.expect(group.kind, "test", "the kind")
      try probe.expect([group.type, group.text], ["Test", "row # of \"…\""], "the error")
      try probe.expect(group.count, 3, "the number of attempts")
      try probe.expect([group.firstSeenTime, group.lastSeenTime], [start, start + .seconds(5)], "the times")
      try probe.expect(group.lastJob, ids[2], "the last job")
      try probe.expect(group.hourlyCounts.reduce(0, +), 3, "the number of attempts in the last day")
      try probe.expect([group.retryingCount, group.failedCount], [2, 1], "the jobs that retry and have failed")
      for id in ids { try probe.expect(try await probe.stored(id).errorGroup, group.id, "the group of job \(id)") }
      try probe.expect(try await probe.fixture.openAgain().errorGroups(group.id).first?.count, 3, "the stored number")
      try probe.expect(try await probe.store.errorGroups(JobErrorGroup.ID(rawValue: 1)).count, 0, "unknown groups")
    },
    JobStoreCheck(
      "J330: errors of different kinds, types or texts are different groups, and only failed attempts are counted"
    ) {
      probe in
      let worker = try await probe.register()
      let kinds: [JobKind: Int] = ["test": 1, "other": 1]
      try await probe.enqueueBatch(of: 7)
      try await probe.enqueue(kind: "other")
      let jobs = try await probe.claim(8, by: worker, kinds: kinds)
      try await probe.fail([jobs[0], jobs[7]], "text")
      try await probe.fail([jobs[1]], "text", type: "Other")
      try await probe.fail([jobs[2]], "another text")
      try await probe.end(jobs[3], .fail(JobEndReason(.discarded, "not needed"), nil))
      try await probe.end(jobs[4], .cancel(JobEndReason(.cancelled)))
      try await probe.end(jobs[5], .snooze(.seconds(1)))
      try await probe.end(jobs[6], .release)
      let groups = try await probe.errorGroups()
      let found = Set(groups.map { "\($0.kind) \($0.type): \($0.text), \($0.count)" })
      let expected: Set = [
        "test Test: text, 1", "other Test: text, 1", "test Other: text, 1", "test Test: another text, 1",
        "test discarded: not needed, 1",
      ]
      try probe.expect(found, expected, "the groups")
    },
    JobStoreCheck("J331: the death of a worker counts as an error of each of its jobs, but stopping a worker does not")
    { probe in
      try await probe.enqueueBatch(of: 2)
      let worker = try await probe.register()
      try await probe.claim(2, by: worker)
      try await probe.store.unregister(worker, isRunningCode: false)
      try probe.expect(try await probe.errorGroups(), [], "the groups after the worker stopped")
      let dying = try await probe.register()
      let jobs = try await probe.claim(2, by: dying)
      try await probe.fixture.kill(dying)
      try probe.expect(try await probe.store.rescue().count, 2, "the number of rescued jobs")
      let group = try await probe.onlyErrorGroup()
      try probe.expect([group.type, "\(group.count)"], ["crashed", "2"], "the group")
      for job in jobs { try probe.expect(try await probe.stored(job.id).errorGroup, group.id, "the group of a job") }
    },
    JobStoreCheck("J332: a filter with a group selects the jobs whose last attempt failed with the error of that group")
    { probe in
      let worker = try await probe.register()
      let ids = try await probe.enqueueBatch(of: 6)
      let jobs = try await probe.claim(6, by: worker)
      try await probe.fail([jobs[0], jobs[1]], "one", retries: true)
      try await probe.fail([jobs[2], jobs[3]], "one")
      try await probe.fail([jobs[4]], "two", retries: true)
      let group = try await probe.stored(ids[0]).errorGroup
      let one = JobFilter(errorGroup: group)
      for limit in [1, 9] {
        try probe.expect(try await probe.ids(one, limit: limit), ids[..<4].reversed(), "the jobs, \(limit) per page")
      }
      let filters: [(JobFilter, [JobID])] = [
        (one, Array(ids[..<4])), (JobFilter(states: [.retrying], errorGroup: group), Array(ids[..<2])),
        (JobFilter(states: [.failed, .running], errorGroup: group), Array(ids[2..<4])),
        (JobFilter(states: [.succeeded], errorGroup: group), []),
        (JobFilter(queues: ["other"], errorGroup: group), []),
        (JobFilter(ids: [ids[3], ids[4]], errorGroup: group), [ids[3]]),
      ]
      for (filter, expected) in filters {
        let found = try await probe.store.jobs(filter, after: nil, limit: 9)
        try probe.expect(probe.numbers(found), expected, "the jobs of \(filter)")
        try probe.expect(try await probe.ids(filter, limit: 9), expected.reversed(), "the same jobs, newest first")
      }
      try probe.expect(try await probe.perform(.cancel(one)), 2, "the number of cancelled jobs")
      try probe.expect(try await probe.perform(.retry(JobFilter(states: [.failed], errorGroup: group))), 2, "retries")
      try probe.expect(try await probe.state(ids[4]), .retrying, "a job of the other group")
      // The jobs belong to the group until they succeed.
      for job in try await probe.claim(2, by: worker) { try await probe.end(job, .succeed(result: nil)) }
      try probe.expect(try await probe.ids(one, limit: 9), [ids[1], ids[0]], "the jobs that have not succeeded")
      try await probe.pass(.seconds(60))
      let other = try await probe.claimOne(by: worker)
      try probe.expect(other.errorGroup != nil, true, "whether the running job has a group")
      try await probe.end(other, .wait(.sleep("sleep"), until: probe.store.now + .seconds(9)))
      try probe.expect(try await probe.stored(ids[4]).errorGroup, nil, "the group of a job that sleeps")
    },
    JobStoreCheck("J333: the attempts of the last 24 hours are counted by hour, and all attempts are counted") {
      probe in
      let worker = try await probe.register()
      try await probe.enqueueBatch(of: 4)
      let hour = Duration.seconds(3_600)
      try await probe.fail(probe.claim(1, by: worker), "text")
      probe.fixture.advanceClock(by: hour)
      try await probe.fail(probe.claim(2, by: worker), "text")
      for _ in 0..<2 {
        let counts = try await probe.onlyErrorGroup().hourlyCounts
        try probe.expect(counts.count, JobErrorGroup.hourCount, "the number of hours")
        try probe.expect(Array(counts.suffix(3)), [0, 1, 2], "the last hours")
        try await probe.perform(.prune)
      }
      probe.fixture.advanceClock(by: hour * 23)
      try await probe.perform(.prune)
      let later = try await probe.onlyErrorGroup()
      try probe.expect(Array(later.hourlyCounts.prefix(2)), [2, 0], "the first hours")
      try probe.expect(later.count, 3, "the number of attempts")
      try await probe.fail(probe.claim(1, by: worker), "text")
      probe.fixture.advanceClock(by: hour * 30)
      for _ in 0..<2 {
        try await probe.perform(.prune)
        let last = try await probe.onlyErrorGroup()
        try probe.expect(last.hourlyCounts.reduce(0, +), 0, "the number of attempts in the last day")
        try probe.expect(last.count, 4, "the number of all attempts")
        try probe.expect(last.lastSeenTime, probe.store.now + (.zero - hour * 30), "when it was last seen")
      }
    },
    JobStoreCheck("J334: a mute has a note, an author and a time, and remains until it is removed") { probe in
      let worker = try await probe.register()
      try await probe.enqueueBatch(of: 2)
      try await probe.fail(probe.claim(1, by: worker), "text")
      let id = try await probe.onlyErrorGroup().id
      let time = probe.store.now
      let mute = JobCommand.setMuted(id, note: "vendor is down", author: "anna")
      try probe.expect(try await probe.perform(mute), 1, "the number of changed groups")
      probe.fixture.advanceClock(by: .seconds(1))
      try probe.expect(try await probe.perform(mute), 0, "the number of groups that are changed again")
      try await probe.fail(probe.claim(1, by: worker), "text")
      let muted = try await probe.onlyErrorGroup()
      let expected = JobErrorGroup.Mute(note: "vendor is down", author: "anna", time: time)
      try probe.expect(muted.mute, expected, "the mute")
      try probe.expect(muted.count, 2, "the number of attempts")
      let other = JobErrorGroup.ID(rawValue: 1)
      try probe.expect(try await probe.perform(.setMuted(other, note: "", author: nil)), 0, "unknown groups")
      for count in [1, 0] {
        try probe.expect(try await probe.perform(.setMuted(id, note: nil, author: nil)), count, "the unmuted groups")
      }
      try probe.expect(try await probe.onlyErrorGroup().mute, nil, "the mute")
      // The change is recorded like all changes by people.
      let jobs = Jobs(probe.store).changing(as: "anna")
      try await jobs.mute(id, note: "known")
      try probe.expect(try await probe.onlyErrorGroup().mute?.author, "anna", "the author")
      let change = try await jobs.changes(limit: 1).first
      try probe.expect(change?.action, .muteErrors, "the recorded change")
      try probe.expect(change?.subject, .errorGroup("\(id)"), "its object")
      try probe.expect(change?.values.map(\.after), [["known"]], "its values")
    },
    JobStoreCheck(
      "J335: the errors of a kind beyond the first 50 are counted in one group, which also finds their jobs"
    ) {
      probe in
      let worker = try await probe.register()
      let count = JobErrorGroup.maxCountPerKind + 10
      try await probe.enqueueBatch(of: count + 1)
      let jobs = try await probe.claim(count + 1, by: worker)
      try await probe.fail([jobs[0]], probe.word(0))
      try await probe.failDifferently(Array(jobs[..<count]).dropFirst())
      let groups = try await probe.errorGroups()
      try probe.expect(groups.count, JobErrorGroup.maxCountPerKind + 1, "the number of groups")
      guard let other = groups.first(where: { $0.type == JobErrorGroup.otherErrors }) else {
        throw probe.fail("there is no group for other errors")
      }
      try probe.expect([other.count, other.failedCount], [10, 10], "the attempts and the failed jobs of other errors")
      try probe.expect(try await probe.ids(JobFilter(errorGroup: other.id), limit: 99).count, 10, "the jobs")
      // Known errors are still counted in their groups.
      try await probe.fail([jobs[count]], probe.word(0))
      let first = try await probe.stored(jobs[0].id).errorGroup
      try probe.expect(try await probe.stored(jobs[count].id).errorGroup, first, "the group of the same error")
    },
    JobStoreCheck("J336: pruning deletes groups beyond 500, and groups not seen for 30 days that are not muted") {
      probe in
      let worker = try await probe.register()
      let kinds = (0...(JobErrorGroup.maxCount / JobErrorGroup.maxCountPerKind)).map { JobKind(rawValue: "kind \($0)") }
      let perKind = JobErrorGroup.maxCountPerKind
      for (number, kind) in kinds.enumerated() {
        let new = (0..<perKind).map { _ in probe.job(kind: kind) }
        _ = try await probe.store.enqueue(new)
        let jobs = try await probe.claim(perKind, by: worker, kinds: [kind: 1])
        try probe.expect(jobs.count, perKind, "the number of claimed jobs")
        probe.fixture.advanceClock(by: .seconds(1))
        try await probe.failDifferently(jobs[...], first: number * perKind)
      }
      try probe.expect(try await probe.store.errorGroups(nil).count, kinds.count * perKind, "the number of groups")
      guard let oldest = try await probe.store.errorGroups(nil).first(where: { $0.kind == kinds[0] }) else {
        throw probe.fail("there is no group")
      }
      try await probe.perform(.setMuted(oldest.id, note: "known", author: nil))
      try await probe.perform(.prune)
      let kept = try await probe.store.errorGroups(nil)
      try probe.expect(kept.count, JobErrorGroup.maxCount, "the number of groups that are kept")
      try probe.expect(kept.filter { $0.kind == kinds[0] }.map(\.id), [oldest.id], "the groups of the first kind")
      probe.fixture.advanceClock(by: JobErrorGroup.retention)
      try await probe.perform(.prune)
      try probe.expect(try await probe.store.errorGroups(nil).map(\.id), [oldest.id], "the groups after 30 days")
    },
  ]
}

extension JobStoreProbe {
  /// Ends attempts with an error, in one request.
  func fail(_ jobs: [JobRecord], _ text: String, type: String = "Test", retries: Bool = false) async throws {
    let error = JobErrorDescription(type: type, text: text)
    try await end(jobs) { _ in
      retries ? .retry(after: .seconds(60), error) : .fail(JobEndReason(.failed, "The job failed."), error)
    }
  }

  /// Ends attempts, each with another error, in one request.
  fileprivate func failDifferently(_ jobs: ArraySlice<JobRecord>, first: Int = 0) async throws {
    try await end(Array(jobs)) { index in
      .fail(JobEndReason(.failed), JobErrorDescription(type: "Test", text: word(first + index + 1)))
    }
  }

  private func end(_ jobs: [JobRecord], _ action: (Int) -> JobEnding.Action) async throws {
    guard let worker = jobs.first?.owner else { throw fail("there is no job to end") }
    let endings = try jobs.enumerated().map { JobEnding(try fence(of: $1), action($0)) }
    let answer = try await store.exchange(JobExchange(worker: worker, endings: endings))
    try expect(answer.verdicts, jobs.map { _ in .recorded }, "the verdicts")
  }

  /// Returns a word without digits for a number.
  fileprivate func word(_ number: Int) -> String {
    String(String.UnicodeScalarView("\(number)".unicodeScalars.compactMap { Unicode.Scalar($0.value + 55) }))
  }

  /// Returns the groups with the numbers of their jobs, latest first.
  fileprivate func errorGroups() async throws -> [JobErrorGroup] { try await Jobs(store).errorGroups(limit: 1_000) }

  /// Returns the group, and fails the check unless there is exactly one.
  func onlyErrorGroup(file: StaticString = #fileID, line: UInt = #line) async throws -> JobErrorGroup {
    let groups = try await errorGroups()
    guard groups.count == 1 else { throw fail("there are the groups \(groups)", file: file, line: line) }
    return groups[0]
  }
}
