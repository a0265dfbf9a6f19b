import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let snapshots = [
    JobStoreCheck("J113: a snapshot contains the workers, and the jobs that each has claimed") { probe in
      try probe.expect(
        try await probe.store.snapshot(.all), JobsSnapshot(time: probe.store.now), "the snapshot of an empty store")
      let first = try await probe.register()
      try await probe.pass(.seconds(3))
      let second = try await probe.register()
      let (started, now) = (probe.store.now + .seconds(-3), probe.store.now)
      let id = try await probe.enqueue()
      let job = try await probe.claimOne(by: second)
      let progress = JobProgress(fraction: 0.5, text: "half")
      try await probe.write(.progress(progress), by: probe.fence(of: job))
      let description = WorkerDescription(name: "check", processIdentifier: 1, queues: ["default"], kinds: ["test": 1])
      let running = RunningJob(id: id, kind: "test", queue: "default", attempt: 1, claimedTime: now, progress: progress)
      let expected = [
        JobWorkerSnapshot(id: first, description: description, startTime: started),
        JobWorkerSnapshot(id: second, description: description, startTime: now, running: [running]),
      ]
      try probe.expect(try await probe.store.snapshot(.workers).workers, expected, "the workers")
      let elsewhere = try await probe.fixture.openAgain().snapshot(.workers)
      try probe.expect(elsewhere.workers, expected, "the workers in another process")
    },
    JobStoreCheck("J113: a snapshot shows which workers are dead, and which have stopped while code runs") { probe in
      let workers = [try await probe.register(), try await probe.register(), try await probe.register()]
      try await probe.fixture.kill(workers[0])
      try await probe.store.unregister(workers[1], isRunningCode: true)
      let found = try await probe.fixture.openAgain().snapshot(.workers).workers
      try probe.expect(found.map(\.isAlive), [false, true, true], "whether each worker is alive")
      try probe.expect(found.map(\.isStopped), [false, true, false], "whether each worker has stopped")
      try probe.expect(found.map(\.isWorking), [false, false, true], "whether each worker claims jobs")
      _ = try await probe.store.rescue()
      try await probe.store.unregister(workers[2], isRunningCode: false)
      let left = try await probe.store.snapshot(.workers).workers.map(\.id)
      try probe.expect(left, [workers[1]], "the remaining workers")
    },
    JobStoreCheck("J113: a snapshot contains the waiting jobs by kind, and since when the first one has waited") {
      probe in
      let enqueued = probe.store.now
      let first = try await probe.enqueue()
      let delayed = try await probe.enqueue(kind: "other", version: 2, options: [.delay(.seconds(10))])
      try await probe.pass(.seconds(10))
      for _ in 0..<2 { try await probe.enqueue() }
      try await probe.perform(.setPaused(queue: "paused", true))
      let snapshot = try await probe.store.snapshot(.waiting)
      let waiting = [
        WaitingJobs(kind: "other", version: 2, count: 1, first: delayed, waitStartTime: probe.store.now),
        WaitingJobs(kind: "test", version: 1, count: 3, first: first, waitStartTime: enqueued),
      ]
      let queues = [
        JobQueueSnapshot(name: "default", waiting: waiting),
        JobQueueSnapshot(name: "paused", counts: JobQueueCounts(isPaused: true)),
      ]
      try probe.expect(snapshot, JobsSnapshot(time: probe.store.now, queues: queues), "the snapshot")
      try probe.expect(snapshot.queues[0].oldestWaitStartTime, enqueued, "since when the oldest waits")
    },
    JobStoreCheck("J113: the waiting time of a job that returns to its queue begins when it returns") { probe in
      let id = try await probe.enqueue()
      try await probe.pass(.seconds(5))
      try await probe.crash()
      let waiting = try await probe.store.snapshot(.waiting).queues[0].waiting
      let expected = WaitingJobs(kind: "test", version: 1, count: 1, first: id, waitStartTime: probe.store.now)
      try probe.expect(waiting, [expected], "the waiting jobs")
    },
    JobStoreCheck("J113: a snapshot contains the failed jobs by kind") { probe in
      let worker = try await probe.register()
      var ids: [JobID] = []
      for kind in ["a", "b", "a", "a"] as [JobKind] {
        ids.append(try await probe.enqueue(kind: kind))
        try await probe.pass(.seconds(1))
        let job = try await probe.claim(1, by: worker, kinds: [kind: 1])[0]
        try await probe.end(job, .fail(JobEndReason(.failed), nil))
      }
      try await probe.perform(.retry(.id(ids[3])))
      let expected = [
        FailedJobs(kind: "a", count: 2, last: ids[2], time: probe.store.now + .seconds(-1)),
        FailedJobs(kind: "b", count: 1, last: ids[1], time: probe.store.now + .seconds(-2)),
      ]
      try probe.expect(try await probe.store.snapshot(.failures).failures, expected, "the failures")
      try probe.expect(try await probe.store.snapshot(.counts).queues[0].counts[.failed], 3, "the failed jobs")
    },
  ]
}
