#if PostgreSQL
import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayJobsPostgreSQL
import HeadwayTestSupport
import Testing

/// Overviews and searches of a store with many jobs.
@Suite(.hangLimit, .serialized) struct PostgresReadingTests {
  @Test("J154: an overview counts by index, and reads about as many waiting jobs as its limit, in all queues together")
  func waitingJobs() async throws {
    let test = try await TestStore()
    for (queue, priority) in [("a", Operation.QueuePriority.low), ("a", .normal), ("a", .high), ("b", .normal)] {
      try await test.jobs.enqueue(contentsOf: (0..<5).map { PlainJob(number: $0) }, .queue(queue), .priority(priority))
    }
    func overview(_ limit: Int) async throws -> (counts: [Int], kinds: [Int], first: [JobID]) {
      let queues = try await test.jobs.overview(countingTo: limit).snapshot.queues
      return (
        queues.map(\.counts[.waiting]), queues.map { $0.waiting.reduce(0) { $0 + $1.count } },
        queues.compactMap(\.waiting.first?.first)
      )
    }
    let all = try await overview(20)
    #expect(all.counts == [15, 5])
    #expect(all.kinds == [15, 5])
    let few = try await overview(10)
    #expect(few.counts == [11, 5])
    #expect(few.kinds == [6, 2])
    #expect(few.first == all.first)
    await test.store.close()
  }

  @Test("J154: a search finds tags and labels that another client has stored, with escaped characters or without")
  func escapedTexts() async throws {
    let test = try await TestStore()
    for settings in [
      #"{"label":"Ä/b","tags":["x/y","z"]}"#, #"{"label":"\u00c4\/b","tags":["x\/y","\u007a"]}"#,
      #"{"label":"other","tags":["\\"]}"#,
    ] {
      try test.psql("SELECT enqueue('plain', '', settings => convert_to($$\(settings)$$, 'UTF8'))")
    }
    let ids = try await test.jobs.jobs().map(\.id)
    for (filter, indexes) in [
      (JobFilter(label: "Ä/"), [1, 0]), (JobFilter(tag: "x/y"), [1, 0]), (JobFilter(tag: "z"), [1, 0]),
      (JobFilter(tag: "z", label: "Ä"), [1, 0]), (JobFilter(tag: "x"), []), (JobFilter(tag: "\\"), [2]),
      (JobFilter(label: "label"), []), (JobFilter(label: ""), [2, 1, 0]),
    ] {
      #expect(try await test.jobs.ids(filter).ids == indexes.map { ids[$0] }, "\(filter)")
    }
    await test.store.close()
  }
}
#endif
