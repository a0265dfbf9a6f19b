#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Testing

/// Claims after earlier jobs have been claimed.
@Suite(.hangLimit, .serialized) struct PostgresClaimTests {
  @Test("J168: a job whose transaction ends after 3,000 later jobs were claimed is still claimed")
  func lateCommit() async throws {
    let test = try await TestStore()
    let worker = try await test.store.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["plain": 1]))
    let claim = JobExchange(
      worker: worker, claims: [JobClaim(queue: "default", count: 1_000, allowsSuspect: true, kinds: ["plain": 1])])
    let (isAdded, mayEnd) = (AsyncStream.makeStream(of: Void.self), Gate())
    let late = Task { [jobs = test.jobs] in
      try await test.store.transaction(within: .seconds(3_600)) { transaction in
        let id = try jobs.enqueue(PlainJob(number: 0), in: transaction).id
        isAdded.continuation.finish()
        mayEnd.wait()
        return id
      }
    }
    for await _ in isAdded.stream {}
    var batch = JobBatch()
    for number in 1...3_000 { batch.add(PlainJob(number: number)) }
    _ = try await test.jobs.enqueue(batch)
    var claimed: [JobRecord] = []
    while claimed.count < 3_000 { claimed += try await test.store.exchange(claim).claimed[0] }
    #expect(claimed.map(\.position) == claimed.map(\.position).sorted())
    mayEnd.open()
    let id = try await late.value
    #expect(try await test.store.exchange(claim).claimed[0].map(\.id) == [id])

    // A command that puts a job before the marks moves them back.
    let low: JobOptions = [.priority(.veryLow)]
    let first = try await test.jobs.enqueue(PlainJob(number: 0), .options(low)).id
    var more = JobBatch()
    for number in 1...3_000 { more.add(PlainJob(number: number)) }
    _ = try await test.jobs.enqueue(more)
    for _ in 0..<3 { _ = try await test.store.exchange(claim) }
    _ = try await test.jobs.enqueue(PlainJob(number: 1))
    #expect(try await test.store.perform(.change(.id(first), .priority(.veryHigh))) == 1)
    #expect(try await test.store.exchange(claim).claimed[0].first?.id == first)
    await test.store.close()
  }

  @Test("J168, J199: an exhaustive claim finds a job that another process has put before the marks")
  func exhaustiveClaim() async throws {
    let test = try await TestStore()
    let other = try await test.openAgain()
    let worker = try await test.store.register(
      WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: ["plain": 1]))
    var claim = JobClaim(queue: "default", count: 1_000, allowsSuspect: true, kinds: ["plain": 1])
    let first = try await test.jobs.enqueue(PlainJob(number: 0), .priority(.veryLow)).id
    var batch = JobBatch()
    for number in 1...6_000 { batch.add(PlainJob(number: number)) }
    _ = try await test.jobs.enqueue(batch)
    for _ in 0..<6 { _ = try await test.store.exchange(JobExchange(worker: worker, claims: [claim])) }
    #expect(try await other.store.perform(.change(.id(first), .priority(.veryHigh))) == 1)
    claim.isExhaustive = true
    let found = try await test.store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
    #expect(found.map(\.id) == [first])
    await other.store.close()
    await test.store.close()
  }
}
#endif
