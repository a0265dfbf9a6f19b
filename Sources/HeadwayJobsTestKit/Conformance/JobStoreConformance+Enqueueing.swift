import FoundationEssentials
import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let enqueueing = [
    JobStoreCheck("J5: the bytes of payloads, results, and checkpoints are returned unchanged") { probe in
      let all = Array(UInt8.min...UInt8.max)
      let sizes = [0, 1, 4_096, 4_097, 65_536]
      let payloads = sizes.map { size in JobPayload(bytes: (0..<size).map { all[$0 % 256] }) }
      let ids = try await probe.store.enqueue(payloads.map { NewJob(kind: "test", payload: $0) }).map(\.id)
      let other = try await probe.fixture.openAgain()
      let worker = try await probe.register()
      for (id, payload) in zip(ids, payloads) {
        try probe.expect(try await other.jobs(.id(id), after: nil, limit: 1).map(\.payload), [payload], "the payload")
        let job = try await probe.claimOne(by: worker)
        try probe.expect(job.payload, payload, "the claimed payload")
        try await probe.write(.checkpoint(name: "step", value: payload), by: probe.fence(of: job))
        try probe.expect(try await other.checkpoint("step", of: id), payload, "the checkpoint")
        try await probe.end(job, .succeed(result: payload))
        try probe.expect(try await probe.record(id)?.result, payload, "the result")
        try probe.expect(try await probe.record(id)?.payload, payload, "the payload of the finished job")
      }
    },
    JobStoreCheck("J10: a batch is stored in its order, and other processes see it") { probe in
      let batch = (0..<5).map { probe.job("{\"n\":\($0)}") }
      let answers = try await probe.store.enqueue(batch)
      try probe.expect(answers.map(\.isNew), Array(repeating: true, count: 5), "whether the jobs are new")
      try probe.expect(answers.map(\.id), answers.map(\.id).sorted(), "the numbers")
      try probe.expect(Set(answers.map(\.id)).count, 5, "the number of numbers")
      let stored = try await probe.fixture.openAgain().jobs(.all, after: nil, limit: 10)
      try probe.expect(stored.map(\.id), answers.map(\.id), "the stored jobs")
      try probe.expect(stored.map(\.payload), batch.map(\.payload), "their payloads")
      try probe.expect(try await probe.store.enqueue([]).count, 0, "the answer to an empty batch")
    },
    JobStoreCheck("J12: all options are stored and returned") { probe in
      let date = probe.store.now.date.addingTimeInterval(86_400)
      let options: JobOptions = [
        .queue("mail"), .priority(.high), .qualityOfService(.utility), .startDate(date),
        .deadline(date.addingTimeInterval(60)), .label("Größe “1”"), .tags(["a", "b'\"\\"]),
        .timeout(.milliseconds(1_500)), .retry(.constant(maxAttemptCount: 3, delay: .seconds(7))), .maxSnoozeCount(5),
        .maxCrashCount(2), .unique(.unfinished("key")),
        .retention(JobRetention(succeeded: .seconds(1), cancelled: .zero, failed: .zero)),
      ]
      let job = try await probe.stored(probe.enqueue("[1]", kind: "kind", version: 7, options: options))
      try probe.expect(job.queue, "mail", "the queue")
      try probe.expect(job.kind, "kind", "the kind")
      try probe.expect(job.version, 7, "the version")
      try probe.expect(job.priority, Operation.QueuePriority.high.rawValue, "the priority")
      try probe.expect(job.dueTime, StoreTime(date), "when it is due")
      try probe.expect(job.deadline, StoreTime(date.addingTimeInterval(60)), "the deadline")
      try probe.expect(job.enqueuedTime, probe.store.now, "when it was stored")
      try probe.expect(job.settings, JobSettings(options), "the other options")
      try probe.expect(job.state, .scheduled, "the state")
      let plain = try await probe.stored(probe.enqueue())
      try probe.expect(plain.queue, JobOptions.defaultQueue, "the default queue")
      try probe.expect(plain.priority, 0, "the default priority")
      try probe.expect(plain.settings, JobSettings(), "the default options")
      try probe.expect(plain.state, .waiting, "the state of a job without a delay")
    },
    JobStoreCheck("J12: each job of a large batch has its own options") { probe in
      let now = probe.store.now
      let batch = (0..<100).map { number in
        let date = now.date.addingTimeInterval(Double(number + 1))
        var options: JobOptions = [.queue("queue \(number % 3)"), .priority(number % 2 == 0 ? .high : .low)]
        if number % 5 == 0 { options.set(.startDate(date)) }
        if number % 7 == 0 { options.set(.deadline(date)) }
        if number % 4 == 0 { options.set(.label("label \(number)")) }
        if number % 6 == 0 { options.set(.limits([.concurrency(2, key: "\(number)")])) }
        let kind = JobKind(rawValue: "kind \(number % 4)")
        return probe.job("\(number)", kind: kind, version: number, options: options)
      }
      let ids = try await probe.store.enqueue(batch).map(\.id)
      let stored = try await probe.store.jobs(.all, after: nil, limit: 101)
      try probe.expect(stored.map(\.id), ids, "the stored jobs")
      try probe.expect(stored.map(\.queue), batch.map(\.queue), "the queues")
      try probe.expect(stored.map(\.kind), batch.map(\.kind), "the kinds")
      try probe.expect(stored.map(\.version), batch.map(\.version), "the versions")
      try probe.expect(stored.map(\.payload), batch.map(\.payload), "the payloads")
      try probe.expect(stored.map(\.priority), batch.map(\.priority), "the priorities")
      try probe.expect(stored.map(\.dueTime), batch.map(\.startTime), "when they are due")
      try probe.expect(stored.map(\.deadline), batch.map(\.deadline), "the deadlines")
      try probe.expect(stored.map(\.settings), batch.map(\.settings), "the other options")
      try probe.expect(stored.map(\.enqueuedTime), stored.map { _ in now }, "when they were stored")
    },
    JobStoreCheck("J12: a job waits for its start date, and claims skip it until then") { probe in
      let start = probe.store.now.date.addingTimeInterval(10)
      let id = try await probe.enqueue(options: [.startDate(start)])
      let worker = try await probe.register()
      try probe.expect(try await probe.store.advance(), StoreTime(start), "when the next job is due")
      try probe.expect(try await probe.claim(1, by: worker).count, 0, "the number of jobs that are due")
      try await probe.pass(.microseconds(9_999_999))
      try probe.expect(try await probe.state(id), .scheduled, "the state shortly before")
      try probe.expect(try await probe.pass(.microseconds(1)), nil, "when the next job is due")
      try probe.expect(try await probe.state(id), .waiting, "the state")
      try probe.expect(try await probe.claimOne(by: worker).dueTime, nil, "when the claimed job is due")
    },
    JobStoreCheck("J12: a start date in the past has no effect") { probe in
      let past = probe.store.now.date.addingTimeInterval(-10)
      let id = try await probe.enqueue(options: [.startDate(past)])
      try probe.expect(try await probe.state(id), .waiting, "the state")
      try probe.expect(try await probe.store.advance(), nil, "when the next job is due")
    },
    JobStoreCheck("J16: a delay begins when the job is stored, by the store's clock") { probe in
      let new = probe.job(options: [.delay(.seconds(10))])
      probe.fixture.advanceClock(by: .seconds(3_600))
      let id = try await probe.store.enqueue([new])[0].id
      try probe.expect(try await probe.record(id)?.dueTime, probe.store.now + .seconds(10), "when the job is due")
    },
    JobStoreCheck("J26: a job that has not started by its deadline is cancelled as expired, and is never claimed") {
      probe in
      let deadline = probe.store.now.date.addingTimeInterval(10)
      let waiting = try await probe.enqueue(options: [.deadline(deadline)])
      let scheduled = try await probe.enqueue(options: [.delay(.seconds(20)), .deadline(deadline)])
      let running = try await probe.enqueue(options: [.priority(.high), .deadline(deadline)])
      let worker = try await probe.register()
      let job = try await probe.claimOne(by: worker)
      try probe.expect(job.id, running, "the job that has started")
      try probe.expect(try await probe.store.advance(), StoreTime(deadline), "the next deadline")
      probe.fixture.advanceClock(by: .seconds(10))
      try probe.expect(try await probe.claim(9, by: worker).count, 0, "the number of claimed jobs")
      try probe.expect(try await probe.store.advance(), nil, "the next deadline")
      for id in [waiting, scheduled] {
        try probe.expect(try await probe.state(id), .cancelled, "the state after the deadline")
        try probe.expect(try await probe.record(id)?.reason?.code, .expired, "the reason")
      }
      try probe.expect(try await probe.state(running), .running, "the state of the job that has started")
      try await probe.end(job, .retry(after: .zero, JobErrorDescription(type: "Test", text: "")))
      try await probe.pass(.zero)
      try probe.expect(try await probe.record(running)?.reason?.code, .expired, "the reason why it is not retried")
    },
  ]
}
