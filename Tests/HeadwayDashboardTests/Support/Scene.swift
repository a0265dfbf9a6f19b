#if Dashboard
import Headway
@_spi(JobStore) import HeadwayJobs

/// Jobs in all states, without a worker that runs them automatically.
struct Scene: Sendable {
  let jobs: Jobs
  let worker: WorkerID

  private static let kinds: [JobKind: Int] = ["mail": 1, "resize": 1]

  init(_ jobs: Jobs) async throws {
    self.jobs = jobs
    worker = try await jobs.backend.register(
      WorkerDescription(name: "scene", processIdentifier: 7, queues: ["default"], kinds: Self.kinds))
  }

  @discardableResult
  func enqueue(
    _ kind: JobKind = "mail", _ payload: String = "{}", options: JobOptions = []
  ) async throws -> JobID {
    let job = NewJob(kind: kind, payload: JobPayload(bytes: Array(payload.utf8)), options: options)
    return try await jobs.backend.enqueue([job])[0].id
  }

  /// Claims the next job.
  func claim(queue: String = "default", kinds: [JobKind: Int] = kinds) async throws -> JobRecord {
    let claim = JobClaim(queue: queue, count: 1, allowsSuspect: true, kinds: kinds)
    return try await jobs.backend.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0][0]
  }

  /// Ends a claimed job.
  func end(_ job: JobRecord, _ action: JobEnding.Action) async throws {
    let fence = JobFence(id: job.id, attempt: job.attempt, epoch: job.epoch, owner: worker)
    _ = try await jobs.backend.exchange(JobExchange(worker: worker, endings: [JobEnding(fence, action)]))
  }

  /// Adds a job that fails.
  @discardableResult
  func fail(_ kind: JobKind = "mail", error: String = "no route", type: String = "NetworkError") async throws -> JobID {
    let id = try await enqueue(kind)
    let job = try await claim(kinds: [kind: 1])
    try await end(job, .fail(JobEndReason(.failed), JobErrorDescription(type: type, text: error)))
    return id
  }

  func state(_ id: JobID) async throws -> JobState? { try await jobs.job(id)?.state }
}

/// The job of a schedule.
struct Report: Job {
  static let kind: JobKind = "report"
  var name = "daily"
  func perform(in context: JobContext) async throws {}
}
#endif
