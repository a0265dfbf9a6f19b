import FoundationEssentials
import Headway
@_spi(JobStore) import HeadwayJobs
@_spi(JobStore) import HeadwayJobsTestKit
import Testing

/// Programming errors with jobs, each in its own process.
@Suite struct MisuseTests {
  @Test(
    "J183, J241: a programming error stops the process with a message that names the object and the remedy",
    arguments: Misuse.allCases)
  func stops(misuse: Misuse) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [misuse] in
      try await misuse.commit()
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("Fatal error: \(misuse.message)"), "\(output)")
  }
}

/// A programming error.
enum Misuse: String, CaseIterable, Codable, Sendable {
  case sameKind, noKinds, namelessType, namelessKind, noQueue, sameQueue, lateQueue, namelessQueue, ranBefore
  case negativePeriod, negativeDelay, queueOfJob, snoozes, crashes, uniqueTime, retention, limit, rule, rate
  case rateRule, queueLimit, pendingLimit, failureLimit, aging, interval, namelessSchedule, otherBatch, otherEntry
  case sizes, jobLimit, numberLimit, countLimit, clockOfStore, attempt, drainTime
  case weight, weightOfRule, lateSerial, sameKey, manyLimits, noDate

  /// The beginning of the message.
  var message: String {
    switch self {
    case .sameKind: "Two types of a worker have the kind sum: give each type its own kind."
    case .noKinds: "The worker test has no kinds, so it would run nothing: pass the types of its jobs."
    case .namelessType: "The type Nameless has an empty kind. Give it a name"
    case .namelessKind: "A job has an empty kind. Give its type a name"
    case .noQueue: "The worker serves no queue: call serve(_:on:) before run()."
    case .sameQueue: "The worker already serves the queue default: add each queue once."
    case .lateQueue: "The worker already runs: call serve(_:on:) before run()."
    case .namelessQueue: "The worker test serves a queue without a name"
    case .ranBefore: "The worker already runs, or has run: create another one."
    case .negativePeriod: "The worker test has the gracePeriod -1.0 seconds"
    case .negativeDelay: "A job of the kind sum has the negative delay -5.0 seconds: use zero"
    case .queueOfJob: "A job of the kind sum has a queue without a name"
    case .snoozes: "A job of the kind sum has the maxSnoozeCount -1: use 0 or more"
    case .crashes: "A job of the kind sum has the maxCrashCount 0: use 1 or more"
    case .uniqueTime: "A job of the kind sum has a unique key that it holds for 0.0 seconds: use a positive duration"
    case .retention: "A job of the kind sum has the negative retention -1.0 seconds"
    case .limit: "A limit of 0 jobs would never run a job: use a positive number."
    case .rule: "A job of the kind sum has a limit that would never let it run, 0 jobs: use positive numbers"
    case .rate: "A rate of 0 per 1.0 seconds with a burst of 0 would never run a job: use positive numbers."
    case .rateRule: "A job of the kind sum has a limit that would never let it run, -1 jobs per 1.0 seconds"
    case .weight: "A job with the weight 3 would never run with a limit of 2: use a weight from 1 to 2."
    case .weightOfRule: "A job of the kind sum has a limit that would never let it run, the weight 0 of 2: use a weight"
    case .lateSerial: "A job of the kind sum has the serial key b after another limit: put it first"
    case .sameKey: "A job of the kind sum has two limits with the key a: use one of them"
    case .manyLimits: "A job of the kind sum has 5 limits: use at most 4"
    case .queueLimit: "The maxRunningJobCount -1 of the queue default is negative: use 0, or nil for no limit."
    case .pendingLimit: "A queue with the maxPendingJobCount 0 would accept no jobs: use a positive number."
    case .failureLimit: "The queue default can't be paused after 0 failures: use a positive number."
    case .aging: "The priority of jobs in the queue default can't rise every 0.0 seconds: use a positive interval"
    case .noDate: "A date is not a number (NaN), so it is neither before nor after other times."
    case .interval: "The interval of a schedule is 0.0 seconds: use one second to 100 years."
    case .namelessSchedule: "A schedule has no name"
    case .otherBatch: "The entry belongs to another batch. Use the handles of that batch."
    case .otherEntry: "A dependency is an entry of another batch. Use entries of this batch"
    case .sizes: "A store of jobs has the maxPayloadSize 0 and the maxResultSize 1048576: use positive numbers."
    case .jobLimit: "The jobs of a store are read with the limit -1: use 0 or more."
    case .numberLimit: "Job numbers are read with the limit 0: use a positive number."
    case .clockOfStore: "The time of MemoryJobStore can't be moved: create the test with JobTest()"
    case .attempt: "A test performs attempt 0 of a job of the kind sum: use a positive number."
    case .drainTime: "A test drains a store for -1.0 seconds: use zero or more."
    case .countLimit: "The jobs of a store are counted up to 0: use a positive number."
    }
  }

