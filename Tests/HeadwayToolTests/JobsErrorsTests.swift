#if Jobs
import Foundation
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import Testing

/// The errors of durable jobs, listed and muted by the tool.
@Suite("headway jobs errors", .hangLimit)
struct JobsErrorsTests {
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

  /// Adds jobs whose first attempts fail.
  private func fail(_ texts: [String], kind: JobKind, retries: Bool = false) async throws {
    _ = try await store.enqueue(
      texts.map { _ in NewJob(kind: kind, payload: JobPayload(bytes: Array("{}".utf8)), options: []) })
    let worker = try await store.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: [kind: 1]))
    let claim = JobClaim(queue: "default", count: texts.count, allowsSuspect: true, kinds: [kind: 1])
    let claimed = try await store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
    let endings = zip(claimed, texts).map { job, text in
      let error = JobErrorDescription(type: "App.Failure", text: text)
      let fence = JobFence(id: job.id, attempt: job.attempt, epoch: job.epoch, owner: worker)
      return JobEnding(
        fence, retries ? .retry(after: .seconds(1_000), error) : .fail(JobEndReason(.failed), error))
    }
    _ = try await store.exchange(JobExchange(worker: worker, endings: endings))
  }

  @Test("J339: errors are listed with their counts, muted with a note, and unmuted") func errors() async throws {
    #expect(try await run("errors").output == ["No errors."])
    #expect(try await run("errors", "--muted").output == ["No muted errors."])
    try await fail(["host 1 is down", "host 2 is down"], kind: "mail")
    try await fail(["host 3 is down"], kind: "mail", retries: true)
    let group = try #require(try await jobs.errorGroups().first)
    let line = try await run("errors").output.map { $0.split(separator: " ").map(String.init) }
    #expect(line.first == ["error", "kind", "attempts", "24", "h", "retrying", "failed", "last", "seen"])
    #expect(line.last?.prefix(6) == ["\(group.id)", "mail", "3", "3", "1", "2"])
    #expect(line.last?.suffix(5) == ["App.Failure:", "host", "#", "is", "down"])
    let object = try #require(try await run("errors", "--json").objects().first)
    #expect(object["id"] as? String == "\(group.id)" && object["kind"] as? String == "mail")
    #expect(object["type"] as? String == "App.Failure" && object["text"] as? String == "host # is down")
    #expect(object["attempts"] as? Int == 3 && object["retrying"] as? Int == 1 && object["failed"] as? Int == 2)
    #expect((object["hours"] as? [Int])?.reduce(0, +) == 3 && object["mute"] == nil)
    #expect(object["lastJob"] as? Int == 3)

    let muted = try await run("errors", "mute", "\(group.id)", "--note", "vendor is down").output
    #expect(muted == ["The error \(group.id) is muted."])
    let again = try await run("errors", "mute", "\(group.id)", "--note", "vendor is down", "--json").objects()
    #expect(again.first?["changed"] as? Int == 0 && again.first?["change"] as? String == "mute")
    #expect(try await run("errors").output == ["No errors."])
    let object2 = try #require(try await run("errors", "--muted", "--json").objects().first)
    #expect((object2["mute"] as? [String: Any])?["note"] as? String == "vendor is down")
    #expect(try await run("errors", "--muted").output.last?.contains("vendor is down") == true)
    let unmuted = try await run("errors", "unmute", "\(group.id)").output
    #expect(unmuted == ["The error \(group.id) is no longer muted."])
    #expect(try await run("errors", "unmute", "\(group.id)").output == ["The error \(group.id) was not muted."])
    await store.close()
  }

  @Test("J339: the jobs of an error are listed, retried and cancelled") func jobsOfError() async throws {
    try await fail(["down", "down"], kind: "mail")
    try await fail(["down"], kind: "mail", retries: true)
    try await fail(["other"], kind: "mail")
    let id = try #require(try await jobs.job(JobID(rawValue: 1))?.errorGroup)
    let listed = try await run("list", "--error-group", "\(id)", "--json").objects()
    #expect(listed.map { $0["id"] as? Int } == [1, 2, 3])
    #expect(listed.first?["errorGroup"] as? String == "\(id)")
    #expect(try await run("retry", "--error-group", "\(id)", "--state", "failed").output == ["2 jobs will run again."])
    #expect(try await run("cancel", "--error-group", "\(id)", "--state", "retrying").output == ["1 job cancelled."])
    await store.close()
  }

  @Test("J339: unknown errors and missing notes are reported, and nothing is changed") func wrongUse() async throws {
    try await fail(["down"], kind: "mail")
    let id = try #require(try await jobs.errorGroups().first?.id)
    let unknown = String(repeating: "0", count: 16)
    let cases: [([String], Int32, String)] = [
      (["errors", "mute", "\(id)"], 64, "--note"), (["errors", "mute", "--note", "text"], 64, "<error>"),
      (["errors", "mute", "\(id)", "--note", ""], 64, "use at least one character"),
      (["errors", "mute", "\(id)", "--note", String(repeating: "x", count: 1_025)], 64, "at most 1024 are possible"),
      (["errors", "mute", "7", "--note", "text"], 64, "<error>"),
      (["errors", "mute", "\(id)", unknown, "--note", "text"], 65, "The store has no error \(unknown)"),
      (["errors", "unmute", unknown], 65, "The store has no error \(unknown)"),
      (["errors", "--limit", "0"], 64, "--limit 0: use 1 or more"),
      (["list", "--error-group", "x"], 64, "--error-group"),
    ]
    for (arguments, status, text) in cases {
      let run = try await Tool.run(["jobs"] + arguments + ["--store", "jobs.sqlite"], in: folder)
      #expect(run.status == status && run.output.isEmpty, "\(arguments): \(run)")
      #expect(run.errors.joined().contains(text), "\(arguments): \(run.errors)")
    }
    #expect(try await jobs.errorGroups().first?.mute == nil)
    await store.close()
  }
}
#endif
