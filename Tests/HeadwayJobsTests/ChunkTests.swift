import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit
import Testing

/// Jobs that run together.
@Suite struct ChunkTests {
  private let workshop = Workshop()

  private var jobs: Jobs { workshop.jobs }

  private func letters(_ names: String...) async throws -> [JobHandle<String>] {
    try await jobs.enqueue(contentsOf: names.map { Letter(name: $0) })
  }

  /// Runs all jobs that are ready.
  ///
  /// Returns the job names of each call.
  private func drain() async throws -> [String] {
    let log = Log()
    try await Log.$current.withValue(log) {
      try await workshop.worker(Letter.self, on: OperationQueue(maxConcurrentOperationCount: 1)).drain()
    }
    return log.entries
  }

  private func records(_ handles: [JobHandle<String>]) async throws -> [JobRecord] {
    try await jobs.jobs(JobFilter(ids: handles.map(\.id)))
  }

  @Test("J255: jobs of a kind run together, up to a number, and each has its own result")
  func together() async throws {
    let handles = try await letters("a", "b", "c", "d", "e", "f", "g")
    let other = try await jobs.enqueue(Letter(name: "other"), .queue("other"))
    #expect(try await drain() == ["a b c", "d e f", "g"])
    for (handle, name) in zip(handles, ["a", "b", "c", "d", "e", "f", "g"]) {
      #expect(try await handle.value == "sent \(name)")
    }
    #expect(try await other.job()?.state == .waiting)
  }

