import Headway
import HeadwayTestKit
import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// The decisions about limits, without a store.
@Suite struct LimitTests {
  @Test("J84: a bucket permits the same claims as a list of all earlier claims", arguments: 1...30)
  func bucket(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...5, using: &generator)
    let rate = JobRate(count, per: .milliseconds(600), burst: Int.random(in: 1...6, using: &generator))
    var now = StoreTime(microseconds: 1_000_000)
    var bucket = RateBucket(fullTime: now)
    // The oracle adds tokens in whole steps of a microsecond.
    let interval = 600_000 / Int64(count)
    var (tokens, last) = (Int64(rate.burst) * interval, now)
    for _ in 0..<500 {
      now = now + .microseconds(Int.random(in: 0...300_000, using: &generator))
      tokens = min(Int64(rate.burst) * interval, tokens + (now.microseconds - last.microseconds))
      last = now
      let hasToken = bucket.hasTokens(1, rate, at: now)
      #expect(hasToken == (tokens >= interval))
      if tokens >= interval {
        tokens -= interval
        bucket.take(1, rate, at: now)
        #expect(bucket.nextTime == nil)
      } else {
        #expect(bucket.nextTime == now + .microseconds(interval - tokens))
      }
    }
  }

  @Test("J84: the rate is not exceeded even if the period isn't a multiple of the number or the clock is set back")
  func edges() {
    let rate = JobRate(3, per: .seconds(1))
    #expect(rate.interval == .microseconds(333_334))
    #expect(rate.burst == 3)
    let now = StoreTime(microseconds: 10_000_000_000)
    var bucket = RateBucket(fullTime: now)
    for _ in 0..<3 {
      let hasToken = bucket.hasTokens(1, rate, at: now)
      #expect(hasToken)
      bucket.take(1, rate, at: now)
    }
    let hasFourth = bucket.hasTokens(1, rate, at: now)
    #expect(!hasFourth)
    let earlier = now + .seconds(-3_600)
    let hasOneEarlier = bucket.hasTokens(1, rate, at: earlier)
    #expect(!hasOneEarlier)
    #expect(bucket.nextTime == earlier + rate.interval)
  }

  @Test("J241: a heavy job waits for all its tokens, and a lighter job makes the bucket examine its jobs earlier")
  func heavyTokens() {
    let rate = JobRate(4, per: .seconds(4))
    let now = StoreTime(microseconds: 10_000_000_000)
    var bucket = RateBucket(fullTime: now)
    let hasThree = bucket.hasTokens(3, rate, at: now)
    #expect(hasThree)
    bucket.take(3, rate, at: now)
    let (hasFour, hasTwo, hasOne) = (
      bucket.hasTokens(4, rate, at: now), bucket.hasTokens(2, rate, at: now), bucket.hasTokens(1, rate, at: now)
    )
    #expect([hasFour, hasTwo, hasOne] == [false, false, true])
    // A job that needs fewer tokens does not change when the other jobs are examined again.
    #expect(bucket.nextTime == now + .seconds(1))
    let hasThreeAgain = bucket.hasTokens(3, rate, at: now)
    #expect(!hasThreeAgain)
    let hasTwoAgain = bucket.hasTokens(2, rate, at: now)
    #expect(!hasTwoAgain)
    #expect(bucket.nextTime == now + .seconds(1))
    bucket.take(1, rate, at: now)
    #expect(bucket.nextTime == now + .seconds(1))
    let isFull = bucket.hasTokens(9, rate, at: now + .seconds(4))
    #expect(isFull)
    #expect(bucket.nextTime == nil)
  }

  @Test("J241: the limits after the first one are stored as one string, and read again")
  func furtherLimits() {
    var settings = JobSettings()
    #expect(settings.furtherLimits == nil)
    let limits: [JobLimit] = [
      .serial(key: "a"), .concurrency(3, key: "b \"", weight: 2), .rate(5, per: .seconds(1), key: "c", weight: 4),
    ]
    settings.limits = Array(limits.prefix(1))
    #expect(settings.furtherLimits == JobSettings.noFurtherLimits)
    settings.limits = limits
    let stored = settings.furtherLimits ?? ""
    #expect(JobSettings.furtherLimits(stored) == Array(limits.dropFirst()))
    #expect(stored > JobSettings.noFurtherLimits)
    let weights = JobSettings.furtherWeights([
      (group: stored, count: 3), (group: JobSettings.noFurtherLimits, count: 9),
    ])
    #expect(weights[limits[1].storedKey] == 6)
    #expect(
      limits.map(\.description) == [
        "a (one at a time, in order)", "b \" (3 at a time, takes 2)", "c (5 per 1.0 seconds, takes 4)",
      ])
  }

  @Test("J81: keys of different kinds of limits are separate, and their order is spread")
  func storedKeys() {
    let limits = [JobLimit.concurrency(1, key: "key"), .serial(key: "key"), .rate(1, per: .seconds(1), key: "key")]
    #expect(Set(limits.map(\.storedKey)).count == 3)
    #expect(JobLimit.concurrency(1, key: "key").storedKey == JobLimit.concurrency(2, key: "key").storedKey)
    // Keys that increase are not in their order.
    let keys = (1...1_000).map { JobLimit.serial(key: "order:\($0 + 100_000)").storedKey }
    let ascending = zip(keys, keys.dropFirst()).count { $0 < $1 }
    #expect((350...650).contains(ascending))
    #expect(keys.allSatisfy { $0.count == 8 + 1 + "order:100000".count })
  }

  @Test("J85: a job rises one priority per aging interval, but not above the highest priority")
  func aging() {
    var queue = JobQueueRecord()
    let now = StoreTime(microseconds: 1_000_000_000)
    #expect(queue.priority(-8, since: StoreTime(microseconds: 0), at: now) == -8)
    queue.set(.agingInterval(.seconds(10)))
    let priorities = [0, 9.9, 10, 25, 40, 1_000].map { queue.priority(-8, since: now + .seconds(-$0), at: now) }
    #expect(priorities == [-8, -8, -4, 0, 8, 8])
    #expect(queue.priority(20, since: now + .seconds(-60), at: now) == 20)
    #expect(queue.priority(0, since: now + .seconds(60), at: now) == 0)
  }

  @Test("J45: a success ends a series of failures, but a job that is given back does not")
  func failures() {
    var queue = JobQueueRecord()
    let failure = JobEnding.Action.fail(JobEndReason(.failed), nil)
    queue.note(failure)
    #expect(queue == JobQueueRecord())
    queue.set(.maxFailureCount(3))
    for action in [failure, failure, .succeed(result: nil), failure, .release, failure] { queue.note(action) }
    #expect(!queue.isPaused)
    #expect(queue.failureCount == 2)
    queue.note(.retry(after: .zero, JobErrorDescription(type: "", text: "")))
    #expect(queue.isPaused)
    queue.setPaused(false)
    #expect(queue.failureCount == 0)
  }

  @Test("J18: a caller waits for room in a full queue, or receives an error if it prefers that")
  func fullQueue() async throws {
    let workshop = Workshop()
    try await workshop.jobs.changeQueue("default", .maxPendingJobCount(1))
    try await workshop.jobs.enqueue(Sum(left: 1, right: 1))
    let error = await #expect(throws: JobError.self) {
      try await workshop.jobs.enqueue(Sum(left: 2, right: 2), .fullQueuePolicy(.fail))
    }
    #expect(error?.code == .queueFull)
    let waiting = Task { try await workshop.jobs.enqueue(Sum(left: 3, right: 3)) }
    await workshop.clock.waitForSleepers(count: 1)
    #expect(try await workshop.jobs.jobs().count == 1)
    let value = try await workshop.run(workshop.worker(Sum.self)) { try await waiting.value.value }
    #expect(value == 6)
  }

  @Test("J18: enqueueing a batch throws an error if a job of the batch requests an error")
  func fullQueueOfBatch() async throws {
    let workshop = Workshop()
    try await workshop.jobs.changeQueue("default", .maxPendingJobCount(1))
    try await workshop.jobs.enqueue(Sum(left: 1, right: 1))
    var batch = JobBatch()
    batch.add(Sum(left: 2, right: 2), .fullQueuePolicy(.fail))
    batch.add(Sum(left: 3, right: 3))
    let full = batch
    let error = await #expect(throws: JobError.self) { try await workshop.jobs.enqueue(full) }
    #expect(error?.code == .queueFull)
  }

  @Test("J84: a rate with a period of more than a century has a period of a century")
  func slowRate() {
    let rate = JobRate(1, per: .seconds(Int64.max), burst: .max)
    let now = StoreTime(microseconds: 1_800_000_000_000_000)
    var bucket = RateBucket(fullTime: now)
    let hasToken = bucket.hasTokens(1, rate, at: now)
    #expect(hasToken)
    bucket.take(1, rate, at: now)
    #expect(bucket.fullTime == now + .seconds(100 * 365 * 86_400))
  }

  @Test("J85: a job with a priority above all names keeps it")
  func priorityAboveAll() {
    var queue = JobQueueRecord()
    queue.set(.agingInterval(.seconds(1)))
    let (ready, now) = (StoreTime(microseconds: 0), StoreTime(microseconds: 9_000_000))
    #expect(queue.priority(.max - 1, since: ready, at: now) == .max - 1)
    #expect(queue.priority(-8, since: ready, at: now) == 8)
  }

  @Test("J18: a caller that waits for room can be cancelled")
  func cancelledCaller() async throws {
    let workshop = Workshop()
    try await workshop.jobs.changeQueue("default", .maxPendingJobCount(1))
    try await workshop.jobs.enqueue(contentsOf: [Sum(left: 1, right: 1)])
    let waiting = Task { try await workshop.jobs.enqueue(contentsOf: [Sum(left: 2, right: 2)]) }
    await workshop.clock.waitForSleepers(count: 1)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(try await workshop.jobs.jobs().count == 1)
  }

  @Test("J82: workers run the jobs of a serial key one at a time and in order, even after failures")
  func serialJobs() async throws {
    let workshop = Workshop()
    let log = Log()
    try await Log.$current.withValue(log) {
      let options: JobOptions = [
        .retry(.exponential(maxAttemptCount: 9, initialDelay: .seconds(1))), .limits([.serial(key: "key")]),
      ]
      var last: JobHandle<Void>?
      for number in 1...4 {
        last = try await workshop.jobs.enqueue(Ordered(number: number, failureCount: number % 3), .options(options))
      }
      let id = try #require(last).id
      try await workshop.run(workshop.worker(Ordered.self)) { try await workshop.advance(until: id, is: .succeeded) }
    }
    #expect(log.entries == ["1", "1", "2", "2", "2", "3", "4", "4"])
  }
}

/// Fails several times and adds its number to the log each time.
private struct Ordered: Job {
  static let kind: JobKind = "ordered"
  var number: Int
  var failureCount: Int
  func perform(in context: JobContext) async throws {
    Log.current.append("\(number)")
    if context.attempt <= failureCount { throw TestError() }
  }
}
