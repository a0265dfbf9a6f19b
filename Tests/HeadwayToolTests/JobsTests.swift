#if Jobs
import ArgumentParser
import Foundation
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
@testable import HeadwayTool
import Testing

/// Durable jobs, changed by the tool while a real worker uses the store.
@Suite("headway jobs", .hangLimit)
struct JobsTests {
  private let folder: TemporaryFolder
  private let store: SQLiteJobStore
  private let jobs: Jobs

  init() throws {
    folder = try TemporaryFolder()
    store = try SQLiteJobStore(path: folder.path + "/jobs.sqlite")
    jobs = Jobs(store)
  }

  /// Runs a command on the store, and expects that it prints nothing on standard error.
  private func run(_ arguments: String..., status: Int32 = 0) async throws -> Tool.Run {
    let run = try await Tool.run(["jobs"] + arguments + ["--store", "jobs.sqlite"], in: folder)
    #expect(run.status == status, "\(arguments): \(run.errors)")
    #expect(run.errors.isEmpty, "\(arguments): \(run.errors)")
    return run
  }

  private func state(_ id: JobID) async throws -> JobState? { try await jobs.job(id)?.state }

  private func enqueue(_ kind: JobKind, _ payload: String = "{}", _ options: JobOptions = []) async throws
    -> JobID
  {
    let new = NewJob(kind: kind, payload: JobPayload(bytes: Array(payload.utf8)), options: options)
    return try await store.enqueue([new])[0].id
  }

  @Test("J149, J274: jobs are listed, filtered, and shown with a diagnosis") func reading() async throws {
    let resize = try await enqueue("resize", #"{"path":"a.jpg"}"#, [.queue("images"), .label("a"), .tags(["x"])])
    let mail = try await enqueue("mail")
    try await jobs.cancel(mail)
    let list = try await run("list").output
    #expect(list.count == 3)
    #expect(list[0].split(separator: " ") == ["job", "state", "kind", "queue", "attempt", "time"])
    #expect(list[1].hasPrefix("1    waiting    resize  images   0"))
    #expect(list[2].hasPrefix("2    cancelled  mail    default  0") && list[2].hasSuffix("cancelled"))
    #expect(try await run("list", "--state", "failed").output == ["No jobs."])
    let limited = try await run("list", "--limit", "1").output
    #expect(limited.last == "There are more jobs: use --after 1.")
    #expect(try await run("list", "--until", "-1h").output == ["No jobs."])
    let filters = [
      ["--queue", "images"], ["--kind", "resize"], ["--tag", "x"], ["--state", "waiting"], ["--label", "a"],
      ["--payload", "a.jpg"],
      ["--since", "-1h", "--until", "+1h", "--queue", "images"], ["--since", "2026-01-01", "--tag", "x"],
    ]
    for filter in filters {
      let found = try await Tool.run(["jobs", "list", "--json", "--store", "jobs.sqlite"] + filter, in: folder)
        .objects()
      #expect(found.map { $0["id"] as? Int } == [1], "\(filter)")
    }
    let show = try await run("show", "1").output
    #expect(show[0] == "Job 1 (a) waits because no worker is running.")
    #expect(show.contains(#"payload     {"path":"a.jpg"}"#))
    let object = try #require(try await run("show", "1", "--json").objects().first)
    #expect(object["label"] as? String == "a" && object["state"] as? String == "waiting")
    let details = try #require(object["details"] as? [String: Any])
    #expect(details["diagnosis"] as? String == "job \(resize) (a) waits because no worker is running")
    await store.close()
  }

  @Test("J149: jobs and queues are changed") func changing() async throws {
    let (first, second) = (try await enqueue("resize"), try await enqueue("mail"))
    #expect(try await run("cancel", "1").output == ["1 job cancelled."])
    #expect(try await state(first) == .cancelled)
    #expect(try await run("cancel", "1").output == ["0 jobs cancelled."])
    #expect(try await run("retry", "--state", "cancelled").output == ["1 job will run again."])
    #expect(try await state(first) == .waiting)
    let changed = try await run("cancel", "--all", "--json").objects()
    #expect(changed.map { $0["changed"] as? Int } == [2])
    #expect(try await state(second) == .cancelled)
    #expect(try await run("queues", "pause", "mail").output == ["The queue mail is paused."])
    #expect(try await run("queues", "pause", "mail").output == ["The queue mail was already paused."])
    #expect(try await jobs.counts()["mail"]?.isPaused == true)
    #expect(try await run("queues", "resume", "mail").output == ["The queue mail is resumed."])
    #expect(try await run("queues", "resume", "mail").output == ["The queue mail was not paused."])
    #expect(try await run("prune").output == ["0 jobs deleted."])
    await store.close()
  }

  @Test("J109: headway jobs doctor exits with 0 if no finding is bad, and with 1 if jobs wait and no worker runs")
  func doctor() async throws {
    let idle = try await run("doctor")
    #expect(idle.output.first == "warning  Workers       No worker is running.")
    #expect(idle.output.contains { $0.hasPrefix("good     Durability") })
    #expect(idle.output.last?.contains("Commit        A commit took") == true, "\(idle)")
    _ = try await enqueue("a", "{}")
    let waiting = try await run("doctor", "--json", status: 1)
    let object = try waiting.objects().first
    #expect(object?["level"] as? String == "bad")
    let findings = object?["findings"] as? [[String: String]]
    #expect(
      findings?.first == ["level": "bad", "name": "Workers", "text": "No worker is running, and 1 job has not ended."])
    #expect(findings?.contains { $0["text"]?.contains("but no worker serves it") == true } == true)
    await store.close()
  }

