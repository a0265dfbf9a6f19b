import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit

extension JobStoreConformance {
  static let conservation = [
    JobStoreCheck("J130, J131, J326: after random commands, each job is in one state and queue, and has ended once") {
      probe in
      for seed in 1...2 as ClosedRange<UInt64> {
        do {
          var audit = JobAudit(probe, seed: seed)
          try await audit.run(steps: 100)
        } catch let defect as JobStoreDefect {
          throw JobStoreDefect(description: "\(defect.description) (seed \(seed))")
        }
      }
    }
  ]
}

/// Random work of several workers, with a record of all jobs.
private struct JobAudit {
  private let probe: JobStoreProbe
  private var generator: SeededGenerator
  private var workers: [WorkerID] = []
  private var attempts: [JobFence] = []
  /// The jobs that were stored and not deleted.
  private var jobs: Set<JobID> = []
  /// How often each job has ended since a command last ran it again.
  private var endCounts: [JobID: Int] = [:]

  init(_ probe: JobStoreProbe, seed: UInt64) {
    self.probe = probe
    generator = SeededGenerator(seed: seed)
  }

  mutating func run(steps: Int) async throws {
    for _ in 0..<3 { workers.append(try await probe.register()) }
    for step in 1...steps {
      try await takeStep()
      if step % 20 == 0 { try await check() }
    }
    try await drain()
    try await check()
    for (id, count) in endCounts { try probe.expect(count, 1, "the number of ends of job \(id)") }
    for worker in workers { try await probe.store.unregister(worker, isRunningCode: false) }
    // There are fewer jobs than one command can delete.
    try probe.expect(try await probe.perform(.delete(.all)), jobs.count, "the number of deleted jobs")
    jobs.removeAll()
    try await check()
  }

  private mutating func takeStep() async throws {
    switch Int.random(in: 0..<20, using: &generator) {
    case 0..<6: try await enqueue()
    case 6..<10: try await claim()
    case 10..<15: try await end()
    case 15:
      // A worker dies, and another one replaces it.
      let worker = workers.remove(at: Int.random(in: workers.indices, using: &generator))
      try await probe.fixture.kill(worker)
      try await count { _ = try await $0.store.rescue() }
      workers.append(try await probe.register())
    case 16: try await count { try await $0.pass(.seconds(3)) }
    case 17: try await count { try await $0.perform(.cancel(JobFilter(queues: ["b"]))) }
    case 18:
      let ids = jobs.sorted().filter { $0.rawValue % 3 == 0 }
      try await count { try await $0.perform(.abandon(JobFilter(ids: ids))) }
    default: try await retryOrDelete()
    }
  }

