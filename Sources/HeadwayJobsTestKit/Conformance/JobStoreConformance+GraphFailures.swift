import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let graphFailures = [
    JobStoreCheck("J63: a failure propagates down the graph, and the reasons name the job that failed") { probe in
      let ids = try await probe.batch([[], [0], [1], []])
      let loose = try await probe.enqueue(options: [.after(ids[2].dependency, ids[3].success)])
      try await probe.end(probe.claimOne(by: probe.register()), .fail(JobEndReason(.failed), nil))
      for id in ids[1...2] {
        let job = try await probe.stored(id)
        try probe.expect(job.state, .cancelled, "the state of a dependent")
        try probe.expect(job.reason?.code, .dependencyFailed, "the reason")
        try probe.expect(job.reason?.culprit, ids[0], "the culprit")
        try probe.expect(job.unmetCount, 0, "the number of dependencies")
      }
      try probe.expect(try await probe.stored(loose).unmetCount, 1, "the number of dependencies that have not ended")
      let taken = try await probe.store.jobs(JobFilter(culprit: ids[0]), after: nil, limit: 9)
      try probe.expect(taken.map(\.id), Array(ids[1...2]), "the jobs that the failure took down")
    },
    JobStoreCheck("J63: each kind of end except success cancels dependents that require success") { probe in
      let worker = try await probe.register()
      for end in 0..<5 {
        let deadline = (probe.store.now + .seconds(1)).date
        var options: JobOptions = [.maxCrashCount(1), .retention(.none)]
        if end == 4 { options.set(.deadline(deadline)) }
        let first = try await probe.enqueue(options: options)
        let id = try await probe.enqueue(options: [.after(first.success)])
        switch end {
        case 0: try await probe.end(probe.claimOne(by: worker), .cancel(JobEndReason(.cancelled)))
        case 1: try await probe.perform(.cancel(.id(first)))
        case 2:
          try await probe.claimOne(by: worker)
          try await probe.perform(.abandon(.id(first)))
        case 3: try await probe.crash()
        default: try await probe.pass(.seconds(1))
        }
        try probe.expect(try await probe.stored(id).reason?.culprit, first, "the culprit of end \(end)")
      }
    },
    JobStoreCheck("J63: a transaction cancels at most 1,000 dependents, and the remaining dependents can't start") {
      probe in
      let count = 2 * JobGraph.maxCascadeCount + 10
      let first = try await probe.enqueue(options: [.priority(.high)])
      let dependent = probe.job(options: [.after(first.success)])
      let ids = try await probe.store.enqueue(Array(repeating: dependent, count: count)).map(\.id)
      let last = try await probe.enqueue(options: [.after(ids[count - 1].success)])
      let worker = try await probe.register()
      try await probe.end(probe.claimOne(by: worker), .fail(JobEndReason(.failed), nil))
      let other = try await probe.fixture.openAgain()
      for round in 1...2 {
        let counts = try await other.counts()["default"] ?? JobQueueCounts()
        let limit = round * JobGraph.maxCascadeCount
        try probe.expect(counts[.cancelled] <= limit, true, "whether at most \(limit) jobs are cancelled")
        try probe.expect(counts[.cancelled] + counts[.held], count + 1, "the number of held and cancelled jobs")
        try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of claimed jobs")
        let next = try await other.advance()
        try probe.expect(next == nil, round == 2, "whether it is complete")
      }
      let cancelled = try await probe.store.counts()["default"]?[.cancelled]
      try probe.expect(cancelled, count + 1, "the number of cancelled jobs")
      try probe.expect(try await probe.stored(last).reason?.culprit, first, "the culprit")
    },
    JobStoreCheck("J44: a job can be run again with the dependents that were cancelled because of its failure") {
      probe in
      let worker = try await probe.register()
      let ids = try await probe.batch([[], [0], [1], [0]])
      try await probe.end(probe.claimOne(by: worker), .fail(JobEndReason(.failed), nil))
      do {
        try await probe.perform(.retry(.id(ids[1])))
        throw probe.fail("a job is run again although its dependency has failed")
      } catch let error as JobError {
        try probe.expect(error.code, .dependencyFailed, "the error")
      }
      try probe.expect(try await probe.perform(.retry(.id(ids[0]))), 1, "the number of jobs that run again")
      try probe.expect(try await probe.perform(.retry(JobFilter(culprit: ids[0]))), 3, "the number of dependents")
      for id in ids[1...] { try probe.expect(try await probe.stored(id).unmetCount, 1, "the number of dependencies") }
      for id in ids {
        let job = try await probe.claimOne(by: worker)
        if id == ids[0] { try probe.expect(job.id, id, "the first job") }
        try await probe.end(job, .succeed(result: nil))
      }
      let states = try await probe.store.jobs(.all, after: nil, limit: 9).map(\.state)
      try probe.expect(states, ids.map { _ in .succeeded }, "the states")
    },
    JobStoreCheck("J44: a dependent that is run again after its dependency has succeeded is ready") { probe in
      let worker = try await probe.register()
      let ids = try await probe.batch([[], [0], [1]])
      try await probe.end(probe.claimOne(by: worker), .fail(JobEndReason(.failed), nil))
      try await probe.perform(.retry(.id(ids[0])))
      try await probe.end(probe.claimOne(by: worker), .succeed(result: nil))
      let states = [JobState.failed, .cancelled]
      try probe.expect(try await probe.perform(.retry(JobFilter(states: Set(states)))), 2, "the number of jobs")
      try probe.expect(try await probe.state(ids[1]), .waiting, "the state of the dependent")
      try probe.expect(try await probe.state(ids[2]), .held, "the state of its dependent")
    },
    JobStoreCheck("J44, J66: one command runs a failed child again, with the older jobs that its failure has cancelled")
    {
      probe in
      let worker = try await probe.register()
      let ids = try await probe.batch([[], [0]])
      let parent = try await probe.claimOne(by: worker)
      let growth = FencedWrite.Content.enqueueBatch([probe.job()], beforeDependents: true)
      try await probe.write(growth, by: probe.fence(of: parent))
      try await probe.end(parent, .succeed(result: nil))
      let child = try await probe.claimOne(by: worker)
      try await probe.end(child, .fail(JobEndReason(.failed), nil))
      let unsuccessful = JobFilter(states: [.failed, .cancelled])
      try probe.expect(try await probe.perform(.retry(unsuccessful)), 2, "the number of jobs")
      try probe.expect(try await probe.state(child.id), .waiting, "the state of the child")
      try probe.expect(try await probe.state(ids[1]), .held, "the state of the dependent")
    },
  ]
}
