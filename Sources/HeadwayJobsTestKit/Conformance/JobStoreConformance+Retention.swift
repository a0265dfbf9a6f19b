import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  private static let ends: [(state: JobState, action: JobEnding.Action)] = [
    (.succeeded, .succeed(result: JobPayload(bytes: [1]))), (.failed, .fail(JobEndReason(.failed), nil)),
    (.cancelled, .cancel(JobEndReason(.cancelled))),
  ]

  static let retention = [
    JobStoreCheck("J90: the result is stored with the ending, and other processes can read it") { probe in
      let id = try await probe.enqueue()
      let result = JobPayload(bytes: Array("{\"width\":3}".utf8))
      try await probe.end(probe.claimOne(by: probe.register()), .succeed(result: result))
      let job = try await probe.fixture.openAgain().jobs(.id(id), after: nil, limit: 1).first
      try probe.expect(job?.state, .succeeded, "the state")
      try probe.expect(job?.result, result, "the result")
      try probe.expect(job?.finishedTime, probe.store.now, "when it ended")
      try probe.expect(job?.reason, nil, "the reason")
    },
    JobStoreCheck("J91: succeeded and cancelled jobs are kept for a day, and failed jobs for 14 days") { probe in
      let worker = try await probe.register()
      for end in ends {
        let id = try await probe.enqueue()
        try await probe.end(probe.claimOne(by: worker), end.action)
        let kept = Duration.seconds(end.state == .failed ? 14 * 86_400 : 86_400)
        try probe.expect(try await probe.record(id)?.expirationTime, probe.store.now + kept, "when it is deleted")
      }
    },
    JobStoreCheck("J91: each job can have its own retention") { probe in
      let worker = try await probe.register()
      let retention = JobRetention(succeeded: .seconds(1), cancelled: .seconds(2), failed: .seconds(3))
      for end in ends {
        let id = try await probe.enqueue(options: [.retention(retention)])
        try await probe.end(probe.claimOne(by: worker), end.action)
        let expected = probe.store.now + retention.duration(after: end.state)
        try probe.expect(try await probe.record(id)?.expirationTime, expected, "when it is deleted")
      }
    },
    JobStoreCheck("J91: with the retention “none”, a job is deleted at each kind of end") { probe in
      let options: JobOptions = [.unique(.unfinished("key")), .retention(.none)]
      for end in ends {
        let id = try await probe.enqueue(options: options)
        let job = try await probe.claimOne(by: probe.register())
        try await probe.write(.checkpoint(name: "step", value: JobPayload(bytes: [1])), by: probe.fence(of: job))
        try probe.expect(try await probe.end(job, end.action), .recorded, "the ending")
        try probe.expect(try await probe.record(id), nil, "the job")
        try probe.expect(try await probe.store.checkpoint("step", of: id), nil, "the checkpoint")
        try probe.expect(try await probe.store.counts(), [:], "the counts")
      }
      try await probe.enqueue(options: options)
      try await probe.perform(.cancel(.all))
      try await probe.enqueue(options: [.deadline(probe.store.now.date), .retention(.none)])
      try await probe.pass(.seconds(1))
      try await probe.enqueue(options: [.maxCrashCount(1), .retention(.none)])
      try await probe.crash()
      try await probe.enqueue(options: [.retention(.none)])
      try await probe.claimOne(by: probe.register())
      try await probe.perform(.abandon(.all))
      try probe.expect(try await probe.store.counts(), [:], "the counts after ends without an ending")
    },
    JobStoreCheck("J92, J93: pruning deletes jobs whose retention has expired, at most 1,000 at a time") { probe in
      let count = JobCommand.maxChangedCount
      try await probe.enqueueBatch(of: count + 1)
      try await probe.perform(.cancel(.all))
      try await probe.perform(.cancel(.all))
      let worker = try await probe.register()
      let failed = try await probe.enqueue()
      try await probe.end(probe.claimOne(by: worker), .fail(JobEndReason(.failed), nil))
      let waiting = try await probe.enqueue()
      probe.fixture.advanceClock(by: .seconds(86_399))
      try probe.expect(try await probe.perform(.prune), 0, "the number of jobs that are deleted too early")
      probe.fixture.advanceClock(by: .seconds(1))
      for deleted in [count, 1, 0] {
        try probe.expect(try await probe.perform(.prune), deleted, "the number of deleted jobs")
      }
      let left = try await probe.store.jobs(.all, after: nil, limit: 9)
      try probe.expect(probe.numbers(left), [failed, waiting], "the remaining jobs")
      probe.fixture.advanceClock(by: .seconds(13 * 86_400))
      try probe.expect(try await probe.perform(.prune), 1, "the number of failed jobs that are deleted")
      try probe.expect(try await probe.state(waiting), .waiting, "the state of a job that has not ended")
    },
    JobStoreCheck("J92: checkpoints are deleted with their job, or when it succeeds") { probe in
      for end in ends {
        let id = try await probe.enqueue()
        let job = try await probe.claimOne(by: probe.register())
        try await probe.write(.checkpoint(name: "step", value: JobPayload(bytes: [1])), by: probe.fence(of: job))
        try await probe.end(job, end.action)
        if end.state != .succeeded { try await probe.perform(.delete(.id(id))) }
        try probe.expect(try await probe.store.checkpoint("step", of: id), nil, "the checkpoint")
      }
    },
    JobStoreCheck("J92: when a job succeeds, the checkpoints of all its attempts are deleted") { probe in
      let worker = try await probe.register()
      let error = JobErrorDescription(type: "Test", text: "text")
      let ends: [JobEnding.Action?] = [
        .retry(after: .zero, error), .snooze(.zero), .wait(.sleep("sleep"), until: probe.store.now), .release,
        .fail(JobEndReason(.failed), error),
        .cancel(JobEndReason(.cancelled)), nil,
      ]
      for options in [[], [.retention(.none)], [.limits([.serial(key: "key")])]] as [JobOptions] {
        for end in ends where options.retention == nil || end?.isFinal != true {
          let id = try await probe.enqueue(options: options)
          let first = try await probe.claimOne(by: worker)
          try await probe.write(.checkpoint(name: "step", value: JobPayload(bytes: [1])), by: probe.fence(of: first))
          if let end {
            try await probe.end(first, end)
          } else {
            // Another change of the job follows the checkpoint.
            try await probe.write(.log("line"), by: probe.fence(of: first))
          }
          if end?.isFinal == true { try await probe.perform(.retry(.id(id))) }
          let last = end == nil ? first : try await probe.claimOne(by: worker)
          try probe.expect(try await probe.store.checkpoint("step", of: id) == nil, false, "whether it is missing")
          try probe.expect(try await probe.end(last, .succeed(result: nil)), .recorded, "the ending")
          try probe.expect(
            try await probe.store.checkpoint("step", of: id), nil,
            "the checkpoint after \(end.map { "\($0)" } ?? "a line")")
        }
      }
    },
    JobStoreCheck("J92: the checkpoints of an attempt whose worker has died are deleted when the job succeeds") {
      probe in
      for options in [[], [.retention(.none)]] as [JobOptions] {
        let id = try await probe.enqueue(options: options)
        let (worker, other) = (try await probe.register(), try await probe.register())
        let first = try await probe.claimOne(by: worker)
        try await probe.write(.checkpoint(name: "step", value: JobPayload(bytes: [1])), by: probe.fence(of: first))
        try await probe.fixture.kill(worker)
        try probe.expect(try await probe.store.rescue(), [id], "the rescued jobs")
        try await probe.end(probe.claimOne(by: other), .succeed(result: nil))
        try probe.expect(try await probe.store.checkpoint("step", of: id), nil, "the checkpoint")
      }
    },
  ]
}

extension JobEnding.Action {
  /// Whether the job is finished.
  fileprivate var isFinal: Bool {
    switch self {
    case .succeed, .fail, .cancel: true
    case .retry, .snooze, .wait, .release: false
    }
  }
}
