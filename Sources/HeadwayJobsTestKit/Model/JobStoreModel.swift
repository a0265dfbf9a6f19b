import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit

/// Runs random programs of commands on a store and on a model, which is a `MemoryJobStore`.
///
/// Both stores must give the same answers and have the same jobs afterward.
///
/// ```swift
/// @_spi(JobStore) import HeadwayJobsTestKit
///
/// try await JobStoreModel(fixture).run(programs: 100_000, seed: 1)
/// ```
///
/// The description of a defect contains the seed of the program and its last commands. To reproduce the defect, run one
/// program with that seed and an empty store.
@_spi(JobStore) public struct JobStoreModel: Sendable {
  private let fixture: any JobStoreFixture

  /// Creates a model of a store.
  ///
  /// - Parameter fixture: A fixture with an empty store. Its clock must change only when a program moves it.
  public init(_ fixture: any JobStoreFixture) { self.fixture = fixture }

  /// Runs programs one after another.
  ///
  /// Each program begins with a store without jobs.
  ///
  /// - Parameters:
  ///   - programs: The number of programs.
  ///   - commands: The number of commands of each program.
  ///   - seed: The seed of the first program. Each later program has the next greater seed.
  /// - Throws: ``JobStoreDefect`` if the store and the model behave differently; any error of the fixture.
  public func run(programs: Int = 20, commands: Int = 200, seed: UInt64) async throws {
    let store = fixture.store
    let comparison = ModelComparison(
      fixture: fixture, other: try await fixture.openAgain(), model: MemoryJobStore { store.now })
    for number in 0..<UInt64(programs) {
      var program = ModelProgram(comparison, seed: seed &+ number)
      try await program.run(commands: commands)
    }
  }
}

/// A program, which chooses commands at random, and remembers the jobs and workers that they have added.
private struct ModelProgram {
  private let comparison: ModelComparison
  private let seed: UInt64
  private var generator: SeededGenerator
  private var last: [ModelCommand] = []
  private var workers: [WorkerID] = []
  /// Workers that have stopped while code of their jobs runs.
  private var stopped: [WorkerID] = []
  /// Workers that were killed, and whose jobs have not been rescued yet.
  private var dead: [WorkerID] = []
  /// Workers whose jobs have returned to their queues, and whose endings are rejected.
  private var gone: [WorkerID] = []
  private var fences: [JobFence] = []
  private var ids: [JobID] = []

  init(_ comparison: ModelComparison, seed: UInt64) {
    self.comparison = comparison
    self.seed = seed
    generator = SeededGenerator(seed: seed)
  }

  mutating func run(commands: Int) async throws {
    do {
      for number in 1...max(commands, 1) {
        try await run(try nextCommand())
        if number % 20 == 0 { try await comparison.compareJobs() }
      }
      try await comparison.compareJobs()
      try await compareCheckpoints()
      try await cleanUp()
    } catch {
      let list = last.map { "  \($0)" }.joined(separator: "\n")
      throw JobStoreDefect(description: "seed \(seed): \(error)\nThe last commands:\n\(list)")
    }
  }

  private mutating func run(_ command: ModelCommand) async throws {
    last.append(command)
    if last.count > 12 { last.removeFirst() }
    note(try await comparison.run(command), of: command)
  }

  /// Compares the checkpoints of all jobs, including those that have ended or were deleted.
  private mutating func compareCheckpoints() async throws {
    for id in Set(ids).sorted() {
      for name in checkpointNames { _ = try await comparison.run(.checkpoint(name, id)) }
    }
  }

  /// Removes everything that would affect the next program.
  private mutating func cleanUp() async throws {
    for worker in stopped { try await run(.kill(worker)) }
    try await run(.rescue)
    for worker in workers { try await run(.unregister(worker, isRunningCode: false)) }
    for queue in queues {
      for setting in [.maxRunningJobCount(nil), .maxPendingJobCount(nil), .maxFailureCount(nil), .agingInterval(nil)]
        as [JobQueueChange]
      {
        try await run(.perform(.configure(queue: queue, setting), elsewhere: false))
      }
      try await run(.perform(.setPaused(queue: queue, false), elsewhere: false))
    }
    for name in schedules { try await run(.schedule(.remove, name: name, elsewhere: false)) }
    try await run(.moveClock(.seconds(3_600)))
    for command in [.abandon(.all), .cancel(.all), .delete(.all), .prune] as [JobCommand] {
      try await run(.perform(command, elsewhere: false))
    }
    try await run(.counts)
  }