  private mutating func enqueue() async throws {
    let new = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
      var options: JobOptions = [.queue(Bool.random(using: &generator) ? "a" : "b"), .maxCrashCount(2)]
      if Int.random(in: 0..<3, using: &generator) == 0 { options.set(.delay(.seconds(2))) }
      if Int.random(in: 0..<3, using: &generator) == 0 {
        options.set(.unique(UniqueKey("\(Int.random(in: 0..<3, using: &generator))", scope: .waiting)))
      }
      return probe.job(options: options)
    }
    for answer in try await probe.store.enqueue(new) {
      try probe.expect(jobs.insert(answer.id).inserted, answer.isNew, "whether job \(answer.id) is new")
    }
  }

  private mutating func claim() async throws {
    let worker = workers[Int.random(in: workers.indices, using: &generator)]
    let queue = Bool.random(using: &generator) ? "a" : "b"
    for job in try await probe.claim(Int.random(in: 1...4, using: &generator), by: worker, queue: queue) {
      attempts.append(try probe.fence(of: job))
    }
  }

  /// Ends an attempt, which might have lost its job or already ended.
  private mutating func end() async throws {
    guard !attempts.isEmpty else { return }
    let fence = attempts[Int.random(in: attempts.indices, using: &generator)]
    let error = JobErrorDescription(type: "Test", text: "")
    let actions: [JobEnding.Action] = [
      .succeed(result: nil), .fail(JobEndReason(.failed), error), .retry(after: .seconds(1), error),
      .retry(after: .zero, error), .snooze(.seconds(1)), .release, .cancel(JobEndReason(.cancelled)),
      .wait(.signal("go"), until: probe.store.now + .seconds(2)),
    ]
    let action = actions[Int.random(in: actions.indices, using: &generator)]
    try await count { probe in
      _ = try await probe.store.exchange(JobExchange(worker: fence.owner, endings: [JobEnding(fence, action)]))
    }
  }

  private mutating func retryOrDelete() async throws {
    let ended = try await probe.store.jobs(JobFilter(states: [.failed, .cancelled]), after: nil, limit: 1_000).map(\.id)
    guard let id = ended.randomElement(using: &generator) else { return }
    guard Bool.random(using: &generator) else {
      try probe.expect(try await probe.perform(.delete(.id(id))), 1, "the number of deleted jobs")
      jobs.remove(id)
      endCounts[id] = nil
      return
    }
    do {
      try probe.expect(try await probe.perform(.retry(.id(id))), 1, "the number of jobs that run again")
      endCounts[id] = nil
    } catch let error as JobError where error.code == .keyHeld {
      return
    }
  }

  /// Makes a change and counts the jobs that have ended in it.
  private mutating func count(_ body: (JobStoreProbe) async throws -> Void) async throws {
    let before = try await unfinished()
    try await body(probe)
    for id in before.subtracting(try await unfinished()) { endCounts[id, default: 0] += 1 }
  }

  private func unfinished() async throws -> Set<JobID> {
    let filter = JobFilter(states: JobState.unfinished)
    return Set(try await probe.store.jobs(filter, after: nil, limit: 10_000).map(\.id))
  }

  /// Runs the remaining jobs until they have ended.
  private mutating func drain() async throws {
    var rounds = 0
    while try await !unfinished().isEmpty {
      rounds += 1
      guard rounds <= 100 else { throw probe.fail("jobs that are left never end") }
      try await count { try await $0.pass(.seconds(3)) }
      for worker in workers {
        try await count { try await $0.store.unregister(worker, isRunningCode: false) }
      }
      workers = [try await probe.register()]
      for queue in ["a", "b"] {
        let claimed = try await probe.claim(100, by: workers[0], queue: queue)
        let endings = try claimed.map { JobEnding(try probe.fence(of: $0), .succeed(result: nil)) }
        let exchange = JobExchange(worker: workers[0], endings: endings)
        try await count { _ = try await $0.store.exchange(exchange) }
      }
    }
  }

  /// Checks that the jobs that were added and have not ended are unfinished.
  private func checkStatistics(unfinishedCount: Int) async throws {
    guard probe.store.keepsStatistics else { return }
    let total = try await probe.store.statistics(over: .hour, queue: nil).total
    try probe.expect(
      total.enqueued + total.restarted - total.ended, unfinishedCount, "the number of unfinished jobs in the statistics"
    )
    probe.fixture.advanceClock(by: .seconds(11))
    try await probe.store.mergeStatistics()
    try probe.expect(try await probe.store.statistics(over: .hour, queue: nil).total, total, "the merged statistics")
  }

  /// Checks that each job that was stored and not deleted is in one state and queue.
  private func check() async throws {
    let stored = try await probe.store.jobs(.all, after: nil, limit: 10_000)
    try probe.expect(stored.map(\.id), jobs.sorted(), "the jobs of the store")
    var counts: [String: JobQueueCounts] = [:]
    for job in stored { counts[job.queue, default: JobQueueCounts()].byState[job.state, default: 0] += 1 }
    try probe.expect(try await probe.store.counts(), counts, "the counts")
    for state in JobState.allCases {
      let listed = try await probe.store.jobs(JobFilter(states: [state]), after: nil, limit: 10_000).map(\.id)
      try probe.expect(listed, stored.filter { $0.state == state }.map(\.id), "the jobs in the state \(state)")
    }
    try await checkStatistics(unfinishedCount: stored.count(where: { !$0.state.isFinished }))
    for job in stored {
      try probe.expect(job.state.isFinished, job.finishedTime != nil, "whether job \(job.id) has a time of its end")
    }
  }
}