  @Test("J356: the status begins with what is wrong, with a command for each problem, and exits with 0") func problems()
    async throws
  {
    _ = try await enqueue("a", "{}", [.queue("two words")])
    let status = try await run("status").output
    #expect(status[0] == "bad      No worker is running, and 1 job has not ended.")
    #expect(status[1] == "bad      1 job waits in the queue “two words”, but no worker serves it.")
    #expect(status[2] == "         headway jobs list --state waiting --queue 'two words' --store jobs.sqlite")
    let object = try #require(try await run("status", "--json").objects().first)
    let health = try #require(object["health"] as? [String: Any])
    #expect(health["level"] as? String == "bad")
    let findings = try #require(health["findings"] as? [[String: String]])
    #expect(findings.allSatisfy { $0["level"] != "good" })
    #expect(findings.contains { $0["command"]?.hasPrefix("headway jobs list --state waiting") == true })
    let doctor = try await run("doctor", status: 1).output
    #expect(doctor.contains("         headway jobs list --state waiting --queue 'two words' --store jobs.sqlite"))
    try await jobs.cancel(.all)
    #expect(try await run("status").output.first == "warning  No worker is running.")
    await store.close()
  }

  @Test("J149: the audit exits with 0 for a store without defects, and with 1 if a job is lost or doubled")
  func check() async throws {
    let key: JobOptions = [.unique(.unfinished("k"))]
    for kind in ["a", "b", "c"] as [JobKind] { _ = try await enqueue(kind, "{}", kind == "c" ? key : []) }
    try await jobs.cancel(JobID(rawValue: 2))
    #expect(try await run("check").output == ["jobs.sqlite: 0 defects."])
    await store.close()
    let faults = [
      (
        "UPDATE headway_job SET \(JobState.running.condition) WHERE id = 1",
        "1 jobs are running although their worker is not registered: 1"
      ),
      ("UPDATE headway_job SET unique_key = NULL WHERE id = 3", "job 3 has lost its key k"),
      ("UPDATE headway_meta SET value = 2 WHERE name = 'job'", "1 jobs have a number that was not assigned: 3"),
      ("UPDATE headway_job SET id = 2 WHERE id = 1", "1 jobs are unfinished and finished at the same time: 2"),
      ("DELETE FROM headway_job WHERE id = 1", "3 jobs were stored, but 2 are accounted for: 1 unfinished, 1 finished"),
      ("UPDATE headway_job SET settings = x'7b' WHERE id = 1", "job 1 can't be read"),
    ]
    try folder.execute("VACUUM INTO '\(folder.path)/sound.sqlite'", in: "jobs.sqlite")
    for (number, (fault, defect)) in faults.enumerated() {
      let name = "faulty-\(number).sqlite"
      try folder.write(folder.bytes(of: "sound.sqlite"), to: name)
      try folder.execute(fault, in: name)
      let check = try await Tool.run("jobs", "check", "--store", name, in: folder)
      #expect(check.status == 1)
      #expect(check.output.contains { $0.hasPrefix("defect: \(defect)") }, "\(fault): \(check.output)")
      let object = try await Tool.run("jobs", "check", "--store", name, "--json", in: folder).objects().first
      #expect((object?["defects"] as? [String])?.isEmpty == false)
    }
  }

  @Test("J149: the work and the death of a worker are observed") func watching() async throws {
    let watch = try Tool(
      ["jobs", "watch", "--store", "jobs.sqlite", "--interval", "0.05"], in: folder)
    func next(_ text: String) async {
      for await line in watch.output where line.contains(text) { return }
      Issue.record("The tool has not printed “\(text)”.")
    }
    let endless = try await enqueue("endless")
    await next("queue default: 1 waiting")
    let worker = try startWorker()
    await next("started: worker 1 (worker, process \(worker.processIdentifier)) is working: ")
    await next("queue default: 1 running")
    let status = try await run("status").output
    #expect(
      status.contains { $0.hasPrefix("worker 1 (worker, process \(worker.processIdentifier)) is working: 1 job") })
    let diagnosis = try await run("show", "1").output.first
    #expect(diagnosis?.hasPrefix("Job 1 (endless) has been running on worker 1") == true)
    let unknown = try await enqueue("unknown")
    let sentence = try await run("show", "\(unknown)").output.first
    #expect(sentence?.hasSuffix("no worker of the queue “default” supports the kind “unknown”.") == true)

