import Headway
@_spi(JobStore) import HeadwayJobs
import Testing

/// Graphs of jobs, run by a worker.
@Suite struct GraphTests {
  @Test("J60, J67: a batch is a graph, and a job can read the results of the jobs that it has waited for")
  func batch() async throws {
    let workshop = Workshop()
    var batch = JobBatch()
    let first = batch.add(Sum(left: 1, right: 2))
    let second = batch.add(Sum(left: 3, right: 4))
    let total = batch.add(Total(), .after(first, second.success))
    let handles = try await workshop.jobs.enqueue(batch)
    #expect(handles.ids == (1...3).map { JobID(rawValue: $0) })
    let after = try await workshop.jobs.enqueue(Total(), .after(handles[total]))
    let value = try await workshop.run(workshop.worker(Sum.self, Total.self)) {
      let values = (try await handles[total].value, try await after.value)
      #expect(values.1 == 10)
      return values.0
    }
    #expect(value == 10)
  }

  @Test("J60: dependencies can be added to a job of a batch later")
  func laterDependency() async throws {
    let workshop = Workshop()
    var batch = JobBatch()
    let total = batch.add(Total(), .label("total"))
    let sum = batch.add(Sum(left: 1, right: 2))
    batch.addDependency(sum.success, to: total)
    let handles = try await workshop.jobs.enqueue(batch)
    let value = try await workshop.run(workshop.worker(Sum.self, Total.self)) { try await handles[total].value }
    #expect(value == 3)
  }

  @Test("J65: a cycle is rejected, with the labels of its jobs")
  func circle() async throws {
    let workshop = Workshop()
    var batch = JobBatch()
    let total = batch.add(Total(), .label("total"))
    let sum = batch.add(Sum(left: 1, right: 2), .after(total))
    batch.addDependency(sum, to: total)
    let error = await #expect(throws: JobError.self) { try await workshop.jobs.enqueue(batch) }
    #expect(error?.code == .dependencyCycle)
    #expect(error?.context.contains("total (number 1) waits for sum (number 2) waits for total (number 1)") == true)
    let stored = try await workshop.jobs.jobs()
    #expect(stored.isEmpty)
  }

  @Test("J65: each job of a batch is added after the jobs that it waits for")
  func order() throws {
    func jobs(_ dependencies: [[Int]]) -> [NewJob] {
      dependencies.map { indexes in
        let after = indexes.map { JobDependency(.batch($0)) }
        return NewJob(kind: "test", payload: JobPayload(bytes: []), options: [.after(after)])
      }
    }
    let backward = try JobGraph.order(of: jobs([[], [0], [], [1, 2]]))
    #expect(backward == [0, 1, 2, 3])
    let forward = try JobGraph.order(of: jobs([[3], [], [0], [1]]))
    #expect(forward == [1, 3, 0, 2])
    let count = 100_000
    let chain = try JobGraph.order(of: jobs((0..<count).map { $0 + 1 < count ? [$0 + 1] : [] }))
    #expect(chain == (0..<count).reversed())
    #expect(throws: JobError.self) { try JobGraph.order(of: jobs([[0]])) }
    #expect(throws: JobError.self) { try JobGraph.order(of: jobs([[1]])) }
  }

  @Test("J63, J44: a failure cancels dependents, which run again with the job")
  func failure() async throws {
    let workshop = Workshop()
    let first = try await workshop.jobs.enqueue(Repaired(), .retry(.never))
    let total = try await workshop.jobs.enqueue(Total(), .after(first.success))
    try await workshop.run(workshop.worker(Repaired.self, Total.self)) {
      let failure = await #expect(throws: JobFailure.self) { try await total.value }
      #expect(failure?.reason.code == .dependencyFailed)
      #expect(failure?.reason.culprit == first.id)
      let error = await #expect(throws: JobError.self) { try await workshop.jobs.retry(total.id) }
      #expect(error?.code == .dependencyFailed)
      let isRunAgain = try await workshop.jobs.retry(first.id, withDependents: true)
      #expect(isRunAgain)
      let value = try await total.value
      #expect(value == 0)
      let isRunAgainLater = try await workshop.jobs.retry(first.id, withDependents: true)
      #expect(!isRunAgainLater)
    }
  }

