import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit
import Testing

/// The distributions of durations, and the sums of periods.
@Suite struct StatisticsTests {
  @Test("J325: the percentile of a distribution has an error of at most 6.25%")
  func error() throws {
    var generator = SeededGenerator(seed: 57)
    var value: Int64 = 1
    while value < 30_000_000_000_000 {
      var durations = JobDurations()
      durations.add(.microseconds(value))
      let middle = try #require(durations.percentile(50))
      let difference = middle > .microseconds(value) ? middle - .microseconds(value) : .microseconds(value) - middle
      #expect(difference * 16 <= .microseconds(value), "\(value) µs")
      if value < 16 { #expect(middle == .microseconds(value)) }
      value += Int64.random(in: 1...max(1, value / 3), using: &generator)
    }
  }

  @Test("J325: distributions have the percentiles of all their durations, and can be added and stored")
  func percentiles() throws {
    let all = (1...1_000).map { Duration.milliseconds($0) }
    var (first, second) = (JobDurations(), JobDurations())
    var generator = SeededGenerator(seed: 57)
    for duration in all.shuffled(using: &generator) {
      if duration < .milliseconds(700) { first.add(duration) } else { second.add(duration) }
    }
    #expect(first.count == 699)
    second += first
    second += JobDurations()
    #expect(second.count == 1_000)
    #expect(JobDurations(stored: second.stored) == second)
    for (percent, exact) in [(0.0, 1), (50, 500), (95, 950), (99, 990), (100, 1_000)] {
      let found = try #require(second.percentile(percent)) / .milliseconds(exact)
      #expect((0.9375...1.0625).contains(found), "\(percent) %")
    }
    #expect(second.buckets.reduce(0) { $0 + $1.count } == 1_000)
    for bucket in second.buckets { #expect(bucket.lowerBound < bucket.upperBound) }
  }

  @Test("J325: a distribution accepts all durations, and ignores bytes that are not valid")
  func extremes() {
    var durations = JobDurations()
    #expect(durations.percentile(50) == nil)
    #expect(durations.stored == nil)
    durations.add(.seconds(-5))
    durations.add(.seconds(Int64.max))
    #expect(durations.percentile(0) == .zero)
    #expect(durations.percentile(100) ?? .zero > .seconds(380 * 86_400))
    #expect(JobDurations(stored: durations.stored) == durations)
    for bytes in [[], [1], [0x80], Array(repeating: 0xff, count: 20), [0xff, 0x7f, 1]] as [[UInt8]] {
      #expect(JobDurations(stored: bytes).isEmpty)
    }
  }

  @Test("J323: the latest periods and the earlier periods together are all periods")
  func parts() async throws {
    let workshop = Workshop()
    try await workshop.jobs.enqueue(contentsOf: [Sum(left: 1, right: 2), Sum(left: 3, right: 4)])
    workshop.clock.advance(by: .seconds(600))
    try await workshop.jobs.enqueue(Sum(left: 5, right: 6))
    let statistics = try await workshop.jobs.statistics(over: .hour)
    let (latest, before) = (statistics.latest(.seconds(300)), statistics.before(latest: .seconds(300)))
    #expect([latest.periods.count, before.periods.count] == [5, 55])
    #expect([latest.total.enqueued, before.total.enqueued] == [1, 2])
    #expect(statistics.latest(.seconds(301)).periods.count == 6)
    #expect(statistics.latest(.zero).periods.isEmpty)
    #expect(statistics.latest(.seconds(7_200)) == statistics)
    #expect(statistics.before(latest: .seconds(7_200)).periods.isEmpty)
    #expect(latest.total + before.total == statistics.total)
  }

  @Test("J323: a worker merges statistics while it runs")
  func merging() async throws {
    let workshop = Workshop()
    let store = FaultyStore(workshop.store, .lostHints)
    let worker = JobWorker(Jobs(store, clock: workshop.clock), kinds: [Sum.self], clock: workshop.clock)
    worker.serve(on: OperationQueue())
    let (running, start) = (Task { try await worker.run() }, workshop.clock.now)
    while store.mergeCount < 2 {
      await Task.yield()
      if workshop.clock.sleeperCount > 0 { workshop.clock.advance(by: .milliseconds(500)) }
    }
    #expect(start.duration(to: workshop.clock.now) >= .seconds(20))
    try await workshop.stop(worker, running)
  }
}
