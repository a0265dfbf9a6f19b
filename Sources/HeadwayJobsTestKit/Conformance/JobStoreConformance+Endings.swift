import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let endings = [
    JobStoreCheck("J32: an ending that is repeated because its answer was lost counts once") { probe in
      let error = JobErrorDescription(type: "Test", text: "text")
      let actions: [JobEnding.Action] = [
        .succeed(result: JobPayload(bytes: [1])), .retry(after: .seconds(5), error), .retry(after: .zero, error),
        .fail(JobEndReason(.discarded, "reason"), error), .snooze(.seconds(5)), .snooze(.zero), .release,
        .wait(.signal("signal"), until: probe.store.now + .seconds(900)), .cancel(JobEndReason(.cancelled)),
      ]
      for action in actions {
        let id = try await probe.enqueue()
        let job = try await probe.claimOne(by: probe.register())
        try probe.expect(try await probe.end(job, action), .recorded, "the answer")
        let ended = try await probe.record(id)
        probe.fixture.advanceClock(by: .seconds(1))
        try probe.expect(try await probe.end(job, action), .recorded, "the second answer")
        try probe.expect(try await probe.record(id), ended, "the job after the repetition")
        let exchange = JobExchange(
          worker: try probe.fence(of: job).owner,
          endings: [JobEnding(try probe.fence(of: job), action), JobEnding(try probe.fence(of: job), action)])
        let answer = try await probe.fixture.openAgain().exchange(exchange)
        try probe.expect(answer.verdicts, [.recorded, .recorded], "the answers to another process")
        try probe.expect(try await probe.record(id), ended, "the job after more repetitions")
        try await probe.perform(.cancel(.all))
      }
    },
    JobStoreCheck("J32: an ending that occurs twice in one request counts once") { probe in
      try await probe.enqueue()
      let worker = try await probe.register()
      let job = try await probe.claimOne(by: worker)
      let ending = JobEnding(
        try probe.fence(of: job), .retry(after: .zero, JobErrorDescription(type: "Test", text: "")))
      let answer = try await probe.store.exchange(JobExchange(worker: worker, endings: [ending, ending]))
      try probe.expect(answer.verdicts, [.recorded, .recorded], "the answers")
      try probe.expect(try await probe.record(job.id)?.history.errors.count, 1, "the number of errors")
    },
    JobStoreCheck("J131: of two endings of an attempt, the first one counts") { probe in
      let id = try await probe.enqueue()
      let job = try await probe.claimOne(by: probe.register())
      try await probe.end(job, .succeed(result: nil))
      let ended = try await probe.record(id)
      try await probe.end(job, .fail(JobEndReason(.failed), nil))
      try await probe.end(job, .retry(after: .zero, JobErrorDescription(type: "Test", text: "")))
      try probe.expect(try await probe.record(id), ended, "the job")
    },
    JobStoreCheck("J30: a rejected ending does not affect the other endings or the claims of its request") { probe in
      let (first, second) = (try await probe.enqueue(), try await probe.enqueue())
      let worker = try await probe.register()
      let jobs = try await probe.claim(2, by: worker)
      try await probe.perform(.abandon(.id(first)))
      let next = try await probe.enqueue()
      let exchange = JobExchange(
        worker: worker, endings: try jobs.map { JobEnding(try probe.fence(of: $0), .succeed(result: nil)) },
        claims: [JobClaim(queue: "default", count: 1, allowsSuspect: false, kinds: ["test": 1])])
      let answer = try await probe.store.exchange(exchange)
      try probe.expect(answer.verdicts, [.refused, .recorded], "the answers")
      try probe.expect(answer.claimed.map(probe.numbers), [[next]], "the claimed jobs")
      try probe.expect(try await probe.state(second), .succeeded, "the state")
    },
  ]

  static let retries = [
    JobStoreCheck("J40: a job whose attempt failed waits, and then has another attempt") { probe in
      let id = try await probe.enqueue()
      let worker = try await probe.register()
      let job = try await probe.claimOne(by: worker)
      let error = JobErrorDescription(type: "Test", text: "text")
      try await probe.end(job, .retry(after: .seconds(5), error))
      let waiting = try await probe.stored(id)
      try probe.expect(waiting.state, .retrying, "the state")
      try probe.expect(waiting.dueTime, probe.store.now + .seconds(5), "when it is due")
      try probe.expect(
        waiting.history.errors, [JobErrorRecord(attempt: 1, time: probe.store.now, type: "Test", text: "text")],
        "the errors")
      try probe.expect(try await probe.claim(1, by: worker).count, 0, "the number of jobs that are due")
      try await probe.pass(.seconds(5))
      let again = try await probe.claimOne(by: worker)
      try probe.expect(again.attempt, 2, "the attempt")
      try probe.expect(again.epoch, 2, "the number of claims")
      try probe.expect(again.firstClaimedTime, job.claimedTime, "when it was first claimed")
      try await probe.end(again, .fail(JobEndReason(.failed, "reason"), error))
      let failed = try await probe.stored(id)
      try probe.expect(failed.state, .failed, "the last state")
      try probe.expect(failed.reason, JobEndReason(.failed, "reason"), "the reason")
      try probe.expect(failed.history.errors.map(\.attempt), [1, 2], "the attempts of the errors")
      try probe.expect(failed.finishedTime, probe.store.now, "when it ended")
    },
    JobStoreCheck("J40: the last 10 errors are kept, with at most 8 KiB of text") { probe in
      let id = try await probe.enqueue()
      let worker = try await probe.register()
      let text = "a" + String(repeating: "ß", count: 8_192)
      for number in 1...12 {
        let job = try await probe.claimOne(by: worker)
        let error = JobErrorDescription(type: "E\(number)", text: number == 12 ? text : "")
        try await probe.end(job, .retry(after: .zero, error))
      }
      let errors = try await probe.stored(id).history.errors
      try probe.expect(errors.map(\.attempt), Array(3...12), "the attempts")
      try probe.expect(errors.map(\.type), (3...12).map { "E\($0)" }, "the types")
      try probe.expect(errors.last?.text, "a" + String(repeating: "ß", count: 4_095), "the last text")
    },
    JobStoreCheck("J41: a discarded job fails immediately, with its reason") { probe in
      let id = try await probe.enqueue()
      try await probe.end(probe.claimOne(by: probe.register()), .fail(JobEndReason(.discarded, "gone"), nil))
      let job = try await probe.stored(id)
      try probe.expect(job.state, .failed, "the state")
      try probe.expect(job.reason, JobEndReason(.discarded, "gone"), "the reason")
      try probe.expect(job.history.errors, [], "the errors")
    },
    JobStoreCheck("J41: a job that snoozes does not use an attempt, and the number of snoozes is limited") { probe in
      let id = try await probe.enqueue(options: [.maxSnoozeCount(2)])
      let worker = try await probe.register()
      for number in 1...3 {
        let job = try await probe.claimOne(by: worker)
        try probe.expect(job.attempt, 1, "the attempt")
        try probe.expect(job.snoozeCount, number - 1, "the number of snoozes")
        try await probe.end(job, .snooze(.seconds(5)))
        let due = number < 3 ? probe.store.now + .seconds(5) : nil
        try probe.expect(try await probe.record(id)?.dueTime, due, "when it is due")
        try await probe.pass(.seconds(5))
      }
      let job = try await probe.stored(id)
      try probe.expect(job.state, .failed, "the state")
      try probe.expect(job.reason?.code, .snoozedTooOften, "the reason")
      try probe.expect(job.history.errors, [], "the errors")
    },
    JobStoreCheck(
      "J42: if a job is given back, its attempt is not counted, and another worker can start the job immediately"
    ) { probe in
      let id = try await probe.enqueue()
      try await probe.end(probe.claimOne(by: probe.register()), .release)
      let job = try await probe.stored(id)
      try probe.expect(job.state, .waiting, "the state")
      try probe.expect(job.attempt, 0, "the attempt")
      try probe.expect(job.crashCount, 0, "the number of crashes")
      try probe.expect(job.history.errors, [], "the errors")
      try probe.expect(try await probe.claimOne(by: probe.register()).attempt, 1, "the next attempt")
    },
    JobStoreCheck("J44: a failed or cancelled job can be run again, has new attempts, and keeps its history") { probe in
      let worker = try await probe.register()
      let error = JobErrorDescription(type: "Test", text: "text")
      let ends: [JobEnding.Action] = [.fail(JobEndReason(.failed), error), .cancel(JobEndReason(.cancelled))]
      for end in ends {
        let id = try await probe.enqueue()
        let first = try await probe.claimOne(by: worker)
        try await probe.end(first, .snooze(.zero))
        try await probe.end(probe.claimOne(by: worker), .retry(after: .zero, error))
        let last = try await probe.claimOne(by: worker)
        try await probe.write(.checkpoint(name: "step", value: JobPayload(bytes: [1])), by: probe.fence(of: last))
        try await probe.end(last, end)
        let ended = try await probe.stored(id)
        try probe.expect(try await probe.perform(.retry(.id(id))), 1, "the number of changes")
        let job = try await probe.stored(id)
        try probe.expect(job.state, .waiting, "the state")
        try probe.expect(
          [job.attempt, job.crashCount, job.snoozeCount], [0, 0, 0], "the attempts, crashes, and snoozes")
        try probe.expect(job.history.errors, ended.history.errors, "the errors")
        try probe.expect(job.reason, nil, "the reason")
        try probe.expect(job.expirationTime, nil, "when it is deleted")
        let checkpoint = try await probe.store.checkpoint("step", of: id)
        try probe.expect(checkpoint, JobPayload(bytes: [1]), "the checkpoint of an earlier attempt")
        let again = try await probe.claimOne(by: worker)
        try probe.expect(again.id, id, "the number")
        try probe.expect(again.attempt, 1, "the attempt")
        try probe.expect(again.epoch, last.epoch + 1, "the number of claims")
        try await probe.end(again, .succeed(result: nil))
        try probe.expect(try await probe.perform(.retry(.id(id))), 0, "the number of changes after a success")
      }
    },
    JobStoreCheck("J44: a job whose key is held by another job is not run again") { probe in
      let options: JobOptions = [.unique(.unfinished("key"))]
      let first = try await probe.enqueue(options: options)
      try await probe.perform(.cancel(.all))
      let cancelled = try await probe.record(first)
      let second = try await probe.enqueue(options: options)
      do {
        _ = try await probe.perform(.retry(.id(first)))
        throw probe.fail("a job was run again while another one holds its key")
      } catch let error as JobError {
        try probe.expect(error.code, .keyHeld, "the error")
      }
      try probe.expect(try await probe.record(first), cancelled, "the job")
      try await probe.perform(.cancel(.id(second)))
      try probe.expect(try await probe.perform(.retry(.id(first))), 1, "the number of changes when the key is free")
      try probe.expect(try await probe.enqueue(options: options), first, "the holder")
    },
    JobStoreCheck("J44: jobs whose keys are held don't prevent a command from running other jobs again") { probe in
      let options: JobOptions = [.unique(.unfinished("key"))]
      let other = try await probe.enqueue()
      let first = try await probe.enqueue(options: options)
      try await probe.perform(.cancel(.all))
      let second = try await probe.enqueue(options: options)
      try await probe.perform(.cancel(.all))
      let last = try await probe.enqueue()
      try await probe.perform(.cancel(.all))
      try probe.expect(try await probe.perform(.retry(.all)), 3, "the number of changes")
      for id in [other, first, last] { try probe.expect(try await probe.state(id), .waiting, "the state") }
      try probe.expect(try await probe.state(second), .cancelled, "the state of the job whose key is held")
    },
  ]
}
