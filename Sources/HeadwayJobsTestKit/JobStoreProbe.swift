@_spi(JobStore) import HeadwayJobs

/// A store under test, with shorthands for the steps of checks.
struct JobStoreProbe: Sendable {
  let fixture: any JobStoreFixture
  var store: any JobStoreBackend { fixture.store }

  init(_ fixture: any JobStoreFixture) { self.fixture = fixture }

  /// Fails the check unless two values are equal.
  func expect<Value: Equatable>(
    _ value: Value, _ expected: Value, _ what: String = "", file: StaticString = #fileID, line: UInt = #line
  ) throws {
    guard value != expected else { return }
    throw JobStoreDefect(description: "\(file):\(line): \(what) is \(value), not \(expected)")
  }

  /// Stores a job of the kind `test`.
  @discardableResult
  func enqueue(
    _ payload: String = "{}", kind: JobKind = "test", version: Int = 1, options: JobOptions = []
  ) async throws -> JobID {
    try await store.enqueue([job(payload, kind: kind, version: version, options: options)])[0].id
  }

  func job(
    _ payload: String = "{}", kind: JobKind = "test", version: Int = 1, options: JobOptions = []
  ) -> NewJob {
    NewJob(kind: kind, version: version, payload: JobPayload(bytes: Array(payload.utf8)), options: options)
  }

  /// Stores jobs of the kind `test` in one batch.
  @discardableResult
  func enqueueBatch(of count: Int) async throws -> [JobID] {
    try await store.enqueue((0..<count).map { _ in job() }).map(\.id)
  }

  /// Adds a worker that supports the kind `test`.
  func register(in store: (any JobStoreBackend)? = nil) async throws -> WorkerID {
    try await (store ?? self.store).register(
      WorkerDescription(name: "check", processIdentifier: 1, queues: ["default"], kinds: ["test": 1]))
  }

  /// Claims jobs of the kind `test`, in several requests if there are more than one request can return.
  @discardableResult
  func claim(
    _ count: Int, by worker: WorkerID, queue: String = "default", kinds: [JobKind: Int] = ["test": 1],
    allowsSuspect: Bool = true, in store: (any JobStoreBackend)? = nil
  ) async throws -> [JobRecord] {
    var (jobs, found) = ([JobRecord](), [JobRecord]())
    repeat {
      let claim = JobClaim(queue: queue, count: count - jobs.count, allowsSuspect: allowsSuspect, kinds: kinds)
      found = try await (store ?? self.store).exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
      jobs += found
    } while jobs.count < count && found.count == JobCommand.maxChangedCount
    return jobs
  }

  /// Claims one job and fails the check if there is none.
  @discardableResult
  func claimOne(by worker: WorkerID, file: StaticString = #fileID, line: UInt = #line) async throws -> JobRecord {
    guard let job = try await claim(1, by: worker).first else {
      throw JobStoreDefect(description: "\(file):\(line): there is no job to claim")
    }
    return job
  }

  /// Ends an attempt.
  @discardableResult
  func end(_ job: JobRecord, _ action: JobEnding.Action) async throws -> JobExchangeAnswer.Verdict {
    guard let fence = job.fence else { throw JobStoreDefect(description: "job \(job.id) has no owner") }
    return try await store.exchange(JobExchange(worker: fence.owner, endings: [JobEnding(fence, action)])).verdicts[0]
  }

  /// Executes a write of an attempt.
  @discardableResult
  func write(_ content: FencedWrite.Content, by fence: JobFence) async throws -> FencedAnswer {
    try await store.write([FencedWrite(fence, content)])[0]
  }

  /// Changes jobs.
  @discardableResult
  func perform(_ command: JobCommand) async throws -> Int { try await store.perform(command) }

  /// Claims a job, kills its worker, and rescues the job.
  ///
  /// - Returns: The attempt that was interrupted.
  @discardableResult
  func crash(file: StaticString = #fileID, line: UInt = #line) async throws -> JobRecord {
    let worker = try await register()
    let job = try await claimOne(by: worker, file: file, line: line)
    try await fixture.kill(worker)
    try expect(try await store.rescue(), [job.id], "the rescued jobs", file: file, line: line)
    return job
  }

  /// Fails the check.
  func fail(_ text: String, file: StaticString = #fileID, line: UInt = #line) -> JobStoreDefect {
    JobStoreDefect(description: "\(file):\(line): \(text)")
  }

  /// Returns the fence of a claimed job.
  func fence(of job: JobRecord, file: StaticString = #fileID, line: UInt = #line) throws -> JobFence {
    guard let fence = job.fence else { throw fail("job \(job.id) has no owner", file: file, line: line) }
    return fence
  }

  /// Moves the clock and advances the store.
  @discardableResult
  func pass(_ duration: Duration) async throws -> StoreTime? {
    fixture.advanceClock(by: duration)
    return try await store.advance()
  }

  func numbers(_ jobs: [JobRecord]) -> [JobID] { jobs.map(\.id) }

  func stored(_ id: JobID, file: StaticString = #fileID, line: UInt = #line) async throws -> JobRecord {
    guard let job = try await record(id) else { throw fail("there is no job \(id)", file: file, line: line) }
    return job
  }

  func record(_ id: JobID) async throws -> JobRecord? { try await store.jobs(.id(id), after: nil, limit: 1).first }

  func state(_ id: JobID) async throws -> JobState? { try await record(id)?.state }
}
