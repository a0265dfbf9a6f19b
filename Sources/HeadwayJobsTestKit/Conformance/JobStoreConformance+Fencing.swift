@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let fencing = [
    JobStoreCheck("J31: an attempt that runs its job can write, and its ending is recorded") { probe in
      let id = try await probe.enqueue()
      let job = try await probe.claimOne(by: probe.register())
      let fence = try probe.fence(of: job)
      let value = JobPayload(bytes: [1, 2, 3])
      try probe.expect(
        try await probe.store.write([
          FencedWrite(fence, .checkpoint(name: "step", value: value)),
          FencedWrite(fence, .progress(JobProgress(fraction: 0.5, text: "half"))), FencedWrite(fence, .log("line")),
        ]), [.written, .written, .written], "the answers")
      guard case .enqueued(let child) = try await probe.write(.enqueue(probe.job("child")), by: fence) else {
        throw probe.fail("a child was rejected")
      }
      try probe.expect(child.isNew, true, "whether the child is new")
      try probe.expect(try await probe.record(child.id)?.payload, probe.job("child").payload, "the child")
      try probe.expect(try await probe.store.checkpoint("step", of: id), value, "the checkpoint")
      try probe.expect(try await probe.store.checkpoint("other", of: id), nil, "a checkpoint that was not written")
      let stored = try await probe.stored(id)
      try probe.expect(stored.progress, JobProgress(fraction: 0.5, text: "half"), "the progress")
      try probe.expect(stored.history.transitions.last?.note, "line", "the last line of the history")
      try probe.expect(try await probe.end(job, .succeed(result: nil)), .recorded, "the ending")
    },
    JobStoreCheck("J363: the end of an attempt is stored with the number and the start of the attempt") { probe in
      let worker = try await probe.register()
      let id = try await probe.enqueue()
      let error = JobErrorDescription(type: "Test", text: "")
      let ends: [(action: JobEnding.Action, number: Int?)] = [
        (.retry(after: .zero, error), 1), (.snooze(.zero), nil), (.release, nil),
        (.fail(JobEndReason(.failed), error), 2),
      ]
      var starts: [StoreTime?] = []
      for end in ends {
        let job = try await probe.claimOne(by: worker)
        starts.append(job.claimedTime)
        try await probe.pass(.seconds(1))
        try await probe.end(job, end.action)
      }
      // The record of a finished job has its last attempt, until the job runs again.
      try await probe.perform(.retry(.id(id)))
      let changes = try await probe.stored(id).history.transitions.filter { $0.startTime != nil }
      try probe.expect(changes.map(\.startTime), starts, "the starts of the attempts")
      try probe.expect(changes.map(\.attempt), ends.map(\.number), "the numbers of the attempts")
      try probe.expect(changes.map(\.worker), ends.map { _ in worker }, "the workers of the attempts")
    },
    JobStoreCheck("J31: if another job holds the key of a child, the child is not stored") { probe in
      let options: JobOptions = [.unique(.unfinished("key"))]
      let holder = try await probe.enqueue(options: options)
      let job = try await probe.claimOne(by: probe.register())
      try probe.expect(
        try await probe.write(.enqueue(probe.job(options: options)), by: probe.fence(of: job)),
        .enqueued(Enqueued(id: holder, isNew: false)), "the answer")
    },
    JobStoreCheck("J31: writes with a wrong fence are rejected") { probe in
      try await probe.enqueue()
      let fence = try probe.fence(of: await probe.claimOne(by: probe.register()))
      var (attempt, epoch, owner, id) = (fence, fence, fence, fence)
      attempt.attempt += 1
      epoch.epoch -= 1
      owner.owner = try await probe.register()
      id.id = JobID(rawValue: fence.id.rawValue + 1)
      for wrong in [attempt, epoch, owner, id] { try await probe.expectRefused(wrong, of: fence.id) }
    },
    JobStoreCheck("J31: an attempt's writes are rejected after its ending") { probe in
      let error = JobErrorDescription(type: "Test", text: "")
      for action in [.succeed(result: nil), .retry(after: .seconds(9), error), .release] as [JobEnding.Action] {
        let id = try await probe.enqueue()
        let job = try await probe.claimOne(by: probe.register())
        try await probe.end(job, action)
        try await probe.expectWritesRefused(probe.fence(of: job), of: id)
        try await probe.perform(.cancel(.all))
      }
    },
    JobStoreCheck("J31: an attempt's writes are rejected after the next attempt has begun") { probe in
      let error = JobErrorDescription(type: "Test", text: "")
      for action in [.retry(after: .zero, error), .snooze(.zero), .release] as [JobEnding.Action] {
        let id = try await probe.enqueue()
        let worker = try await probe.register()
        let old = try await probe.claimOne(by: worker)
        try await probe.end(old, action)
        let new = try await probe.claimOne(by: worker)
        try await probe.expectRefused(probe.fence(of: old), of: id)
        try probe.expect(try await probe.end(new, .succeed(result: nil)), .recorded, "the ending of the next one")
      }
    },
    JobStoreCheck("J31: an attempt's writes are rejected after its job was rescued") { probe in
      let id = try await probe.enqueue()
      let fence = try probe.fence(of: await probe.crash())
      try await probe.expectRefused(fence, of: id)
      try await probe.claimOne(by: probe.register())
      try await probe.expectRefused(fence, of: id)
    },
    JobStoreCheck("J31: an attempt's writes are rejected after its worker was removed") { probe in
      let id = try await probe.enqueue()
      let worker = try await probe.register()
      let fence = try probe.fence(of: await probe.claimOne(by: worker))
      try await probe.store.unregister(worker, isRunningCode: false)
      try await probe.expectRefused(fence, of: id)
      try await probe.claimOne(by: probe.register())
      try await probe.expectRefused(fence, of: id)
    },
    JobStoreCheck("J31: an attempt's writes are rejected after its job was abandoned, run again, or deleted") {
      probe in
      let id = try await probe.enqueue()
      let fence = try probe.fence(of: await probe.claimOne(by: probe.register()))
      try await probe.perform(.abandon(.id(id)))
      try await probe.expectRefused(fence, of: id)
      try await probe.perform(.retry(.id(id)))
      try await probe.expectRefused(fence, of: id)
      try await probe.claimOne(by: probe.register())
      try await probe.expectRefused(fence, of: id)
      try await probe.perform(.abandon(.id(id)))
      try await probe.perform(.delete(.id(id)))
      try await probe.expectRefused(fence, of: id)
    },
  ]
}