  func commit() async throws {
    let jobs = Jobs(MemoryJobStore())
    switch self {
    case .sameKind: _ = JobWorker(jobs, kinds: [Sum.self, Twin.self])
    case .noKinds: _ = JobWorker(jobs, kinds: [], name: "test")
    case .namelessType: _ = JobWorker(jobs, kinds: [Nameless.self])
    case .namelessKind: try await jobs.enqueue(Nameless())
    case .noQueue: try await JobWorker(jobs, kinds: [Sum.self]).run()
    case .sameQueue, .lateQueue, .namelessQueue, .ranBefore: try await commitWithWorker(jobs)
    case .negativePeriod: _ = JobWorker(jobs, kinds: [Sum.self], name: "test", gracePeriod: .seconds(-1))
    case .limit: _ = JobLimit.concurrency(0, key: "a")
    case .rate: _ = JobLimit.rate(0, per: .seconds(1), key: "a")
    case .weight: _ = JobLimit.concurrency(2, key: "a", weight: 3)
    case .queueLimit: try await jobs.changeQueue("default", .maxRunningJobCount(-1))
    case .pendingLimit: try await jobs.changeQueue("default", .maxPendingJobCount(0))
    case .failureLimit: try await jobs.changeQueue("default", .maxFailureCount(0))
    case .aging: try await jobs.changeQueue("default", .agingInterval(.zero))
    case .noDate:
      try await jobs.enqueue(Sum(left: 1, right: 1), .startDate(Date(timeIntervalSince1970: .nan)))
    case .interval: _ = JobSchedule.every(.zero)
    case .namelessSchedule: try await jobs.schedule("", .every(.seconds(1)), job: Sum(left: 1, right: 1))
    case .otherBatch, .otherEntry: try await commitWithBatches(jobs)
    case .sizes: _ = MemoryJobStore(maxPayloadSize: 0)
    case .jobLimit: _ = try await jobs.jobs(limit: -1)
    case .numberLimit: _ = try await jobs.ids(limit: 0)
    case .countLimit: _ = try await jobs.overview(countingTo: 0)
    case .clockOfStore: _ = JobTest(jobs: jobs).clock
    case .attempt: try await JobTest().perform(Sum(left: 1, right: 1), attempt: 0)
    case .drainTime: try await JobTest().drain(Sum.self, for: .seconds(-1))
    default: try await jobs.enqueue(Sum(left: 1, right: 1), option)
    }
  }

  /// An option that no job can have.
  private var option: JobOption {
    var rate = JobRate(1, per: .seconds(1))
    rate.count = -1
    return switch self {
    case .negativeDelay: .delay(.seconds(-5))
    case .queueOfJob: .queue("")
    case .snoozes: .maxSnoozeCount(-1)
    case .crashes: .maxCrashCount(0)
    case .uniqueTime: .unique(.held("key", for: .zero))
    case .retention: .retention(JobRetention(failed: .seconds(-1)))
    case .rule: .limits([JobLimit(key: "a", rule: .concurrent(0))])
    case .weightOfRule: .limits([JobLimit(key: "a", rule: .concurrent(2), weight: 0)])
    case .lateSerial: .limits([.concurrency(2, key: "a"), .serial(key: "b")])
    case .sameKey: .limits([.concurrency(2, key: "a"), .concurrency(3, key: "a")])
    case .manyLimits: .limits((1...5).map { .concurrency(1, key: "\($0)") })
    default: .limits([JobLimit(key: "a", rule: .rate(rate))])
    }
  }

  private func commitWithWorker(_ jobs: Jobs) async throws {
    let worker = JobWorker(jobs, kinds: [Sum.self], name: "test")
    if self == .namelessQueue { worker.serve("", on: OperationQueue()) }
    worker.serve(on: OperationQueue())
    if self == .sameQueue { worker.serve(on: OperationQueue()) }
    worker.stop()
    try await worker.run()
    if self == .lateQueue { worker.serve("other", on: OperationQueue()) }
    try await worker.run()
  }

  private func commitWithBatches(_ jobs: Jobs) async throws {
    var (first, second) = (JobBatch(), JobBatch())
    let entry = first.add(Sum(left: 1, right: 1))
    second.add(Sum(left: 1, right: 1), .after(self == .otherEntry ? [entry] : []))
    _ = try await jobs.enqueue(second)[entry]
  }
}

private struct Nameless: Job {
  static let kind: JobKind = ""
  func perform(in context: JobContext) async throws {}
}
