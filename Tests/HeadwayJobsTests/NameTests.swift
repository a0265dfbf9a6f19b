import Headway
@_spi(JobStore) import HeadwayJobs
import Testing

/// The lengths of names and keys.
@Suite struct NameTests {
  @Test("J121: a job with a name or key that is too long is rejected; the maximum lengths are accepted")
  func jobs() async throws {
    let jobs = Workshop().jobs
    let (name, key) = (String(repeating: "n", count: 512), String(repeating: "k", count: 1_024))
    for limit in [JobLimit.concurrency(1, key: key), .serial(key: key), .rate(1, per: .seconds(1), key: key)] {
      try await jobs.enqueue(
        Sum(left: 1, right: 1), .queue(name), .limits([limit]), .unique(.waiting("\(limit.rule)")))
    }
    try await jobs.enqueue(Sum(left: 1, right: 1), .unique(.unfinished(key)))
    for option in [
      .queue(name + "n"), .unique(.unfinished(key + "k")), .limits([.serial(key: key + "k")]),
    ] as [JobOption] {
      let error = await #expect(throws: JobError.self) {
        try await jobs.enqueue(Sum(left: 1, right: 1), option)
      }
      #expect(error?.code == .nameTooLong)
    }
    let error = await #expect(throws: JobError.self) {
      try await jobs.enqueue(contentsOf: [Sum(left: 1, right: 1)], .queue(name + "n"))
    }
    #expect(error?.code == .nameTooLong)
    #expect(try await jobs.jobs().count == 4)
  }

  @Test("J121: labels or tags that are too long, and too many tags, are rejected")
  func labels() async throws {
    let jobs = Workshop().jobs
    let (label, tag) = (String(repeating: "l", count: 1_024), String(repeating: "t", count: 512))
    try await jobs.enqueue(Sum(left: 1, right: 1), .label(label), .tags(Array(repeating: tag, count: 100)))
    for option in [
      .label(label + "l"), .tags([tag + "t"]), .tags(Array(repeating: "t", count: 101)),
    ] as [JobOption] {
      let error = await #expect(throws: JobError.self) {
        try await jobs.enqueue(Sum(left: 1, right: 1), option)
      }
      #expect(error?.code == .nameTooLong)
    }
    #expect(try await jobs.jobs().count == 1)
  }

  @Test("J182: history, reasons, and progress text are shortened to 8 KiB")
  func texts() {
    let (text, expected) = (String(repeating: "x", count: 9_000), String(repeating: "x", count: 8_192))
    let time = StoreTime(microseconds: 0)
    #expect(JobTransition(time: time, state: .running, note: text).note == expected)
    #expect(JobEndReason(.discarded, text).text == expected)
    #expect(JobProgress(fraction: 1, text: text).text == expected)
    let error = JobErrorRecord(attempt: 1, time: time, type: text, text: text)
    #expect(error.text == expected)
    #expect(error.type.utf8.count == 512)
  }

  @Test("J121: a schedule is rejected if its name, or a name of its jobs, is too long")
  func schedules() async throws {
    let jobs = Workshop().jobs
    let name = String(repeating: "n", count: 512)
    let job = Sum(left: 1, right: 1)
    try await jobs.schedule(name, .every(.seconds(60)), job: job)
    for (name, queue) in [(name + "n", "default"), ("short", name + "n")] {
      let error = await #expect(throws: JobError.self) {
        try await jobs.schedule(name, .every(.seconds(60)), job: job, .queue(queue))
      }
      #expect(error?.code == .nameTooLong)
    }
    #expect(try await jobs.schedules().map(\.name) == [name])
  }
}
