import FoundationEssentials
import Headway
import HeadwayTestKit
import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// Why jobs do not run.
@Suite struct DiagnosisTests {
  private let workshop = Workshop()
  private var jobs: Jobs { workshop.jobs }

  private func diagnosis(of number: Int64 = 1) async throws -> String {
    try await jobs.diagnose(JobID(rawValue: number))
  }

  @discardableResult
  private func register(queues: [String] = ["default"], kinds: [JobKind: Int] = ["sum": 1]) -> WorkerID {
    workshop.store.register(
      WorkerDescription(name: "app", processIdentifier: 42, queues: queues, kinds: kinds))
  }

  private func claim(_ count: Int, by worker: WorkerID) {
    let claim = JobClaim(queue: "default", count: count, allowsSuspect: false, kinds: ["sum": 1])
    _ = workshop.store.exchange(JobExchange(worker: worker, claims: [claim]))
  }

  @Test("J113: the diagnosis of a waiting job names what it waits for")
  func waiting() async throws {
    try await jobs.enqueue(Sum(left: 1, right: 1))
    #expect(try await diagnosis() == "job 1 (sum) waits because no worker is running")
    try await jobs.pauseQueue("default")
    #expect(try await diagnosis() == "job 1 (sum) waits because the queue “default” is paused")
    try await jobs.resumeQueue("default")
    register(queues: ["mail"])
    #expect(try await diagnosis() == "job 1 (sum) waits because no worker serves the queue “default”")
    let worker = register()
    #expect(try await diagnosis() == "job 1 (sum) waits because worker 2 is suspended, or about to claim it")
    claim(1, by: worker)
    try await jobs.enqueue(Sum(left: 1, right: 1))
    #expect(try await diagnosis(of: 2) == "job 2 (sum) waits because worker 2 is busy with another job")
    let other = register()
    #expect(try await diagnosis(of: 2) == "job 2 (sum) waits because worker 3 is suspended, or about to claim it")
    try await jobs.enqueue(Sum(left: 1, right: 1))
    claim(1, by: other)
    let busy = "waits because all 2 workers that could run it are busy with 2 other jobs"
    #expect(try await diagnosis(of: 3) == "job 3 (sum) \(busy)")
  }