  @Test("J255: jobs that run alone, and jobs that run together, share the slots of a queue")
  func mixed() async throws {
    let handles = try await letters("a", "b")
    let sums = try await jobs.enqueue(contentsOf: (0..<20).map { Sum(left: $0, right: 1) })
    let worker = workshop.worker(Letter.self, Sum.self, on: OperationQueue(maxConcurrentOperationCount: 2))
    try await worker.drain()
    for handle in handles { #expect(try await handle.job()?.state == .succeeded) }
    for sum in sums { #expect(try await sum.job()?.state == .succeeded) }
  }

  @Test("J255: a job also runs if there are no further jobs")
  func alone() async throws {
    let handle = try await jobs.enqueue(Letter(name: "a"))
    let id = handle.id
    #expect(try await drain() == ["a"])
    #expect(try await jobs.job(id)?.state == .succeeded)
  }

  @Test("J256: each job of a call can fail separately, and runs again with other jobs")
  func failures() async throws {
    let handles = try await letters("a", "fail", "discard")
    #expect(try await drain() == ["a fail discard"])
    var found = try await records(handles)
    #expect(found.map(\.state) == [.succeeded, .retrying, .failed])
    #expect(found[1].history.errors.count == 1)
    #expect(found[2].reason?.code == .discarded)
    workshop.clock.advance(by: .seconds(3_600))
    _ = workshop.store.advance()
    _ = try await letters("new")
    #expect(try await drain() == ["fail new"])
    found = try await records(handles)
    #expect(found.map(\.state) == [.succeeded, .succeeded, .failed])
    #expect(found[1].attempt == 2)
  }

  @Test("J256: an error of the function is the error of all jobs of the call")
  func commonError() async throws {
    let handles = try await letters("a", "throw")
    #expect(try await drain() == ["a throw"])
    #expect(try await records(handles).map(\.state) == [.retrying, .retrying])
    #expect(try await records(handles).map(\.history.errors.count) == [1, 1])
    workshop.clock.advance(by: .seconds(3_600))
    _ = try await drain()
    #expect(try await records(handles).map(\.state) == [.succeeded, .succeeded])
  }

  @Test("J256: a job of a call can sleep without the other jobs")
  func sleeping() async throws {
    let handles = try await jobs.enqueue(contentsOf: [Napping(isTired: true), Napping(isTired: false)])
    try await workshop.worker(Napping.self).drain()
    #expect(try await handles[0].job()?.state.isFinished == false)
    #expect(try await handles[1].job()?.state == .succeeded)
    workshop.clock.advance(by: .seconds(60))
    try await workshop.worker(Napping.self).drain()
    #expect(try await handles[0].job()?.state == .succeeded)
  }

  @Test("J256: if the function throws the wait of a job, the other jobs fail")
  func thrownWait() async throws {
    let options: JobOptions = [.label("throw")]
    let handles = try await jobs.enqueue(
      contentsOf: [Napping(isTired: true), Napping(isTired: false)], .options(options))
    try await workshop.worker(Napping.self).drain()
    #expect(try await handles[0].job()?.state.isFinished == false)
    #expect(try await handles[1].job()?.state == .failed)
  }

  @Test("J256: if there is not one result per job, all jobs of the call fail and don't run again")
  func wrongCount() async throws {
    let handles = try await letters("a", "lose")
    #expect(try await drain() == ["a lose"])
    let found = try await records(handles)
    #expect(found.map(\.state) == [.failed, .failed])
    #expect(found[0].history.errors.last?.text.contains("returned 1 results for 2 jobs") == true)
  }

  @Test("J256: a job that can't be decoded does not affect the other jobs of its call")
  func undecodable() async throws {
    let bad = try workshop.store.enqueue([NewJob(kind: Letter.kind, payload: JobPayload(bytes: [1]))])[0].id
    let handles = try await letters("a")
    #expect(try await drain() == ["a"])
    #expect(try await handles[0].value == "sent a")
    #expect(try await jobs.job(bad)?.state == .retrying)
  }

  @Test("J257: a job of a call is cancelled separately, and the task is cancelled when all jobs are cancelled")
  func cancelling() async throws {
    let log = Log()
    let handles = try await jobs.enqueue(contentsOf: [Slow(), Slow()])
    try await Log.$current.withValue(log) {
      try await workshop.run(workshop.worker(Slow.self)) {
        await log.wait(for: "begun 2")
        for (handle, entry) in zip(handles, ["1 of 2", "task cancelled"]) {
          #expect(!log.entries.contains("task cancelled"))
          try await jobs.cancel(handle.id)
          while !log.entries.contains(entry) {
            await Task.yield()
            if workshop.clock.sleeperCount > 0 { workshop.clock.advance(by: .milliseconds(500)) }
          }
        }
        log.append("go on")
        for handle in handles { try await workshop.advanceUntilEnded(handle.id) }
      }
    }
    for handle in handles { #expect(try await handle.job()?.state == .cancelled) }
  }

  @Test("J257: a job that can't be decoded does not keep the task from being cancelled with the other tasks")
  func cancellingBesidesUndecodable() async throws {
    let log = Log()
    _ = try workshop.store.enqueue([NewJob(kind: Slow.kind, payload: JobPayload(bytes: [1]))])
    let handles = try await jobs.enqueue(contentsOf: [Slow(), Slow()])
    try await Log.$current.withValue(log) {
      try await workshop.run(workshop.worker(Slow.self)) {
        await log.wait(for: "begun 2")
        for handle in handles { try await jobs.cancel(handle.id) }
        while !log.entries.contains("task cancelled") {
          await Task.yield()
          if workshop.clock.sleeperCount > 0 { workshop.clock.advance(by: .milliseconds(500)) }
        }
        log.append("go on")
        for handle in handles { try await workshop.advanceUntilEnded(handle.id) }
      }
    }
    for handle in handles { #expect(try await handle.job()?.state == .cancelled) }
  }

  @Test("J257: a cancelled job of a call ends as cancelled, and the other jobs have their results")
  func oneCancelled() async throws {
    let log = Log()
    let handles = try await jobs.enqueue(contentsOf: [Slow(), Slow()])
    try await Log.$current.withValue(log) {
      try await workshop.run(workshop.worker(Slow.self)) {
        await log.wait(for: "begun 2")
        try await jobs.cancel(handles[1].id)
        while !log.entries.contains("1 of 2") {
          await Task.yield()
          if workshop.clock.sleeperCount > 0 { workshop.clock.advance(by: .milliseconds(500)) }
        }
        log.append("go on")
        for handle in handles { try await workshop.advanceUntilEnded(handle.id) }
      }
    }
    #expect(try await handles[0].job()?.state == .succeeded)
    #expect(try await handles[1].job()?.state == .cancelled)
  }

  @Test("J258: after a crash, each job of the call counts one crash and runs alone")
  func crash() async throws {
    let handles = try await letters("a", "b", "c")
    let kinds = [Letter.kind: 1]
    let dead = workshop.store.register(
      WorkerDescription(name: "dead", processIdentifier: 1, queues: ["default"], kinds: kinds))
    let claim = JobClaim(queue: "default", count: 3, allowsSuspect: false, kinds: kinds)
    let answer = workshop.store.exchange(JobExchange(worker: dead, claims: [claim]))
    #expect(answer.claimed.map(\.count) == [3])
    workshop.store.kill(dead)
    let others = try await letters("d", "e")
    let calls = try await drain()
    #expect(Set(calls) == ["a", "b", "c", "d e"])
    #expect(calls.count == 4)
    #expect(try await records(handles).map(\.crashCount) == [1, 1, 1])
    #expect(try await records(handles + others).allSatisfy { $0.state == .succeeded })
  }

  @Test("J259: a worker waits for further jobs that run together")
  func waiting() async throws {
    let log = Log()
    try await Log.$current.withValue(log) {
      try await workshop.run(workshop.worker(Gathered.self)) {
        let first = try await jobs.enqueue(Gathered(name: "x"))
        await workshop.passBeats(2)
        #expect(try await first.job()?.state == .waiting)
        let second = try await jobs.enqueue(Gathered(name: "y"))
        try await workshop.advanceUntilEnded(second.id)
        #expect(try await first.job()?.state == .succeeded)
      }
    }
    #expect(log.entries == ["x y"])
  }

  @Test("J259: a drain does not wait")
  func drainWithoutWait() async throws {
    let handle = try await jobs.enqueue(Gathered(name: "x"))
    try await workshop.worker(Gathered.self).drain()
    #expect(try await handle.job()?.state == .succeeded)
  }

  @Test("J255: an impossible number of jobs is a misuse")
  func misuse() async {
    await #expect(processExitsWith: .failure) {
      _ = JobWorker(Jobs(MemoryJobStore()), kinds: [Endless.self])
    }
  }
}

/// Adds each call's job names to the log.
private struct Letter: ChunkJob {
  static let kind: JobKind = "letter"
  typealias Output = String
  static let chunk = JobChunk(count: 3)
  var name: String

  static func perform(_ jobs: [ChunkEntry<Letter>]) async throws -> [Result<String, any Error>] {
    Log.current.append(jobs.map(\.job.name).joined(separator: " "))
    if jobs.contains(where: { $0.job.name == "throw" && $0.context.attempt == 1 }) { throw TestError() }
    let results = jobs.map { entry -> Result<String, any Error> in
      switch entry.job.name {
      case "fail" where entry.context.attempt == 1: .failure(TestError())
      case "discard": .failure(JobOutcome.discard("useless"))
      default: .success("sent \(entry.job.name)")
      }
    }
    return Array(results.dropLast(jobs.count { $0.job.name == "lose" }))
  }
}

/// Sleeps for a minute if `isTired` is true.
private struct Napping: ChunkJob {
  static let kind: JobKind = "napping"
  typealias Output = Void
  var isTired: Bool

  static func perform(_ jobs: [ChunkEntry<Napping>]) async throws -> [Result<Void, any Error>] {
    var results: [Result<Void, any Error>] = []
    for entry in jobs {
      do {
        if entry.job.isTired { try await entry.context.sleep("nap", for: .seconds(60)) }
        results.append(.success(()))
      } catch {
        if entry.context.job.settings.label == "throw" { throw error }
        results.append(.failure(error))
      }
    }
    return results
  }
}

/// Waits for its cancellation, and for the test.
private struct Slow: ChunkJob {
  static let kind: JobKind = "slow"
  typealias Output = Void

  static func perform(_ jobs: [ChunkEntry<Slow>]) async throws -> [Result<Void, any Error>] {
    Log.current.append("begun \(jobs.count)")
    while !Log.current.entries.contains("go on") {
      let cancelled = jobs.count(where: \.context.isCancelled)
      for entry in ["\(cancelled) of \(jobs.count)"] + (Task.isCancelled ? ["task cancelled"] : [])
      where !Log.current.entries.contains(entry) { Log.current.append(entry) }
      await Task.yield()
    }
    return jobs.map { _ in .success(()) }
  }
}

/// Waits for further jobs.
private struct Gathered: ChunkJob {
  static let kind: JobKind = "gathered"
  typealias Output = Void
  static let chunk = JobChunk(count: 3, wait: .seconds(10))
  var name: String

  static func perform(_ jobs: [ChunkEntry<Gathered>]) async throws -> [Result<Void, any Error>] {
    Log.current.append(jobs.map(\.job.name).joined(separator: " "))
    return jobs.map { _ in .success(()) }
  }
}

private struct Endless: ChunkJob {
  static let kind: JobKind = "endless"
  typealias Output = Void
  static let chunk = JobChunk(count: 0)

  static func perform(_ jobs: [ChunkEntry<Endless>]) async throws -> [Result<Void, any Error>] { [] }
}
