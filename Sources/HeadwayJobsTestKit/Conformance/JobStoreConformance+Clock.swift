import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let clockJumps = [
    JobStoreCheck("J173: a jump of the clock affects delayed jobs, and neither running nor waiting ones") { probe in
      for jump in [Duration.seconds(-3_600), .seconds(3_600)] {
        let running = try await probe.enqueue()
        let worker = try await probe.register()
        let job = try await probe.claimOne(by: worker)
        let waiting = try await probe.enqueue()
        let delayed = try await probe.enqueue(options: [.delay(.seconds(60))])
        _ = try await probe.pass(jump)
        try probe.expect(try await probe.store.rescue(), [], "the rescued jobs")
        let fence = try probe.fence(of: job)
        let beat = try await probe.store.beat(worker, running: [fence])
        try probe.expect(beat, WorkerBeat(isRegistered: true), "what the worker must know")
        try probe.expect(try await probe.record(running), job, "the running job")
        let moved: JobState = jump > .zero ? .waiting : .scheduled
        try probe.expect(try await probe.state(delayed), moved, "the state of the delayed job")
        let next = try await probe.claimOne(by: worker)
        try probe.expect(next.id, waiting, "the next job")
        try probe.expect(try await probe.end(job, .succeed(result: nil)), .recorded, "the first ending")
        try probe.expect(try await probe.end(next, .succeed(result: nil)), .recorded, "the second ending")
        // The clock is corrected, or continues.
        if jump < .zero { _ = try await probe.pass(.zero - jump) }
        _ = try await probe.pass(.seconds(60))
        let late = try await probe.claimOne(by: worker)
        try probe.expect(late.id, delayed, "the delayed job")
        try probe.expect(late.attempt, 1, "its attempt")
        try probe.expect(try await probe.end(late, .succeed(result: nil)), .recorded, "its ending")
        for id in [running, waiting, delayed] {
          let job = try await probe.stored(id)
          try probe.expect(job.state, .succeeded, "the state")
          try probe.expect([job.epoch, job.crashCount], [1, 0], "the claims and crashes")
        }
      }
    },
    JobStoreCheck("J173: a retry that was scheduled before the clock was set back begins at its time") { probe in
      let id = try await probe.enqueue()
      let worker = try await probe.register()
      let error = JobErrorDescription(type: "type", text: "text")
      try await probe.end(try await probe.claimOne(by: worker), .retry(after: .seconds(10), error))
      let due = try await probe.stored(id).dueTime
      try probe.expect(try await probe.pass(.seconds(-600)), due, "when the next job is due")
      try probe.expect(try await probe.claim(1, by: worker).count, 0, "the number of claimed jobs")
      try probe.expect(try await probe.pass(.seconds(610)), nil, "when the next job is due")
      try probe.expect(try await probe.claimOne(by: worker).id, id, "the claimed job")
    },
  ]
}