  @Test("J113, J80: the diagnosis of a waiting job mentions that the limit of its queue is reached")
  func limit() async throws {
    let worker = register()
    register()
    try await jobs.changeQueue("default", .maxRunningJobCount(1))
    try await jobs.enqueue(contentsOf: [Sum(left: 1, right: 1), Sum(left: 1, right: 1)])
    #expect(try await diagnosis(of: 2) == "job 2 (sum) waits because 2 workers are suspended, or about to claim it")
    claim(1, by: worker)
    #expect(
      try await diagnosis(of: 2) == "job 2 (sum) waits because the limit of the queue “default” is reached: 1 job runs")
    try await jobs.changeQueue("default", .maxRunningJobCount(0))
    #expect(try await diagnosis(of: 2) == "job 2 (sum) waits because the limit of the queue “default” is 0")
  }

  @Test("J244: the diagnosis of a waiting job names the limit that running jobs have reached, and its remaining units")
  func limitOfKey() async throws {
    let worker = register()
    register()
    func add(_ limits: JobLimit...) async throws {
      try await jobs.enqueue(Sum(left: 1, right: 1), .limits(limits))
    }
    let (own, other) = (JobLimit.concurrency(2, key: "own"), JobLimit.concurrency(2, key: "other"))
    try await add(own, .concurrency(10, key: "gpu", weight: 8))
    claim(1, by: worker)
    try await add(other, .concurrency(10, key: "gpu", weight: 3))
    #expect(
      try await diagnosis(of: 2)
        == "job 2 (sum) waits because the limit of the key “gpu” has 2 of 10 units left, and the job takes 3: 1 job "
        + "runs"
    )
    try await add(.concurrency(1, key: "one"))
    claim(1, by: worker)
    try await add(.concurrency(1, key: "one"))
    #expect(
      try await diagnosis(of: 4) == "job 4 (sum) waits because the limit of the key “one” is reached: 1 job runs")
    try await add(.rate(1, per: .seconds(60), key: "rate"), own)
    #expect(
      try await diagnosis(of: 5)
        == "job 5 (sum) waits because the rate of the key “rate” permits no job now, or a worker is about to claim it")
  }

  @Test("J7, J113: the diagnosis of a waiting job mentions that no worker supports its kind or its version")
  func unknown() async throws {
    let payload = JobPayload(bytes: Array("{}".utf8))
    _ = try workshop.store.enqueue([
      NewJob(kind: "new", payload: payload), NewJob(kind: "sum", version: 2, payload: payload),
    ])
    register()
    #expect(
      try await diagnosis() == "job 1 (new) waits because no worker of the queue “default” supports the kind “new”")
    #expect(
      try await diagnosis(of: 2)
        == "job 2 (sum) waits because no worker of the queue “default” supports version 2 of the kind “sum”")
  }

  @Test("J113: the diagnosis of a scheduled or retrying job contains its due time, and the last error")
  func scheduled() async throws {
    try await jobs.enqueue(Sum(left: 1, right: 1), .delay(.seconds(60)), .label("two"))
    #expect(try await diagnosis() == "job 1 (two) is scheduled for 2027-01-15T08:01:00.000Z")
    workshop.clock.advance(by: .seconds(61))
    #expect(
      try await diagnosis()
        == "job 1 (two) was due at 2027-01-15T08:01:00.000Z, but no worker is running to make it ready")
    let worker = register()
    _ = workshop.store.advance()
    claim(1, by: worker)
    let fence = try #require(try await jobs.job(JobID(rawValue: 1))?.fence)
    let error = JobErrorDescription(type: "E", text: "no network")
    _ = workshop.store.exchange(
      JobExchange(worker: worker, endings: [JobEnding(fence, .retry(after: .seconds(9), error))]))
    #expect(
      try await diagnosis()
        == "job 1 (two) retries at 2027-01-15T08:01:10.000Z, after attempt 1; the last error: no network")
  }

  @Test("J113: the diagnosis of a running job shows its worker, its start, and whether the worker is dead")
  func running() async throws {
    try await jobs.enqueue(Sum(left: 1, right: 1), .timeout(.seconds(5)))
    let worker = register()
    claim(1, by: worker)
    let fence = try #require(try await jobs.job(JobID(rawValue: 1))?.fence)
    _ = try workshop.store.write([FencedWrite(fence, .progress(JobProgress(fraction: 0.5, text: "half")))])
    let running =
      "job 1 (sum) has been running on worker 1 (app, process 42) since 2027-01-15T08:00:00.000Z, in attempt 1, 50% "
      + "done: half"
    #expect(try await diagnosis() == running)
    workshop.clock.advance(by: .seconds(6))
    #expect(try await diagnosis() == running + "; it has exceeded its time limit, and its code has not returned yet")
    workshop.store.kill(worker)
    #expect(
      try await diagnosis()
        == "job 1 (sum) was claimed by worker 1 (app, process 42) at 2027-01-15T08:00:00.000Z, whose process has "
        + "ended; the next living worker returns it to its queue")
    _ = workshop.store.rescue()
    try await jobs.enqueue(Sum(left: 1, right: 1))
    claim(1, by: register())
    #expect(
      try await diagnosis()
        == "job 1 (sum) waits because worker 2 is busy with another job, and a worker died while running it: a worker "
        + "runs one such job at a time")
  }

  @Test("J113: the diagnosis of a finished job contains its outcome")
  func finished() async throws {
    try await jobs.enqueue(Flaky(failureCount: 1), .retry(.never))
    try await jobs.enqueue(Sum(left: 1, right: 1))
    let cancelled = try await jobs.enqueue(Sum(left: 1, right: 1), .delay(.seconds(60)))
    try await cancelled.cancel()
    try await workshop.worker(Flaky.self, Sum.self).drain()
    let failed = try await diagnosis()
    #expect(failed.hasPrefix("job 1 (flaky) has failed at "))
    #expect(failed.hasSuffix(", in attempt 1: TestError(text: \"test\")"))
    #expect(try await diagnosis(of: 2).hasPrefix("job 2 (sum) has succeeded at "))
    #expect(try await diagnosis(of: 3) == "job 3 (sum) was cancelled at 2027-01-15T08:00:00.000Z: cancelled")
    #expect(try await diagnosis(of: 4) == "job 4 is not in the store: it was deleted or never existed")
  }

  @Test("J113: a snapshot can be encoded as readable JSON, and decoded again")
  func codable() async throws {
    try await jobs.enqueue(Sum(left: 1, right: 1))
    try await jobs.pauseQueue("mail")
    claim(1, by: register())
    try await jobs.enqueue(Sum(left: 1, right: 1))
    let snapshot = try await jobs.snapshot()
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try encoder.encode(snapshot)
    #expect(try JSONDecoder().decode(JobsSnapshot.self, from: data) == snapshot)
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.contains(#""counts":{"byState":{"running":1,"waiting":1},"failureCount":0,"isPaused":false"#))
    #expect(text.contains(#""kinds":{"sum":1}"#))
  }
}
