#if Jobs
import Foundation
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

/// Queues and schedules of durable jobs, listed and changed by the tool.
@Suite("headway jobs queues and schedules", .hangLimit)
struct JobsByNameTests {
  private let folder: TemporaryFolder
  private let store: SQLiteJobStore
  private let jobs: Jobs

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteJobStore(path: folder.path + "/jobs.sqlite")
    jobs = Jobs(store)
  }

  /// Runs a command on the store and expects that it succeeds.
  private func run(_ arguments: String...) async throws -> Tool.Run {
    let run = try await Tool.run(["jobs"] + arguments + ["--store", "jobs.sqlite"], in: folder)
    #expect(run.status == 0 && run.errors.isEmpty, "\(arguments): \(run.errors)")
    return run
  }

  /// Runs a command on the store and expects that it prints only an error.
  private func expectError(_ arguments: [String], _ status: Int32, _ text: String) async throws {
    let run = try await Tool.run(["jobs"] + arguments + ["--store", "jobs.sqlite"], in: folder)
    #expect(run.status == status && run.output.isEmpty && run.errors.count == 1, "\(arguments): \(run)")
    #expect(run.errors.first?.contains(text) == true, "\(arguments): \(run.errors)")
  }

  private func newJob(_ kind: JobKind, _ options: JobOptions = []) -> NewJob {
    NewJob(kind: kind, payload: JobPayload(bytes: Array("{}".utf8)), options: options)
  }

  @Test("J273: queues are listed, paused and resumed, and their settings are changed") func queues() async throws {
    #expect(try await run("queues").output == ["No queues."])
    _ = try await store.enqueue([newJob("mail", [.queue("mail")])])
    let set = try await run(
      "queues", "set", "mail", "--max-running", "8", "--max-pending", "1000", "--max-failures", "5", "--aging", "10m")
    #expect(
      set.output == [
        "The queue mail has at most 8 running jobs.", "The queue mail has room for 1000 pending jobs.",
        "The queue mail has a pause after 5 failures in a row.",
        "The queue mail has priorities that rise every 10 min.",
      ])
    let settings = try #require(try await jobs.counts()["mail"]?.settings)
    #expect(settings.maxRunningJobCount == 8 && settings.maxPendingJobCount == 1_000 && settings.maxFailureCount == 5)
    #expect(settings.agingInterval == .seconds(600))
    let paused = try await run("queues", "pause", "mail", "other").output
    #expect(paused == ["The queue mail is paused.", "The queue other is paused."])

    let list = try await run("queues", "list").output.map { $0.split(separator: " ").map(String.init) }
    #expect(
      list == [
        [
          "queue", "held", "scheduled", "retrying", "waiting", "running", "max", "running", "max", "pending", "max",
          "failures", "aging",
        ],
        ["mail", "0", "0", "0", "1", "0", "8", "1000", "5", "10", "min", "paused"],
        ["other", "0", "0", "0", "0", "0", "-", "-", "-", "-", "paused"],
      ])
    let object = try #require(try await run("queues", "--json").objects().first)
    #expect(object["name"] as? String == "mail" && object["isPaused"] as? Bool == true)
    #expect(
      object["counts"] as? [String: Int] == ["held": 0, "scheduled": 0, "retrying": 0, "waiting": 1, "running": 0])
    #expect(object["maxRunningJobCount"] as? Int == 8 && object["maxPendingJobCount"] as? Int == 1_000)
    #expect(object["maxFailureCount"] as? Int == 5 && object["failureCount"] as? Int == 0)
    #expect(object["agingSeconds"] as? Double == 600)

    for changed in [1, 0] {
      let objects = try await run("queues", "set", "mail", "--max-running", "none", "--aging", "none", "--json")
        .objects()
      #expect(objects.map { $0["change"] as? String } == ["maxRunningJobCount", "agingInterval"])
      #expect(objects.map { $0["changed"] as? Int } == [changed, changed])
    }
    #expect(
      try await run("queues", "set", "mail", "other", "--max-running", "0").output == [
        "The queue mail has at most 0 running jobs.", "The queue other has at most 0 running jobs.",
      ])
    #expect(try await run("queues", "resume", "mail").output == ["The queue mail is resumed."])
    await store.close()
  }

  @Test("J121, J273, J300: invalid settings and names of queues are usage errors, and nothing is changed")
  func wrongQueues() async throws {
    let long = String(repeating: "q", count: 2_000)
    let cases: [([String], Int32, String)] = [
      (["set", "mail"], 64, "Specify a setting: --max-running"),
      (["set", "--max-running", "8"], 64, "<name>"),
      (["set", "mail", "--max-running", "-1"], 64, "use 0 to 1000000000, or none"),
      (["set", "mail", "--max-pending", "0"], 64, "use 1 to 1000000000, or none"),
      (["set", "mail", "--max-failures", "many"], 64, "use 1 to 1000000000, or none"),
      (["set", "mail", "--max-running", "8", "--aging", "0s"], 64, "use a duration, such as 90s"),
      (["pause", ""], 64, "<name> ''"),
      (["pause", long], 64, "the name has 2000 bytes, but at most 512 are possible"),
      (["set", "mail", long, "--max-running", "8"], 64, "the name has 2000 bytes, but at most 512 are possible"),
    ]
    for (arguments, status, text) in cases { try await expectError(["queues"] + arguments, status, text) }
    #expect(try await jobs.counts().isEmpty)
    await store.close()
  }

  @Test("J301: the limits that running jobs use are listed by key, exhausted limits first")
  func limits() async throws {
    #expect(try await run("queues", "limits").output == ["No running job has a limit."])
    let limits: [[JobLimit]] = [
      [.concurrency(9, key: "customer"), .concurrency(4, key: "gpu", weight: 3)],
      [.concurrency(9, key: "customer"), .concurrency(4, key: "gpu")],
      [.rate(5, per: .seconds(60), key: "service")], [.serial(key: "account")],
      // Waits.
      [.serial(key: "account")],
    ]
    _ = try await store.enqueue(limits.map { newJob("mail", [.limits($0)]) })
    let worker = try await store.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["mail": 1]))
    let claim = JobClaim(queue: "default", count: 9, allowsSuspect: true, kinds: ["mail": 1])
    #expect(try await store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0].count == 4)
    #expect(
      try await run("queues", "limits").output == [
        "key       limit                    jobs  units",
        "gpu       4 at a time              2     4 of 4  reached",
        "account   one at a time, in order  1     1 of 1  reached",
        "customer  9 at a time              2     2 of 9", "service   5 per 60.0 seconds       1     -",
      ])
    #expect(try await run("queues", "limits", "--limit", "3").output.last == "1 more. Use --limit to list them.")
    let objects = try await run("queues", "limits", "--json").objects()
    #expect(objects.map { $0["running"] as? Int } == [2, 1, 2, 1])
    #expect(objects.map { $0["runningWeight"] as? Int } == [4, 1, 2, 1])
    #expect(objects.map { $0["isReached"] as? Bool } == [true, true, false, false])
    #expect(
      objects.map { ($0["limit"] as? [String: Any])?["rule"] as? String } == [
        "concurrent", "serial", "concurrent", "rate",
      ])
    #expect(try await jobs.limitUsages(readingTo: 1).map(\.limit.key) == ["customer", "gpu"])
    try await expectError(["queues", "limits", "--limit", "0"], 64, "--limit 0: use 1 or more")
    await store.close()
  }

  @Test("J272: schedules are listed, paused, resumed, run and deleted") func schedules() async throws {
    #expect(try await run("schedules").output == ["No schedules."])
    let hourly = ScheduleDefinition(
      .every(.seconds(3_600)), missed: .all(limit: 3), overlap: .skip, job: newJob("mail", [.queue("mail")]))
    _ = try await store.perform(.set(hourly), on: "hourly")
    let nightly = try ScheduleDefinition(.cron("0 3 * * *"), jitter: .milliseconds(1_500), job: newJob("report"))
    _ = try await store.perform(.set(nightly), on: "nightly")
    let records = try await jobs.schedules()
    let next = try #require(records.first?.nextTickTime?.description)
    let list = try await run("schedules").output
    #expect(list[0].split(separator: " ") == ["schedule", "times", "kind", "queue", "next", "last", "job"])
    #expect(list[1].hasPrefix("hourly    every 3600.0 seconds  mail") && list[1].contains("  mail     \(next)  "))
    #expect(list[2].hasPrefix("nightly   0 3 * * * ") && list[2].contains("  report  default  "))

    let paused = try await run("schedules", "pause", "nightly", "hourly").output
    #expect(paused == ["The schedule nightly is paused.", "The schedule hourly is paused."])
    #expect(try await jobs.schedules().map(\.isPaused) == [true, true])
    #expect(try await run("schedules", "list").output[1].hasSuffix("paused"))
    #expect(try await run("schedules", "run", "hourly").output == ["The job of the schedule hourly is job 1."])
    let added = try await run("schedules", "run", "nightly", "--json").objects()
    #expect(added.map { $0["job"] as? Int } == [2] && added.map { $0["change"] as? String } == ["run"])
    #expect(try await run("schedules", "resume", "hourly").output == ["The schedule hourly is resumed."])

    let objects = try await run("schedules", "--json").objects()
    #expect(objects.map { $0["name"] as? String } == ["hourly", "nightly"])
    #expect(objects.map { $0["isPaused"] as? Bool } == [false, true])
    #expect(objects.map { $0["lastJob"] as? Int } == [1, 2])
    #expect(objects[0]["missed"] as? String == "all" && objects[0]["missedLimit"] as? Int == 3)
    #expect(objects[0]["overlap"] as? String == "skip" && objects[0]["queue"] as? String == "mail")
    #expect(objects[0]["next"] is String && objects[1]["next"] == nil)
    #expect(objects.map { $0["jitterSeconds"] as? Double } == [nil, 1.5])

    #expect(try await run("schedules", "delete", "hourly").output == ["The schedule hourly is deleted."])
    #expect(try await jobs.schedules().map(\.name) == ["nightly"])
    #expect(try await jobs.jobs().map(\.kind) == ["mail", "report"])
    await store.close()
  }

  @Test("J272, J252: the missing jobs of past ticks are added, each only once") func backfill() async throws {
    _ = try await store.perform(.set(ScheduleDefinition(.cron("0 3 * * *"), job: newJob("report"))), on: "nightly")
    let (since, until) = ("2020-01-01", "2020-01-03")
    for count in ["2 jobs", "0 jobs"] {
      let output = try await run("schedules", "backfill", "nightly", "--since", since, "--until", until).output
      #expect(output == ["The schedule nightly has added \(count)."])
    }
    let added = try await run(
      "schedules", "backfill", "nightly", "--since", "2019-12-30", "--until", until, "--json"
    ).objects()
    #expect(added.map { $0["change"] as? String } == ["backfill"])
    #expect(added.map { $0["added"] as? Int } == [2])
    #expect(try await jobs.jobs().count == 4)
    try await expectError(["schedules", "backfill", "nightly"], 64, "--since")
    try await expectError(["schedules", "backfill", "other", "--since", since], 65, "The store has no schedule")
    let reversed = ["schedules", "backfill", "nightly", "--since", until, "--until", since]
    try await expectError(reversed, 64, "swap the times")
    await store.close()
  }

  @Test(
    "J272: a command fails if a schedule is missing, and a command without a name is a usage error",
    arguments: [
      "pause", "resume", "run", "delete",
    ]) func missingSchedules(command: String) async throws
  {
    try await expectError(["schedules", command, "other"], 65, "The store has no schedule with the name other.")
    try await expectError(["schedules", command], 64, "<name>")
    try await expectError(["schedules", command, ""], 64, "<name> ''")
    await store.close()
  }
}
#endif
