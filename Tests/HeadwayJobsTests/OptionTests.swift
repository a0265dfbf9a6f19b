import FoundationEssentials
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsTestKit
import Testing

/// Lists of options, and their precedence.
@Suite struct OptionTests {
  private let workshop = Workshop()

  private var jobs: Jobs { workshop.jobs }

  @Test("J290: each option sets the property with its name, and all other properties are nil")
  func properties() {
    let date = Date(timeIntervalSince1970: 1_900_000_000)
    let retention = JobRetention(succeeded: .seconds(1))
    let options: JobOptions = [
      .queue("images"), .priority(.high), .qualityOfService(.utility), .delay(.seconds(1)), .deadline(date),
      .label("label"), .tags(["a", "b"]), .timeout(.seconds(2)), .retry(.never), .maxSnoozeCount(3), .maxCrashCount(4),
      .unique(.waiting("key")), .retention(retention), .limits([.serial(key: "a")]), .fullQueuePolicy(.fail),
      .after(JobID(rawValue: 7)),
    ]
    #expect((options.queue, options.priority, options.qualityOfService) == ("images", .high, .utility))
    #expect((options.delay, options.startDate, options.deadline) == (.seconds(1), nil, date))
    #expect((options.label, options.tags, options.timeout) == ("label", ["a", "b"], .seconds(2)))
    #expect((options.retry, options.maxSnoozeCount, options.maxCrashCount) == (.never, 3, 4))
    #expect((options.unique, options.retention) == (.waiting("key"), retention))
    #expect((options.limits, options.fullQueuePolicy) == ([.serial(key: "a")], .fail))
    #expect(options.after == [JobID(rawValue: 7).dependency])
    let dated: JobOptions = [.startDate(date)]
    #expect((dated.startDate, dated.queue, dated.after) == (date, nil, []))
    #expect(JobOptions() == [])
  }

  @Test("J290: if an option occurs twice, the later one takes precedence, even over a prepared list")
  func precedence() {
    let prepared: JobOptions = [.queue("a"), .priority(.low), .tags(["x", "y"])]
    #expect(JobOptions([.queue("a"), .queue("b")]) == [.queue("b")])
    #expect(
      [.label("l"), .options(prepared), .queue("b"), .tags(["z"])] as JobOptions
        == [.priority(.low), .queue("b"), .label("l"), .tags(["z"])])
    #expect([.queue("b"), .options(prepared)] as JobOptions == prepared)
    var options = prepared
    options.set(.limits([.serial(key: "a")]))
    options.set(.limits([]))
    #expect(options.limits == [])
  }

  @Test("J290: options of the call take precedence over options of the type")
  func overType() async throws {
    let plain = try #require(try await jobs.enqueue(Prepared()).job())
    #expect((plain.queue, plain.priority, plain.settings.label) == ("prepared", 4, "type"))
    #expect(plain.settings.limits == [.serial(key: "type")])
    let handle = try await jobs.enqueue(Prepared(), .queue("call"), .label("call"), .limits([]))
    let job = try #require(try await handle.job())
    #expect((job.queue, job.priority, job.settings.label) == ("call", 4, "call"))
    #expect(job.settings.limits == nil)
  }

  @Test("J292: a job waits for the jobs in all its options, and a job that occurs in two options must succeed")
  func dependencies() async throws {
    let ids = try await jobs.enqueue(contentsOf: (0..<3).map { Sum(left: $0, right: 1) }).map(\.id)
    let options: JobOptions = [.after(ids[0]), .after([ids[1], ids[0].success]), .after()]
    #expect(options.after == [ids[0].dependency, ids[1].dependency, ids[0].success])
    let handle = try await jobs.enqueue(Sum(left: 1, right: 1), .options(options), .after(ids[2]))
    let edges = try await jobs.backend.edges(of: [handle.id]).sorted { $0.dependency < $1.dependency }
    #expect(edges.map(\.dependency) == ids)
    #expect(edges.map(\.requirement) == [.success, .completion, .completion])
    let new = try Waiting.$id.withValue(ids[0]) { try NewJob(Waiting(), options: [.after(ids[1])]) }
    #expect(new.dependencies == [ids[0].dependency, ids[1].dependency])
  }

  @Test("J293: all functions that store jobs accept the same options")
  func everywhere() async throws {
    let first = try await jobs.enqueue(Prepared(), .queue("a"), .label("call"))
    let others = try await jobs.enqueue(contentsOf: [Prepared(), Prepared()], .queue("a"), .label("call"))
    var batch = JobBatch()
    let entry = batch.add(Prepared(), .queue("a"), .label("call"))
    let last = try await jobs.enqueue(batch)[entry]
    try await jobs.schedule("often", .every(.seconds(60)), job: Prepared(), .queue("a"), .label("call"))
    let scheduled = try await jobs.runSchedule("often")
    for id in [first.id, last.id, scheduled] + others.map(\.id) {
      let job = try #require(try await jobs.job(id))
      #expect((job.queue, job.priority, job.settings.label) == ("a", 4, "call"))
    }
  }

  @Test("J293: a job, and a test of a job, accept the same options")
  func insideJob() async throws {
    let test = JobTest()
    try await test.perform(Spreading(), .label("parent"), .timeout(.seconds(60)))
    let parent = try #require(try await test.jobs.jobs(JobFilter(kinds: [Spreading.kind])).first)
    #expect((parent.settings.label, parent.settings.timeout) == ("parent", .seconds(60)))
    let children = try await test.jobs.jobs(JobFilter(kinds: [Prepared.kind]))
    #expect(children.map(\.queue) == ["a", "b"])
    #expect(children.map(\.priority) == [4, 4])
    #expect(children.map(\.settings.label) == ["call", "type"])
  }

  @Test("J293: the policy for a full queue is an option of the call or of the type")
  func fullQueue() async throws {
    for queue in ["prepared", "default"] { try await jobs.changeQueue(queue, .maxPendingJobCount(1)) }
    try await jobs.enqueue(Prepared())
    try await jobs.enqueue(Sum(left: 1, right: 1))
    let ofType = await #expect(throws: JobError.self) { try await jobs.enqueue(Prepared()) }
    #expect(ofType?.code == .queueFull)
    let fails: JobOptions = [.fullQueuePolicy(.fail)]
    let ofCall = await #expect(throws: JobError.self) {
      try await jobs.enqueue(contentsOf: [Sum(left: 1, right: 1)], .options(fails))
    }
    #expect(ofCall?.code == .queueFull)
  }
}

private struct Prepared: Job {
  static let kind: JobKind = "prepared"
  static let options: JobOptions = [
    .queue("prepared"), .priority(.high), .label("type"), .limits([.serial(key: "type")]), .fullQueuePolicy(.fail),
  ]

  func perform(in context: JobContext) async throws {}
}

private struct Waiting: Job {
  static let kind: JobKind = "waiting"
  @TaskLocal static var id = JobID(rawValue: 0)
  static var options: JobOptions { [.after(id)] }

  func perform(in context: JobContext) async throws {}
}

private struct Spreading: Job {
  static let kind: JobKind = "spreading"

  func perform(in context: JobContext) async throws {
    try await context.enqueue(Prepared(), .queue("a"), .label("call"))
    try await context.enqueue(Prepared(), .queue("b"), beforeDependents: true)
  }
}
