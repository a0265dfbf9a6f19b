#if Jobs
import ArgumentParser
import Foundation
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
@testable import HeadwayTool
import Testing

/// Durable jobs, edited, deleted and abandoned by the tool.
@Suite("headway jobs edit", .hangLimit)
struct JobsEditTests {
  private let folder: TemporaryFolder
  private let store: SQLiteJobStore
  private let jobs: Jobs

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteJobStore(path: folder.path + "/jobs.sqlite")
    jobs = Jobs(store)
  }

  /// Runs a command on the store, and expects that it succeeds.
  private func run(_ arguments: String...) async throws -> Tool.Run {
    let run = try await Tool.run(["jobs"] + arguments + ["--store", "jobs.sqlite"], in: folder)
    #expect(run.status == 0 && run.errors.isEmpty, "\(arguments): \(run.errors)")
    return run
  }

  private func job(_ number: Int64) async throws -> JobRecord {
    try #require(try await jobs.job(JobID(rawValue: number)))
  }

  /// Adds a job of the kind `resize`.
  private func enqueue(version: Int = 1, _ options: JobOptions = []) async throws {
    let payload = JobPayload(bytes: Array("{}".utf8))
    _ = try await store.enqueue([NewJob(kind: "resize", version: version, payload: payload, options: options)])
  }

  /// Claims a job for a worker that does not run it.
  @discardableResult
  private func claim() async throws -> JobFence {
    let kinds: [JobKind: Int] = ["resize": 1]
    let identifier = ProcessInfo.processInfo.processIdentifier
    let worker = try await store.register(
      WorkerDescription(name: "test", processIdentifier: identifier, queues: ["default"], kinds: kinds))
    let claim = JobClaim(queue: "default", count: 1, allowsSuspect: true, kinds: kinds)
    let claimed = try await store.exchange(JobExchange(worker: worker, claims: [claim])).claimed
    return try #require(claimed.first?.first?.fence)
  }

  @Test("J315: retrying jobs are listed, run now, edited and cancelled, and ended jobs are listed by time")
  func retrying() async throws {
    for _ in 0..<3 {
      try await enqueue()
      let fence = try await claim()
      let ending = JobEnding(fence, .retry(after: .seconds(3_600), JobErrorDescription(type: "E", text: "no route")))
      _ = try await store.exchange(JobExchange(worker: fence.owner, endings: [ending]))
    }
    try await enqueue([.delay(.seconds(3_600))])
    let list = try await run("list", "--state", "retrying").output
    #expect(list.count == 4)
    #expect(list[1].hasPrefix("1    retrying  resize  default  1") && list[1].hasSuffix("no route"))
    #expect(try await run("run-now", "1").output == ["1 job made due now."])
    let edited = try await run("edit", "--state", "retrying", "--priority", "low").output
    #expect(edited == ["2 jobs changed: priority low."])
    let status = try await run("status").output.map { $0.split(separator: " ").map(String.init) }
    let table = Array(status.drop { $0.first != "queue" })
    #expect(table.first?.prefix(6) == ["queue", "held", "scheduled", "retrying", "waiting", "running"])
    #expect(table.dropFirst().first?.prefix(6) == ["default", "0", "1", "2", "1", "0"])
    #expect(try await run("cancel", "--state", "retrying").output == ["2 jobs cancelled."])
    for (number, state) in [(1, .waiting), (2, .cancelled), (3, .cancelled), (4, .scheduled)] as [(Int64, JobState)] {
      #expect(try await job(number).state == state, "job \(number)")
    }
    let ended = try await run("list", "--ended-since", "-1h", "--json").objects()
    #expect(ended.map { $0["id"] as? Int } == [2, 3])
    #expect(try await run("list", "--ended-until", "-1h").output == ["No jobs."])
    #expect(try await run("delete", "--ended-since", "-1h", "--ended-until", "+1h").output == ["2 jobs deleted."])
    await store.close()
  }

  @Test("J204: scheduled jobs become due now, and other jobs remain as they are") func runningNow() async throws {
    try await enqueue()
    try await claim()
    for delay in [60, 120, 0] { try await enqueue([.delay(.seconds(delay))]) }
    #expect(try await run("run-now", "2").output == ["1 job made due now."])
    #expect(try await job(2).state == .waiting)
    #expect(try await run("run-now", "--all", "--json").objects().map { $0["changed"] as? Int } == [1])
    #expect(try await run("run-now", "--all").output == ["0 jobs made due now."])
    for (number, state) in [(1, .running), (2, .waiting), (3, .waiting), (4, .waiting)] as [(Int64, JobState)] {
      #expect(try await job(number).state == state, "job \(number)")
    }
    await store.close()
  }

  @Test("J204: several changes apply to the same jobs in order, and the payloads keep their versions")
  func editing() async throws {
    for version in [1, 3] { try await enqueue(version: version, [.queue("images")]) }
    try await enqueue()
    try await enqueue([.queue("images")])
    try await jobs.cancel(JobID(rawValue: 4))
    let edit = try await run(
      "edit", "--kind", "resize", "--queue", "images", "--start", "2100-01-02", "--new-payload", #"{"path":"b.jpg"}"#,
      "--deadline", "2100-01-01T00:00+02:00", "--move-to", "large", "--priority", "veryHigh")
    #expect(
      edit.output == [
        "2 jobs changed: priority veryHigh.", "2 jobs changed: queue large.",
        "2 jobs changed: deadline 2099-12-31T22:00:00.000Z.", "2 jobs changed: payload.",
        "2 jobs changed: due 2100-01-02T00:00:00.000Z.",
      ])
    for (number, version) in [(1, 1), (2, 3)] as [(Int64, Int)] {
      let job = try await job(number)
      #expect(job.priority == 8 && job.queue == "large" && job.version == version)
      #expect(job.payload == JobPayload(bytes: Array(#"{"path":"b.jpg"}"#.utf8)))
      #expect(job.deadline?.description == "2099-12-31T22:00:00.000Z")
      #expect(job.state == .scheduled && job.dueTime?.description == "2100-01-02T00:00:00.000Z")
    }
    let other = try await job(3)
    #expect(other.priority == 0 && other.queue == "default" && other.deadline == nil && other.state == .waiting)
    #expect(try await job(4).queue == "images")

    let objects = try await run("edit", "1", "3", "--no-deadline", "--priority", "veryHigh", "--json").objects()
    #expect(objects.map { $0["change"] as? String } == ["priority", "deadline"])
    #expect(objects.map { $0["changed"] as? Int } == [1, 1])
    #expect(try await job(1).deadline == nil)

    let found = try await run("edit", "--payload", "b.jpg", "--new-payload", "{}", "--kind", "resize", "--start", "+1m")
    #expect(found.output.first == "2 jobs changed: payload.")
    #expect(try await run("run-now", "--payload", "b.jpg").output == ["0 jobs made due now."])

    let before = store.now
    _ = try await run("edit", "3", "--start", "+10m")
    let due = try #require(try await job(3).dueTime)
    #expect(due >= before + .seconds(600) && due <= store.now + .seconds(600))
    #expect(try await run("edit", "3", "--start", "2001-01-01").output == ["1 job changed: due now."])
    #expect(try await job(3).state == .waiting)
    await store.close()
  }

  @Test("J204: if a value can't be used, an error explains it, and no job is changed") func wrongValues() async throws {
    try await enqueue()
    let long = String(repeating: "q", count: 2_000)
    let cases: [([String], Int32, String)] = [
      (["1"], 64, "Specify a change: --priority, --move-to"),
      (["--priority", "high"], 64, "Select the jobs by number, with --queue"),
      (["1", "--priority", "urgent"], 64, "'veryHigh'"),
      (["1", "--priority", "high", "--move-to", ""], 64, "--move-to '': name the queue"),
      (["1", "--priority", "high", "--move-to", long], 64, "The queue of a job"),
      (["1", "--priority", "high", "--start", "soon"], 64, "use a date, such as 2026-07-29"),
      (["1", "--priority", "high", "--deadline", "2026-02-30"], 64, "use a date, such as 2026-07-29"),
      (["1", "--deadline", "2001-01-01"], 64, "use a time in the future"),
      (["1", "--deadline", "+1h", "--no-deadline"], 64, "can't be combined"),
      (["1", "--priority", "high", "--new-payload", "{"], 64, "use valid JSON"),
      (["--all", "--new-payload", "{}"], 64, "by number or with --kind"),
      (["1", "9", "--priority", "high"], 65, "The store has no job 9"),
    ]
    for (arguments, status, text) in cases {
      let run = try await Tool.run(["jobs", "edit"] + arguments + ["--store", "jobs.sqlite"], in: folder)
      #expect(run.status == status, "\(arguments): \(run.errors)")
      #expect(run.output.isEmpty && run.errors.count == 1, "\(run)")
      #expect(run.errors.first?.contains(text) == true, "\(arguments): \(run.errors)")
    }
    #expect(try await job(1).priority == 0)
    #expect(try await job(1).payload == JobPayload(bytes: Array("{}".utf8)))
    await store.close()
  }

  @Test(
    "J204: a time is a date, in UTC or with an offset, or a duration from now",
    arguments: [
      ("1970-01-02", 86_400), ("1970-01-01T00:01", 60), ("1970-01-01 00:00:02", 2), ("1970-01-01T00:00:03.5Z", 3.5),
      ("1970-01-01T02:00:00.25+02:00", 0.25), ("1970-01-01T00:00-0130", 5_400), ("1970-01-01T01:00+01", 0),
      ("+10m", 700), ("+1h30m", 5_500), ("-1d", -86_300), ("+1d2h3m4s", 93_884), ("+0s", 100),
    ]) func times(text: String, seconds: Double) throws
  {
    let now = StoreTime(microseconds: 100_000_000)
    #expect(try JobTime(text).time(at: now) == StoreTime(microseconds: Int64(seconds * 1_000_000)))
  }

  @Test(
    "J204: text in any other format is rejected",
    arguments: [
      "", "+", "-", "10m", "+1.5h", "+1s1m", "+10m ", "+999999999d", "2026-02-29", "2026-13-01", "2026-1-1",
      "2026-01-01T", "2026-01-01T24:00", "2026-01-01T08:60", "2026-01-01T08:00+24:00", "today",
    ]) func wrongTimes(text: String)
  {
    #expect(throws: ValidationError.self) { try JobTime(text) }
  }

  @Test("J205: running jobs are abandoned, finished jobs are deleted, and other jobs remain as they are")
  func ending() async throws {
    for _ in 1...3 { try await enqueue() }
    try await claim()
    try await jobs.cancel(JobID(rawValue: 2))
    #expect(try await run("abandon", "2", "3").output == ["0 jobs abandoned."])
    #expect(try await run("delete", "--all").output == ["1 job deleted."])
    #expect(try await jobs.jobs().map(\.id.rawValue) == [1, 3])
    #expect(try await run("abandon", "--all", "--json").objects().map { $0["changed"] as? Int } == [1])
    #expect(try await job(1).reason?.code == .abandoned)
    #expect(try await job(3).state == .waiting)
    #expect(try await run("delete", "--state", "cancelled", "--until", "-1h").output == ["0 jobs deleted."])
    #expect(try await run("delete", "1", "3").output == ["1 job deleted."])
    #expect(try await jobs.jobs().map(\.id.rawValue) == [3])
    await store.close()
  }

  @Test("J235: commands send a signal to jobs and show what a job waits for") func signalling() async throws {
    try await enqueue()
    try await claim()
    let running = try await job(1)
    let wait = JobEnding(try #require(running.fence), .wait(.signal("packed"), until: store.now + .seconds(3_600)))
    _ = try await store.exchange(JobExchange(worker: wait.fence.owner, endings: [wait]))
    let shown = try await run("show", "1").output
    #expect(shown.contains("waits for   the signal “packed”"))
    #expect(shown.first?.contains("waits for the signal “packed”, at most until") == true)
    let objects = try await run("show", "1", "--json").objects()
    #expect(objects.first?["waitsFor"] as? String == "the signal “packed”")
    let value = #"{"parcel":3}"#
    let sent = try await run("signal", "1", "--name", "packed", "--value", value)
    #expect(sent.output == ["1 job received the signal."])
    #expect(try await job(1).state == .waiting)
    #expect(
      try await store.checkpoint("headway/signal 1 packed", of: JobID(rawValue: 1))
        == JobPayload(bytes: Array(value.utf8)))
    #expect(try await run("signal", "--all", "--name", "go", "--json").objects().map { $0["changed"] as? Int } == [1])
    await store.close()
  }

  @Test(
    "J205: commands without jobs, or with the number of a missing job, change nothing",
    arguments: [
      "delete", "abandon", "run-now",
    ]) func missingJobs(command: String) async throws
  {
    try await enqueue([.delay(.seconds(60))])
    for (arguments, status) in [([], 64), (["1", "9"], 65)] as [([String], Int32)] {
      let run = try await Tool.run(["jobs", command] + arguments + ["--store", "jobs.sqlite"], in: folder)
      #expect(run.status == status && run.output.isEmpty && run.errors.count == 1, "\(run)")
    }
    #expect(try await job(1).state == .scheduled)
    await store.close()
  }
}
#endif
