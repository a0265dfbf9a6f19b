import Headway
@_spi(JobStore) import HeadwayJobs

extension JobStoreConformance {
  static let changes = [
    JobStoreCheck("J340: a change with an author is recorded with its selection, its jobs, and their values") { probe in
      let jobs = Jobs(probe.store).changing(as: "anna")
      let id = try await probe.enqueue(options: [.priority(.low), .tags(["vip"])])
      let filter = JobFilter(tag: "vip")
      try await jobs.change(filter, .priority(.high))
      probe.fixture.advanceClock(by: .seconds(1))
      try await jobs.cancel(id)
      let found = try await jobs.changes()
      try probe.expect(found.map(\.action), [.cancel, .change], "the actions")
      try probe.expect(found.map(\.author), ["anna", "anna"], "the authors")
      try probe.expect(found.map(\.subject), [.jobs(.id(id)), .jobs(filter)], "the selections")
      try probe.expect(found.map(\.count), [1, 1], "the counts")
      try probe.expect(found.map(\.ids), [[id], [id]], "the jobs")
      let now = probe.store.now
      try probe.expect(found.map(\.time), [now, now + .seconds(-1)], "the times")
      typealias Value = JobsChangeRecord.Value
      try probe.expect(found[0].values, [Value("state", from: "waiting", to: "cancelled")], "the state")
      try probe.expect(found[1].values, [Value("priority", from: "low", to: "high")], "the priority")
    },
    JobStoreCheck("J340: changes without an author, and changes that have no effect, are not recorded") { probe in
      let jobs = Jobs(probe.store)
      let id = try await probe.enqueue()
      try await jobs.change(id, .priority(.high))
      let anna = jobs.changing(as: "anna")
      try probe.expect(try await anna.change(id, .priority(.high)), false, "a change to the same value")
      try probe.expect(try await anna.retry(.all), 0, "the number of jobs that run again")
      try await anna.resumeQueue("default")
      try probe.expect(try await anna.removeSchedule("nightly"), false, "the removal of a schedule")
      let job = NewJob(kind: "test", payload: JobPayload(bytes: []), options: [])
      let definition = ScheduleDefinition(.every(.seconds(60)), job: job)
      _ = try await probe.store.perform(.set(definition), on: "nightly")
      _ = try await probe.store.perform(.set(definition), on: "nightly", by: JobsChangeOrigin("anna"))
      try await anna.resumeSchedule("nightly")
      try probe.expect(try await jobs.changes(), [], "the records")
    },
    JobStoreCheck("J340: a change that fails is not recorded") { probe in
      let anna = Jobs(probe.store).changing(as: "anna")
      let first = try await probe.enqueue(options: [.unique(UniqueKey("key", scope: .unfinished))])
      try await Jobs(probe.store).cancel(first)
      try await probe.enqueue(options: [.unique(UniqueKey("key", scope: .unfinished))])
      do {
        try await anna.retry(first)
        throw probe.fail("a job runs again although another one holds its key")
      } catch let error as JobError where error.code == .keyHeld {}
      try probe.expect(try await anna.changes(), [], "the records")
    },
    JobStoreCheck("J340: jobs that run again are recorded with their states afterward, and dependents are held") {
      probe in
      let first = try await probe.enqueue()
      let second = try await probe.enqueue(options: [.after(first.success)])
      try await probe.perform(.cancel(.id(first)))
      let anna = Jobs(probe.store).changing(as: "anna")
      try probe.expect(try await anna.retry(.all), 2, "the number of jobs that run again")
      try probe.expect([try await probe.state(first), try await probe.state(second)], [.waiting, .held], "the states")
      let change = try await anna.changes().first
      try probe.expect(change?.ids, [first, second], "the jobs")
      let state = change?.values.first { $0.name == "state" }
      try probe.expect(state?.before, ["cancelled"], "the states before")
      try probe.expect(state?.after, ["waiting", "held"], "the states after")
    },
    JobStoreCheck("J341: a change of many jobs has one record with the first IDs") { probe in
      let count = 2 * JobCommand.maxChangedCount + 1
      let ids = try await probe.enqueueBatch(of: count)
      let anna = Jobs(probe.store).changing(as: "anna")
      try probe.expect(try await anna.cancel(.all), count, "the number of cancelled jobs")
      let found = try await anna.changes()
      try probe.expect(found.count, 1, "the number of records")
      try probe.expect(found.first?.count, count, "the count")
      try probe.expect(found.first?.subject, .jobs(.all), "the selection")
      try probe.expect(found.first?.ids, Array(ids.prefix(JobsChangeRecord.maxIDCount)), "the jobs")
      try await anna.delete(JobFilter(ids: ids))
      guard let deleted = try await anna.changes(limit: 1).first, case .jobs(let filter) = deleted.subject else {
        throw probe.fail("the deletion was not recorded")
      }
      try probe.expect(deleted.action, .delete, "the action")
      try probe.expect(deleted.count, count, "the number of deleted jobs")
      try probe.expect(filter.ids, Array(ids.prefix(JobsChangeRecord.maxIDCount)), "the selected jobs")
      let states = [JobsChangeRecord.Value("state", from: "cancelled", to: nil)]
      try probe.expect(deleted.values, states, "the states of the deleted jobs")
    },
    JobStoreCheck("J341: a record has a limited number of values, and the size of a long payload") { probe in
      for index in 0..<9 { try await probe.enqueue(options: [.queue("q\(index)")]) }
      let anna = Jobs(probe.store).changing(as: "anna")
      try await anna.change(.all, .queue("other"))
      let long = JobPayload(bytes: Array(repeating: UInt8(ascii: "1"), count: JobsChangeRecord.maxValueLength + 1))
      try await anna.change(.all, .payload(long, version: 1))
      let found = try await anna.changes()
      let queues = found.last?.values.first { $0.name == "queue" }
      try probe.expect(queues?.before, (0..<JobsChangeRecord.maxValueCount).map { "q\($0)" }, "the queues before")
      try probe.expect(queues?.after, ["other"], "the queue")
      let payload = found.first?.values.first { $0.name == "payload" }
      try probe.expect(payload?.before, ["{}"], "the payload before")
      try probe.expect(payload?.after, ["4,097 bytes"], "the payload")
    },
    JobStoreCheck("J342: records are read by number and by job, newest first, and deleted after 90 days") { probe in
      let anna = Jobs(probe.store).changing(as: "anna")
      let ids = try await probe.enqueueBatch(of: 3)
      for id in ids { try await anna.change(id, .priority(.high)) }
      try await anna.cancel(JobFilter(ids: Array(ids.prefix(2))))
      let all = try await anna.changes()
      try probe.expect(all.map(\.action), [.cancel, .change, .change, .change], "the actions")
      let numbers = all.map(\.number)
      try probe.expect(numbers, numbers.sorted(by: >), "the order of the numbers")
      try probe.expect(Set(numbers).count, 4, "the number of different numbers")
      try probe.expect(try await anna.changes(before: numbers[1], limit: 1), [all[2]], "the changes before another one")
      try probe.expect(try await anna.changes(limit: 0), [], "no changes")
      try probe.expect(try await anna.changes(of: ids[0]), [all[3]], "the changes of a job")
      try probe.expect(try await anna.changes(of: ids[0], before: numbers[3]), [], "the earlier changes of a job")
      probe.fixture.advanceClock(by: JobsChangeRecord.retention - .seconds(1))
      try await anna.pauseQueue("mail")
      try await probe.perform(.prune)
      try probe.expect(try await anna.changes().count, 5, "the number of records before 90 days")
      probe.fixture.advanceClock(by: .seconds(1))
      try await probe.perform(.prune)
      try probe.expect(try await anna.changes().map(\.action), [.pauseQueue], "the records after 90 days")
      try await anna.resumeQueue("mail")
      let (later, earlier) = (try await anna.changes(), all[0].number)
      try probe.expect(later.allSatisfy { $0.number > earlier }, true, "that later numbers are greater")
      probe.fixture.advanceClock(by: JobsChangeRecord.retention)
      try await probe.perform(.prune)
      try probe.expect(try await anna.changes().count, 0, "the number of records after another 90 days")
      try await anna.pauseQueue("mail")
      let number = try await anna.changes().first?.number ?? 0
      try probe.expect(number > later[0].number, true, "that the number of a deleted record is not used again")
    },
    JobStoreCheck("J343: changes of queues are recorded with the settings before and after") { probe in
      let anna = Jobs(probe.store).changing(as: "anna")
      try await anna.changeQueue("mail", .maxRunningJobCount(3))
      try await anna.changeQueue("mail", .maxRunningJobCount(nil))
      try await anna.pauseQueue("mail")
      let found = try await anna.changes()
      try probe.expect(found.map(\.action), [.pauseQueue, .configureQueue, .configureQueue], "the actions")
      try probe.expect(Set(found.map(\.subject)), [.queue("mail")], "the subject")
      typealias Value = JobsChangeRecord.Value
      let values = [
        Value("paused", from: "no", to: "yes"), Value("maximum running", from: "3", to: nil),
        Value("maximum running", from: nil, to: "3"),
      ]
      try probe.expect(found.flatMap(\.values), values, "the values")
    },
    JobStoreCheck("J343: changes of schedules are recorded with the definitions before and after") { probe in
      let anna = Jobs(probe.store).changing(as: "anna")
      let origin = { JobsChangeOrigin("anna") }
      let job = NewJob(kind: "test", payload: JobPayload(bytes: [UInt8(ascii: "1")]), options: [])
      for seconds in [60, 90] {
        let definition = ScheduleDefinition(.every(.seconds(seconds)), job: job)
        _ = try await probe.store.perform(.set(definition), on: "nightly", by: origin())
      }
      try await anna.pauseSchedule("nightly")
      let id = try await anna.runSchedule("nightly")
      try await anna.removeSchedule("nightly")
      let found = try await anna.changes()
      let actions: [JobsChangeRecord.Action] = [
        .removeSchedule, .runSchedule, .pauseSchedule, .setSchedule, .setSchedule,
      ]
      try probe.expect(found.map(\.action), actions, "the actions")
      try probe.expect(Set(found.map(\.subject)), [.schedule("nightly")], "the subject")
      try probe.expect(found[1].ids, [id], "the job of the schedule")
      try probe.expect(found[2].values, [JobsChangeRecord.Value("paused", from: "no", to: "yes")], "the pause")
      let (old, new) = ("\(JobSchedule.every(.seconds(60)))", "\(JobSchedule.every(.seconds(90)))")
      try probe.expect(found[3].values, [JobsChangeRecord.Value("times", from: old, to: new)], "the new times")
      let times = found.map { $0.values.first { $0.name == "times" } }
      try probe.expect(times[4]?.after, [old], "the times of the new schedule")
      try probe.expect(times[0]?.before, [new], "the times of the deleted schedule")
    },
    JobStoreCheck("J343: a change of any option of a schedule's jobs is recorded") { probe in
      let payload = JobPayload(bytes: [UInt8(ascii: "1")])
      let date = (probe.store.now + .seconds(3_600)).date
      let jobs: [(name: String?, job: NewJob)] = [
        (nil, NewJob(kind: "test", payload: payload)), ("version", NewJob(kind: "test", version: 2, payload: payload)),
        ("priority", NewJob(kind: "test", version: 2, payload: payload, options: [.priority(.high)])),
        (
          "delay", NewJob(kind: "test", version: 2, payload: payload, options: [.priority(.high), .delay(.seconds(5))])
        ),
        (
          "deadline",
          NewJob(
            kind: "test", version: 2, payload: payload,
            options: [.priority(.high), .delay(.seconds(5)), .deadline(date)])
        ),
      ]
      for (name, job) in jobs {
        let definition = ScheduleDefinition(.every(.seconds(60)), job: job)
        _ = try await probe.store.perform(.set(definition), on: "nightly", by: JobsChangeOrigin("anna"))
        guard let name else { continue }
        let change = try await Jobs(probe.store).changes().first
        try probe.expect(change?.values.map(\.name), [name], "the changed parts of the definition")
      }
      try probe.expect(try await Jobs(probe.store).changes().count, jobs.count, "the number of records")
    },
    JobStoreCheck("J343: the jobs of past ticks have one record, and a signal is recorded with its value") { probe in
      let anna = Jobs(probe.store).changing(as: "anna")
      let job = NewJob(kind: "test", payload: JobPayload(bytes: [UInt8(ascii: "1")]), options: [])
      let definition = ScheduleDefinition(try .cron("* * * * *"), job: job)
      _ = try await probe.store.perform(.set(definition), on: "often")
      let now = probe.store.now
      let count = try await anna.backfill("often", from: (now + .seconds(-600)).date, to: now.date)
      let id = try await probe.enqueue()
      try await anna.signal(.id(id), JobSignal(name: "approved", value: JobPayload(bytes: Array("true".utf8))))
      let found = try await anna.changes()
      try probe.expect(found.map(\.action), [.signal, .backfillSchedule], "the actions")
      try probe.expect(found.map(\.count), [1, count], "the counts")
      try probe.expect(found[0].ids, [id], "the job that has received the signal")
      let values = [
        JobsChangeRecord.Value("signal", from: nil, to: "approved"),
        JobsChangeRecord.Value("value", from: nil, to: "true"),
      ]
      try probe.expect(found[0].values, values, "the signal")
    },
    JobStoreCheck("J343: a mute of errors is recorded with its note, and has the author of the change") { probe in
      let worker = try await probe.register()
      try await probe.enqueueBatch(of: 1)
      try await probe.fail(probe.claim(1, by: worker), "text")
      let id = try await probe.onlyErrorGroup().id
      let anna = Jobs(probe.store).changing(as: "anna")
      try await anna.mute(id, note: "vendor is down")
      try probe.expect(try await probe.onlyErrorGroup().mute?.author, "anna", "the author of the mute")
      try await anna.mute(id, note: "known")
      try await anna.unmute(id)
      try probe.expect(try await anna.unmute(id), false, "a mute that does not exist")
      let found = try await anna.changes()
      try probe.expect(found.map(\.action), [.unmuteErrors, .muteErrors, .muteErrors], "the actions")
      try probe.expect(Set(found.map(\.subject)), [.errorGroup("\(id)")], "the subject")
      typealias Value = JobsChangeRecord.Value
      let values = [
        Value("note", from: "known", to: nil), Value("note", from: "vendor is down", to: "known"),
        Value("note", from: nil, to: "vendor is down"),
      ]
      try probe.expect(found.flatMap(\.values), values, "the notes")
    },
    JobStoreCheck("J340: an author without a possible name is rejected, and the name can contain any character") {
      probe in
      let id = try await probe.enqueue()
      do {
        try await Jobs(probe.store).changing(as: String(repeating: "a", count: 513)).cancel(id)
        throw probe.fail("a name of 513 bytes is accepted")
      } catch let error as JobError where error.code == .nameTooLong {}
      try probe.expect(try await probe.state(id), .waiting, "the state of the job")
      let name = "Ånna \"Bobby\" \u{0}'; --"
      try await Jobs(probe.store).changing(as: name).cancel(id)
      let author = try await Jobs(probe.store).changes().first?.author
      try probe.expect(author, name.replacing("\u{0}", with: "\u{FFFD}"), "the author")
    },
  ]
}