  @Test("J44: a request to run more than 1,000 jobs again succeeds even if some can't be run again")
  func retryOfMany() async throws {
    let jobs = Jobs(MemoryJobStore())
    try await jobs.enqueue(contentsOf: (1...JobCommand.maxChangedCount).map { Sum(left: $0, right: 1) })
    let last = try await jobs.enqueue(Sum(left: 0, right: 1), .unique(.unfinished("key")))
    try await jobs.cancel(.all)
    try await jobs.enqueue(Sum(left: 0, right: 1), .unique(.unfinished("key")))
    let cancelled = JobFilter(states: [.cancelled])
    #expect(try await jobs.perform(.retry(cancelled)) == JobCommand.maxChangedCount)
    #expect(try await jobs.jobs(cancelled).map(\.id) == [last.id])
    let error = await #expect(throws: JobError.self) { try await jobs.perform(.retry(cancelled)) }
    #expect(error?.code == .keyHeld)
  }

  @Test("J66: a job can add jobs to its graph while it runs")
  func growth() async throws {
    let workshop = Workshop()
    let planner = try await workshop.jobs.enqueue(Planner())
    let total = try await workshop.jobs.enqueue(Total(), .after(planner.success))
    let value = try await workshop.run(workshop.worker(Planner.self, Sum.self, Total.self)) { try await total.value }
    #expect(value == 7)
  }

  @Test("J67: reading the result of a job that has not succeeded fails without waiting")
  func results() async throws {
    let workshop = Workshop()
    let failed = try await workshop.jobs.enqueue(Flaky(failureCount: 1), .retry(.never))
    let later = try await workshop.jobs.enqueue(Sum(left: 1, right: 1), .delay(.seconds(3_600)))
    let reader = try await workshop.jobs.enqueue(Reader(ids: [failed.id, later.id]), .after(failed))
    let errors = try await workshop.run(workshop.worker(Flaky.self, Sum.self, Reader.self)) { try await reader.value }
    #expect(errors == ["failure", "unfinished job"])
  }
}

/// Adds the results of the jobs that it has waited for.
struct Total: Job {
  static let kind: JobKind = "total"
  func perform(in context: JobContext) async throws -> Int {
    let sums = try await context.values(of: Sum.self) + context.values(of: Total.self)
    return sums.reduce(0, +)
  }
}

/// Fails until it is run again manually.
struct Repaired: Job {
  static let kind: JobKind = "repaired"
  func perform(in context: JobContext) async throws {
    if context.job.history.errors.isEmpty { throw TestError() }
  }
}

/// Adds jobs before its dependents.
struct Planner: Job {
  static let kind: JobKind = "planner"
  func perform(in context: JobContext) async throws {
    var batch = JobBatch()
    let first = batch.add(Sum(left: 1, right: 1))
    batch.add(Sum(left: 1, right: 2), .after(first.success))
    try await context.enqueue(batch, beforeDependents: true)
    try await context.enqueue(Sum(left: 1, right: 1), beforeDependents: true)
    let error = await #expect(throws: JobError.self) {
      try await context.enqueue(Sum(left: 0, right: 0), .after(context.id), beforeDependents: true)
    }
    #expect(error?.code == .dependencyCycle)
  }
}

/// Reads results of jobs that have none.
struct Reader: Job {
  static let kind: JobKind = "reader"
  var ids: [JobID]
  func perform(in context: JobContext) async throws -> [String] {
    var errors: [String] = []
    for id in ids {
      do {
        errors.append("\(try await context.value(of: id, as: Int.self))")
      } catch is JobFailure {
        errors.append("failure")
      } catch let error as JobError {
        errors.append(error.code.description)
      }
    }
    return errors
  }
}
