import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit
import Synchronization

/// Jobs in memory, with a clock that the test moves, and a log of the jobs.
final class Workshop: Sendable {
  let clock = ManualClock()
  let store: MemoryJobStore
  let jobs: Jobs

  init() {
    store = MemoryJobStore(clock: clock, startTime: StoreTime(microseconds: 1_800_000_000_000_000))
    jobs = Jobs(store, clock: clock)
  }

  /// Creates a worker for the queue `default`.
  func worker(
    _ kinds: any Job.Type..., middleware: [any JobMiddleware] = [],
    on queue: OperationQueue = OperationQueue(maxConcurrentOperationCount: 4)
  ) -> JobWorker {
    let worker = JobWorker(jobs, kinds: kinds, middleware: middleware, clock: clock)
    worker.serve(on: queue)
    return worker
  }

  /// Runs a worker until the function has returned.
  func run<Result>(_ worker: JobWorker, until body: () async throws -> Result) async throws -> Result {
    let running = Task { try await worker.run() }
    do {
      let result = try await body()
      worker.stop()
      try await running.value
      return result
    } catch {
      running.cancel()
      try await running.value
      throw error
    }
  }

  /// Moves the clock in steps until a job is in a state.
  func advance(by step: Duration = .milliseconds(500), until id: JobID, is state: JobState) async throws {
    while try await jobs.job(id)?.state != state {
      await Task.yield()
      if clock.sleeperCount > 0 { clock.advance(by: step) }
    }
  }

  /// Moves the clock in steps until a job has ended.
  func advanceUntilEnded(_ id: JobID) async throws {
    while try await jobs.job(id)?.state.isFinished != true {
      await Task.yield()
      if clock.sleeperCount > 0 { clock.advance(by: .milliseconds(500)) }
    }
  }

  /// Moves the clock until a worker has stopped.
  func stop(_ worker: JobWorker, _ running: Task<Void, any Error>) async throws {
    worker.stop()
    try await advance(untilEndOf: running)
  }

  /// Moves the clock until a task has ended.
  func advance(untilEndOf running: Task<Void, any Error>) async throws {
    let isDone = Flag()
    Task {
      _ = await running.result
      isDone.isSet.store(true, ordering: .releasing)
    }
    while !isDone.isSet.load(ordering: .acquiring) {
      await Task.yield()
      if clock.sleeperCount > 0 { clock.advance(by: .milliseconds(500)) }
    }
    try await running.value
  }

  /// Moves the clock until a worker has looked at the store a number of times.
  func passBeats(_ count: Int) async {
    for _ in 0..<count {
      await clock.waitForSleepers(count: 1)
      clock.advance(by: .seconds(1))
    }
  }
}

private final class Flag: Sendable {
  let isSet = Atomic(false)
}

struct TestError: Error, Equatable {
  var text = "test"
}