  private mutating func note(_ answer: ModelAnswer, of command: ModelCommand) {
    switch (command, answer) {
    case (_, .enqueued(let answers)): ids += answers.map(\.id)
    case (_, .worker(let worker)): workers.append(worker)
    case (_, .exchange(let answer)): fences += answer.claimed.joined().compactMap(\.fence)
    case (_, .written(let answers)):
      ids += answers.flatMap(\.newJobs).map(\.id)
    case (.unregister(let worker, false), _):
      workers.removeAll { $0 == worker }
      gone.append(worker)
    case (.unregister(let worker, true), _):
      workers.removeAll { $0 == worker }
      stopped.append(worker)
    case (.kill(let worker), _):
      workers.removeAll { $0 == worker }
      stopped.removeAll { $0 == worker }
      dead.append(worker)
    case (.rescue, _):
      gone += dead
      dead = []
    default: break
    }
  }

  // MARK: Choosing

  private let queues = ["a", "b"]
  private let kinds: [JobKind] = ["one", "two"]
  private let schedules = ["s", "t"]
  private let checkpointNames = ["x", "y", StoredSignals.counts]
  private let signals = ["s", "t"]

  private mutating func nextCommand() throws -> ModelCommand {
    if workers.count < 2 { return .register }
    switch Int.random(in: 0..<110, using: &generator) {
    case 0..<20:
      return .enqueue(newJobs(), elsewhere: odds(3))
    case 20..<50: return .exchange(exchange())
    case 50..<58: return .write((0..<Int.random(in: 1...3, using: &generator)).map { _ in write() })
    case 58..<62: return .beat(pick(workers), (0..<6).map { _ in fence() })
    case 62..<65: return workers.count < 5 ? .register : .unregister(pick(workers), isRunningCode: odds(3))
    case 65..<68: return .kill(pick(workers + stopped))
    case 68..<72: return .rescue
    case 72..<77: return .moveClock(pick([.microseconds(1), .seconds(1), .seconds(7), .seconds(60), .seconds(50_000)]))
    case 77..<83: return .advance
    case 83..<93: return .perform(jobCommand(), elsewhere: odds(2))
    case 93..<96: return .jobs(filter(), after: odds(2) ? id() : nil, limit: Int.random(in: 0...20, using: &generator))
    case 96: return .snapshot(odds(2) ? .all : pick([.counts, .waiting, .workers, .failures, []]))
    case 97: return .checkpoint(pick(checkpointNames), odds(4) ? id() : fence().id)
    case 98: return .counts
    case 99: return .edges([id(), id()])
    case 100..<108: return .schedule(try scheduleCommand(), name: pick(schedules), elsewhere: odds(3))
    default: return .schedules
    }
  }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &generator)]
  }

  private mutating func pick<Value>(_ values: ArraySlice<Value>) -> Value { pick(Array(values)) }

  /// Returns true in one of a number of calls, on average.
  private mutating func odds(_ number: Int) -> Bool { Int.random(in: 0..<number, using: &generator) == 0 }

  /// Returns a job that was stored, preferably a recent one, or rarely an unknown one.
  private mutating func id() -> JobID {
    guard let last = ids.last, !odds(20) else { return JobID(rawValue: 1_000_000_000) }
    return odds(4) ? last : pick(ids.suffix(odds(2) ? 10 : 100))
  }

  /// Returns an attempt that is running or has run, or rarely one that never existed.
  private mutating func fence() -> JobFence {
    guard !fences.isEmpty else { return JobFence(id: id(), attempt: 1, epoch: 1, owner: pick(workers)) }
    var fence = pick(fences.suffix(odds(3) ? 50 : 8))
    guard odds(12) else { return fence }
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: fence.attempt += 1
    case 1: fence.epoch += 1
    case 2: fence.owner = pick(workers)
    default: fence.id = id()
    }
    return fence
  }

  /// Returns a request of a worker, except a dead one whose jobs have not been rescued yet.
  private mutating func exchange() -> JobExchange {
    let worker = !gone.isEmpty && odds(10) ? pick(gone.suffix(3)) : pick(workers)
    let own = fences.suffix(40).filter { $0.owner == worker }
    var endings: [JobEnding] = []
    if !own.isEmpty {
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        var fence = pick(own.suffix(odds(3) ? 40 : 6))
        if odds(20) { fence.epoch += 1 }
        endings.append(JobEnding(fence, action()))
      }
    }
    let claims = (0..<Int.random(in: 0...2, using: &generator)).map { _ in
      JobClaim(
        queue: pick(queues), count: Int.random(in: 0...5, using: &generator), allowsSuspect: odds(2),
        freeSlotCount: odds(2) ? 1 : nil,
        kinds: odds(4) ? [pick(kinds): 1] : ["one": 2, "two": odds(2) ? 1 : 2, "three": 1], group: odds(2) ? 1 : nil)
    }
    return JobExchange(worker: worker, endings: endings, claims: claims)
  }

  private mutating func action() -> JobEnding.Action {
    let error = JobErrorDescription(type: "Test", text: "error")
    switch Int.random(in: 0..<12, using: &generator) {
    case 0..<3: return .succeed(result: odds(2) ? JobPayload(bytes: [1, 2]) : nil)
    case 3..<5: return .retry(after: pick([.zero, .seconds(1), .seconds(60)]), error)
    case 5: return .fail(JobEndReason(.failed, "reason"), odds(3) ? nil : error)
    case 6: return .snooze(pick([.zero, .seconds(1), .seconds(60)]))
    case 7, 8: return .release
    case 9, 10: return .wait(wait(), until: comparison.model.now + pick([.zero, .seconds(2), .seconds(60)]))
    default: return .cancel(JobEndReason(.cancelled))
    }
  }

  private mutating func wait() -> JobWait { odds(4) ? .sleep("s") : .signal(pick(signals)) }

  private mutating func write() -> FencedWrite {
    let alive = Set(workers + gone)
    var fence = fence()
    if !alive.contains(fence.owner) { fence.owner = pick(workers) }
    switch Int.random(in: 0..<7, using: &generator) {
    case 0: return FencedWrite(fence, .checkpoint(name: pick(["x", "y"]), value: JobPayload(bytes: [9])))
    case 1:
      let progress = JobProgress(fraction: pick([0, 0.25, 1]), text: odds(2) ? "text" : nil)
      return FencedWrite(fence, .progress(progress))
    case 2: return FencedWrite(fence, .log("line"))
    case 3: return FencedWrite(fence, .enqueue(dependent(newJob(), of: 0)))
    case 4, 5:
      let limit: Duration = pick([.zero, .seconds(2), .seconds(60)])
      return FencedWrite(fence, .wait(wait(), number: pick([1, 1, 2]), timeLimit: limit))
    default:
      // Dependencies outside the batch are rejected.
      let isGrowth = !odds(3)
      return FencedWrite(fence, .enqueueBatch(newJobs(onStored: !isGrowth || odds(8)), beforeDependents: isGrowth))
    }
  }

  private mutating func newJobs(onStored: Bool = true) -> [NewJob] {
    let count = Int.random(in: 1...4, using: &generator)
    return (0..<count).map { index in
      // Rarely, the jobs wait for each other in a cycle.
      dependent(newJob(), of: odds(12) ? count : index, onStored: onStored)
    }
  }

  /// Returns the job with dependencies on stored jobs and on the first ones of its batch.
  private mutating func dependent(_ job: NewJob, of count: Int, onStored: Bool = true) -> NewJob {
    guard odds(2) else { return job }
    var job = job
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let requirement: DependencyRequirement = odds(2) ? .success : .completion
      if count > 0, !odds(3) {
        let index = Int.random(in: 0..<count, using: &generator)
        job.dependencies.append(JobDependency(.batch(index), requiring: requirement))
      } else if onStored, !ids.isEmpty {
        // Prefers jobs that might not have ended.
        let id = fences.isEmpty || odds(2) ? pick(ids.suffix(8)) : pick(fences.suffix(4)).id
        job.dependencies.append(JobDependency(.job(odds(30) ? self.id() : id), requiring: requirement))
      }
    }
    return job
  }

  private mutating func newJob() -> NewJob {
    let now = comparison.model.now
    var options: JobOptions = [.queue(pick(queues)), .priority(pick([.low, .normal, .normal, .high]))]
    if odds(4) { options.set(.delay(pick([.zero, .seconds(1), .seconds(60)]))) }
    if odds(8) { options.set(.startDate((now + pick([.seconds(-5), .zero, .seconds(5)])).date)) }
    if odds(8) { options.set(.deadline((now + pick([.zero, .seconds(2), .seconds(90)])).date)) }
    if odds(4) { options.set(.tags([pick(["x", "y"])])) }
    if odds(4) { options.set(.maxSnoozeCount(pick([0, 1]))) }
    if odds(3) { options.set(.maxCrashCount(pick([1, 2]))) }
    if odds(4) {
      let retention: JobRetention = pick([
        .none, JobRetention(succeeded: .seconds(1)), JobRetention(cancelled: .zero, failed: .seconds(30)),
      ])
      options.set(.retention(retention))
    }
    if odds(3) {
      let time: Duration = pick([.seconds(5), .seconds(100)])
      let scope: UniqueKey.Scope = pick([.waiting, .waiting, .unfinished, .duration(time)])
      options.set(.unique(UniqueKey(pick(["k", "l", "m"]), scope: scope, conflict: odds(2) ? .replace : .keep)))
    }
    if odds(2) { options.set(.limits(limits())) }
    let payload = JobPayload(bytes: [UInt8.random(in: 0...255, using: &generator)])
    return NewJob(kind: pick(kinds), version: odds(5) ? 2 : 1, payload: payload, options: options)
  }

  /// Returns one to three limits.
  ///
  /// Their keys can be the keys of the first or further limits of other jobs.
  private mutating func limits() -> [JobLimit] {
    var limits = [odds(3) ? .serial(key: pick(["k", "l"])) : limit()]
    for _ in 0..<(odds(2) ? Int.random(in: 1...2, using: &generator) : 0) {
      let further = limit()
      if !limits.contains(where: { $0.storedKey == further.storedKey }) { limits.append(further) }
    }
    return limits
  }

  private mutating func limit() -> JobLimit {
    let key = pick(["k", "l", "m", "n"])
    if odds(2) {
      let count = Int.random(in: 1...4, using: &generator)
      return .concurrency(count, key: key, weight: odds(2) ? 1 : Int.random(in: 1...count, using: &generator))
    }
    let burst: Int = pick([1, 3])
    return .rate(
      pick([1, 3]), per: pick([.seconds(1), .seconds(50)]), burst: burst, key: key,
      weight: odds(2) ? 1 : Int.random(in: 1...burst, using: &generator))
  }

  private mutating func setting() -> JobQueueChange {
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: .maxRunningJobCount(odds(2) ? nil : Int.random(in: 0...4, using: &generator))
    case 1: .maxPendingJobCount(odds(2) ? nil : Int.random(in: 1...8, using: &generator))
    case 2: .maxFailureCount(odds(2) ? nil : Int.random(in: 1...4, using: &generator))
    default: .agingInterval(odds(2) ? nil : pick([.seconds(5), .seconds(60)]))
    }
  }

  private mutating func scheduleCommand() throws -> ScheduleCommand {
    switch Int.random(in: 0..<9, using: &generator) {
    case 0..<4:
      let times: JobSchedule = try pick([
        .every(.seconds(5)), .every(.seconds(70)), .cron("* * * * *"), .cron("30 2 * * *"),
      ])
      let definition = ScheduleDefinition(
        times, missed: pick([.latest, .none, .all(limit: 1), .all(limit: 3)]), overlap: odds(2) ? .skip : .allow,
        jitter: odds(3) ? pick([.seconds(1), .seconds(100)]) : .zero, job: newJob())
      return .set(definition)
    case 4, 5: return .setPaused(odds(2))
    case 6: return .run
    case 7:
      let start = comparison.model.now + pick([.seconds(-900), .seconds(-200), .seconds(-20)])
      return .backfill(from: start, through: start + pick([.zero, .seconds(60), .seconds(400)]))
    default: return .remove
    }
  }

  private mutating func filter() -> JobFilter {
    var filter = JobFilter()
    if odds(2) { filter.ids = (0..<Int.random(in: 1...4, using: &generator)).map { _ in id() } }
    if odds(3) { filter.states = [pick(JobState.allCases), pick(JobState.allCases)] }
    if odds(4) { filter.queues = [pick(queues)] }
    if odds(4) { filter.kinds = [pick(kinds)] }
    if odds(6) { filter.tag = pick(["x", "y"]) }
    if odds(8) { filter.culprit = id() }
    if odds(8) { filter.payload = pick(["", "1"]) }
    let errors = comparison.model.errorGroups(nil).map(\.id).sorted()
    if odds(8), !errors.isEmpty { filter.errorGroup = pick(errors) }
    if odds(12) { filter.endedSince = comparison.model.now + pick([.seconds(-60), .zero]) }
    if odds(12) { filter.endedUntil = comparison.model.now + pick([.seconds(-7), .zero]) }
    return filter
  }

  private mutating func jobCommand() -> JobCommand {
    switch Int.random(in: 0..<18, using: &generator) {
    case 0, 1: return .cancel(filter())
    case 2: return .abandon(filter())
    case 3, 4: return .retry(odds(2) ? .id(id()) : filter())
    case 5: return .delete(filter())
    case 6, 7, 12: return .change(filter(), jobChange())
    case 8, 9: return .setPaused(queue: pick(queues), odds(3))
    case 10, 11: return .configure(queue: pick(queues), setting())
    case 13..<16:
      // The last jobs of an attempt are more likely to wait.
      let filter = odds(3) || fences.isEmpty ? filter() : .id(pick(fences.suffix(8)).id)
      return .signal(filter, JobSignal(name: pick(signals), value: JobPayload(bytes: [7])))
    default: return .prune
    }
  }

  private mutating func jobChange() -> JobChange {
    let time = comparison.model.now + pick([.zero, .seconds(2), .seconds(90)])
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: return .priority(pick([.veryLow, .normal, .high]))
    case 1: return .queue(pick(queues))
    case 2: return .deadline(odds(3) ? nil : time)
    case 3: return .payload(JobPayload(bytes: Array("\(Int.random(in: 0..<3, using: &generator))".utf8)), version: 1)
    default: return .dueTime(odds(3) ? nil : time)
    }
  }
}
