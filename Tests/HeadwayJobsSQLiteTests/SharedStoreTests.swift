#if Jobs
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsSQLite
import Synchronization
import Testing

/// Two stores that have the same database, as two processes have.
@Suite(.hangLimit) struct SharedStoreTests {
  private let fixture: SQLiteFixture

  init() throws { fixture = try SQLiteFixture() }

  @Test("J13: if two stores add jobs with the same key at the same time, one job is stored")
  func uniqueKeys() async throws {
    let stores = [fixture.sqlite, try fixture.openOther()]
    for round in 0..<20 {
      let handles = try await withThrowingTaskGroup(of: (id: JobID, isNew: Bool).self) { group in
        for number in 0..<8 {
          let jobs = Jobs(stores[number % 2])
          group.addTask {
            let handle = try await jobs.enqueue(Note(text: "\(number)"), .unique(.unfinished("key \(round)")))
            return (handle.id, handle.isNew)
          }
        }
        return try await group.reduce(into: [(id: JobID, isNew: Bool)]()) { $0.append($1) }
      }
      #expect(Set(handles.map { $0.id }).count == 1)
      #expect(handles.count { $0.isNew } == 1)
    }
    await fixture.close()
  }

  @Test("J30: two stores never claim the same job")
  func claims() async throws {
    let stores = [fixture.sqlite, try fixture.openOther()]
    _ = try await Jobs(stores[0]).enqueue(contentsOf: (0..<200).map { Note(text: "\($0)") })
    let claimed = try await withThrowingTaskGroup(of: [JobID].self) { group in
      for store in stores {
        group.addTask {
          let worker = try await store.register(
            WorkerDescription(name: "test", processIdentifier: 1, queues: ["default"], kinds: [Note.kind: 1]))
          let claim = JobClaim(queue: "default", count: 7, allowsSuspect: true, kinds: [Note.kind: 1])
          var claimed: [JobID] = []
          while true {
            let jobs = try await store.exchange(JobExchange(worker: worker, claims: [claim])).claimed[0]
            if jobs.isEmpty { return claimed }
            claimed += jobs.map(\.id)
          }
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(claimed.count == 200)
    #expect(Set(claimed).count == 200)
    await fixture.close()
  }

  @Test("a store notifies the observers of another store of the same file")
  func messages() async throws {
    let other = try fixture.openOther()
    let (hints, continuation) = AsyncStream.makeStream(of: JobHint.self)
    let token = other.observeHints { continuation.yield($0) }
    try await Jobs(fixture.sqlite).enqueue(Note(text: "a"), .queue("mail"))
    let first = await hints.first { _ in true }
    #expect(first == .claimable(queue: "mail"))
    withExtendedLifetime(token) {}
    await fixture.close()
  }
}
#endif