    kill(worker.processIdentifier, SIGKILL)
    await next("died: worker 1")
    let check = try await run("check").output
    #expect(
      check == [
        "note: worker 1 has died; the next living worker returns its 1 job to the queue.", "jobs.sqlite: 0 defects.",
      ])
    let dead = try await run("show", "1").output.first
    #expect(dead?.hasSuffix("whose process has ended; the next living worker returns it to its queue.") == true)
    #expect(try await store.rescue() == [endless])
    await next("left: worker 1")
    await next("job 1 (endless): waiting")
    _ = try await run("cancel", "1")
    await next("job 1 (endless): cancelled")
    watch.send(SIGINT)
    #expect(await watch.finish().status == 130)
    await store.close()
  }

  @Test("J149: each error has an exit code, and one line that explains it") func errors() async throws {
    await store.close()
    try folder.write("a,b\n", to: "x.csv")
    try folder.execute("CREATE TABLE t (a)", in: "other.sqlite")
    let cases: [([String], Int32, String)] = [
      (["list", "--store", "missing.sqlite"], 66, "missing.sqlite: There is no such file."),
      (["list", "--store", "x.csv"], 65, "x.csv can't be used for jobs. It is not an SQLite database."),
      (["list", "--store", "other.sqlite"], 65, "other.sqlite: The database is not a store of jobs."),
      (["show", "7", "--store", "jobs.sqlite"], 65, "The store has no job 7: it was deleted or never existed."),
      (["retry", "7", "--store", "jobs.sqlite"], 65, "The store has no job 7"),
      (["cancel", "--store", "jobs.sqlite"], 64, "Select the jobs by number, with --queue"),
      (["cancel", "--payload", "", "--store", "jobs.sqlite"], 64, "--payload '': use at least one character"),
      (["list", "--label", "", "--store", "jobs.sqlite"], 64, "--label '': use at least one character"),
      (["cancel", "--all", "7", "--store", "jobs.sqlite"], 64, "--all can't be combined with numbers"),
      (["list", "--state", "lost", "--store", "jobs.sqlite"], 64, "'lost'"),
      (["list", "--limit", "0", "--store", "jobs.sqlite"], 64, "--limit 0: use 1 or more"),
      (["watch", "--interval", "0", "--store", "jobs.sqlite"], 64, "--interval 0.0: use 0.01"),
      (["list"], 64, "--store <path-or-url>"),
    ]
    for (arguments, status, text) in cases {
      let run = try await Tool.run(["jobs"] + arguments, in: folder)
      #expect(run.status == status, "\(arguments): \(run.errors)")
      #expect(run.output.isEmpty)
      #expect(run.errors.count == 1 && run.errors[0].hasPrefix("headway: "), "\(run.errors)")
      #expect(run.errors.first?.contains(text) == true, "\(arguments): \(run.errors)")
    }
    #expect(!folder.has("missing.sqlite"), "A command has created a store.")
    #expect(try folder.query("SELECT name FROM sqlite_master", in: "other.sqlite") == [["t"]])
  }

  @Test("J270: each command has its own help, with its options") func help() {
    func check(_ command: any ParsableCommand.Type) {
      for subcommand in command.configuration.subcommands { check(subcommand) }
      guard command.configuration.subcommands.isEmpty else { return }
      let help = HeadwayCommand.helpMessage(for: command, columns: 1_000)
      #expect(help.hasPrefix("OVERVIEW: \(command.configuration.abstract)\n"), "\(help)")
      #expect(help.contains("--store <path-or-url>") && help.contains("--schema") && help.contains("--json"), "\(help)")
    }
    check(JobsCommand.self)
  }

  @Test("Each example in the help of headway jobs runs") func examples() async throws {
    for _ in 1...9 { _ = try await enqueue("resize") }
    let job = NewJob(kind: "resize", payload: JobPayload(bytes: Array("{}".utf8)))
    _ = try await store.perform(.set(ScheduleDefinition(.cron("0 3 * * *"), job: job)), on: "nightly")
    let help = try await Tool.run("jobs", "--help", in: folder).output
    let examples = help.drop { $0 != "EXAMPLES:" }.dropFirst().prefix { !$0.isEmpty }
    #expect(examples.count > 5)
    for example in examples {
      let words = example.split(separator: " ").dropFirst().map(String.init)
      _ = try HeadwayCommand.parseAsRoot(words)
      guard !words.contains("watch") else { continue }
      #expect(try await Tool.run(words, in: folder).status == 0, "\(example)")
    }
    await store.close()
  }

  /// Starts a worker in a separate process that supports the kind `endless`.
  private func startWorker() throws -> Process {
    let worker = Process()
    worker.executableURL = try Tool.executable().deletingLastPathComponent().appending(path: "JobsCrashProgram")
    worker.arguments = [folder.path + "/jobs.sqlite"]
    try worker.run()
    return worker
  }
}
#endif
