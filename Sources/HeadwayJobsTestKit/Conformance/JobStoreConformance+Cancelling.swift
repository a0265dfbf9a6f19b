import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let cancelling = [
    JobStoreCheck("J50: a job that has not started is cancelled immediately, from any process") { probe in
      let waiting = try await probe.enqueue()
      let scheduled = try await probe.enqueue(options: [.delay(.seconds(9))])
      let other = try await probe.enqueue()
      let again = try await probe.fixture.openAgain()
      for id in [waiting, scheduled] {
        try probe.expect(try await again.perform(.cancel(.id(id))), 1, "the number of changes")
        let job = try await probe.stored(id)
        try probe.expect(job.state, .cancelled, "the state")
        try probe.expect(job.reason?.code, .cancelled, "the reason")
        try probe.expect(job.finishedTime, probe.store.now, "when it ended")
        try probe.expect(try await again.perform(.cancel(.id(id))), 0, "the number of changes of a second request")
      }
      let jobs = try await probe.claim(9, by: probe.register())
      try probe.expect(probe.numbers(jobs), [other], "the claimed jobs")
      try probe.expect(try await probe.pass(.seconds(9)), nil, "when the next job is due")
    },
    JobStoreCheck("J51: a request to cancel a running job is kept for its worker") { probe in
      let (id, other) = (try await probe.enqueue(), try await probe.enqueue())
      let worker = try await probe.register()
      let jobs = try await probe.claim(2, by: worker)
      let fences = try jobs.map { try probe.fence(of: $0) }
      let none = WorkerBeat(isRegistered: true)
      try probe.expect(try await probe.store.beat(worker, running: fences), none, "the report before the request")
      try probe.expect(
        try await probe.fixture.openAgain().perform(.cancel(.id(id))), 1, "the number of changes")
      try probe.expect(try await probe.perform(.cancel(.id(id))), 0, "the number of changes of a second request")
      let report = WorkerBeat(isRegistered: true, cancellations: [fences[0]])
      for _ in 1...2 { try probe.expect(try await probe.store.beat(worker, running: fences), report, "the report") }
      try probe.expect(try await probe.state(id), .running, "the state")
      try probe.expect(try await probe.end(jobs[0], .cancel(JobEndReason(.cancelled))), .recorded, "the ending")
      try probe.expect(try await probe.state(id), .cancelled, "the state after the ending")
      try probe.expect(try await probe.state(other), .running, "the state of the other job")
    },
    JobStoreCheck(
      "J51: a job that is requested to be cancelled is cancelled if it is given back, snoozes, or loses its worker"
    ) { probe in
      for number in 0..<4 {
        let id = try await probe.enqueue()
        let worker = try await probe.register()
        let job = try await probe.claimOne(by: worker)
        try await probe.perform(.cancel(.id(id)))
        switch number {
        case 0: try await probe.end(job, .release)
        case 1: try await probe.end(job, .snooze(.seconds(1)))
        case 2: try await probe.store.unregister(worker, isRunningCode: false)
        default:
          try await probe.fixture.kill(worker)
          _ = try await probe.store.rescue()
        }
        let cancelled = try await probe.stored(id)
        try probe.expect(cancelled.state, .cancelled, "the state")
        try probe.expect(cancelled.reason?.code, .cancelled, "the reason")
        try probe.expect(cancelled.isCancelRequested, false, "whether it is still to be cancelled")
      }
    },
    JobStoreCheck("J52: a job that is requested to be cancelled can still succeed, and is not retried after an error") {
      probe in
      let error = JobErrorDescription(type: "Test", text: "text")
      let ends: [(action: JobEnding.Action, state: JobState)] = [
        (.succeed(result: JobPayload(bytes: [1])), .succeeded), (.retry(after: .zero, error), .failed),
        (.fail(JobEndReason(.failed), error), .failed), (.cancel(JobEndReason(.cancelled)), .cancelled),
      ]
      for end in ends {
        let id = try await probe.enqueue()
        let job = try await probe.claimOne(by: probe.register())
        try await probe.perform(.cancel(.id(id)))
        try await probe.end(job, end.action)
        let ended = try await probe.stored(id)
        try probe.expect(ended.state, end.state, "the state")
        try probe.expect(ended.history.errors.count, end.state == .failed ? 1 : 0, "the number of errors")
        try probe.expect(ended.result, end.state == .succeeded ? JobPayload(bytes: [1]) : nil, "the result")
        try probe.expect(ended.isCancelRequested, false, "whether it is still to be cancelled")
        try probe.expect(try await probe.perform(.cancel(.id(id))), 0, "the number of changes after the end")
      }
    },
    JobStoreCheck("J54: an abandoned job is cancelled immediately, and its worker is notified") { probe in
      let options: JobOptions = [.unique(.unfinished("key"))]
      let id = try await probe.enqueue(options: options)
      let waiting = try await probe.enqueue(options: [.queue("other")])
      let worker = try await probe.register()
      let job = try await probe.claimOne(by: worker)
      try probe.expect(try await probe.perform(.abandon(.all)), 1, "the number of changes")
      let abandoned = try await probe.stored(id)
      try probe.expect(abandoned.state, .cancelled, "the state")
      try probe.expect(abandoned.reason?.code, .abandoned, "the reason")
      try probe.expect(abandoned.epoch, 2, "the number of claims and abandonments")
      let fence = try probe.fence(of: job)
      let report = WorkerBeat(isRegistered: true, lost: [fence])
      try probe.expect(try await probe.store.beat(worker, running: [fence]), report, "the report")
      try probe.expect(try await probe.end(job, .succeed(result: nil)), .refused, "the ending")
      try probe.expect(try await probe.state(waiting), .waiting, "the state of a job that does not run")
      try probe.expect(try await probe.enqueue(options: options) == id, false, "whether the key is still held")
      try probe.expect(try await probe.perform(.abandon(.all)), 0, "the number of changes of a second request")
    },
  ]
}