extension JobStoreProbe {
  /// Fails the check unless everything that an attempt can write is rejected and changes nothing.
  func expectRefused(_ fence: JobFence, of id: JobID, file: StaticString = #fileID, line: UInt = #line) async throws {
    try await expectWritesRefused(fence, of: id, file: file, line: line)
    let before = try await store.jobs(.all, after: nil, limit: 100)
    let error = JobErrorDescription(type: "Test", text: "")
    let actions: [JobEnding.Action] = [
      .succeed(result: JobPayload(bytes: [1])), .retry(after: .zero, error), .fail(JobEndReason(.failed), error),
      .snooze(.zero), .wait(.sleep("late"), until: store.now + .seconds(1)), .release,
      .cancel(JobEndReason(.cancelled)),
    ]
    let exchange = JobExchange(worker: fence.owner, endings: actions.map { JobEnding(fence, $0) })
    let verdicts = try await store.exchange(exchange).verdicts
    try expect(verdicts, actions.map { _ in .refused }, "the answers to endings", file: file, line: line)
    try expect(try await store.jobs(.all, after: nil, limit: 100), before, "the jobs", file: file, line: line)
  }

  /// Fails the check unless all writes of an attempt, except its ending, are rejected and change nothing.
  func expectWritesRefused(
    _ fence: JobFence, of id: JobID, file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    let before = try await store.jobs(.all, after: nil, limit: 100)
    let contents: [FencedWrite.Content] = [
      .checkpoint(name: "late", value: JobPayload(bytes: [1])), .progress(JobProgress(fraction: 0.9)), .log("late"),
      .enqueue(job("late")), .wait(.signal("late"), number: 1, timeLimit: .zero),
    ]
    let answers = try await store.write(contents.map { FencedWrite(fence, $0) })
    try expect(answers, contents.map { _ in .refused }, "the answers to writes", file: file, line: line)
    try expect(try await store.checkpoint("late", of: id), nil, "the checkpoint", file: file, line: line)
    try expect(try await store.jobs(.all, after: nil, limit: 100), before, "the jobs", file: file, line: line)
  }
}
