import Headway
import HeadwayTestKit
import Synchronization
import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// The events that listeners receive.
@Suite struct EventTests {
  @Test("J110: the events of a job arrive in order")
  func order() async throws {
    let workshop = Workshop()
    let recording = Recording(workshop.jobs)
    let handle = try await workshop.jobs.enqueue(Flaky(failureCount: 1))
    try await workshop.run(workshop.worker(Flaky.self)) {
      try await workshop.advance(until: handle.id, is: .succeeded)
      await recording.wait { if case .ended(_, .succeed) = $0 { true } else { false } }
    }
    await recording.wait { if case .workerStopped = $0 { true } else { false } }
    let names = recording.events.map(\.name)
    let attempt = ["claimed", "started", "ended"]
    #expect(names == ["enqueued", "workerStarted"] + attempt + attempt + ["workerStopped"])
    let numbers = recording.events.compactMap { if case .started(let attempt) = $0 { attempt.number } else { nil } }
    #expect(numbers == [1, 2])
    let description = recording.events.first?.description
    #expect(description == "enqueued job 1 (flaky) in “default”")
  }

  @Test("J110: when a job adds a batch, an event is delivered for each job in the batch")
  func batchOfJob() async throws {
    let workshop = Workshop()
    let recording = Recording(workshop.jobs)
    let handle = try await workshop.jobs.enqueue(Planner())
    try await workshop.run(workshop.worker(Planner.self, Sum.self)) {
      try await workshop.advance(until: handle.id, is: .succeeded)
    }
    await recording.wait { if case .workerStopped = $0 { true } else { false } }
    let ids = recording.events.compactMap { if case .enqueued(let id, _, _) = $0 { id.rawValue } else { nil } }
    #expect(ids == [1, 2, 3, 4])
  }

  @Test("J110: a job has its recorded state when its end is delivered")
  func endedJob() async throws {
    let workshop = Workshop()
    let recording = Recording(workshop.jobs) { event, jobs in
      guard case .ended(let attempt, _) = event else { return nil }
      return try? await jobs.job(attempt.id)?.state.name
    }
    try await workshop.jobs.enqueue(Sum(left: 1, right: 1))
    try await workshop.run(workshop.worker(Sum.self)) {
      try await workshop.advance(until: JobID(rawValue: 1), is: .succeeded)
      await recording.wait { if case .ended = $0 { true } else { false } }
    }
    #expect(recording.notes == ["succeeded"])
  }

  @Test("J110: progress, children, changed jobs, and paused queues are events")
  func changes() async throws {
    let workshop = Workshop()
    let recording = Recording(workshop.jobs)
    let handle = try await workshop.jobs.enqueue(Producer())
    try await workshop.run(workshop.worker(Producer.self)) {
      try await workshop.advance(until: handle.id, is: .succeeded)
      await recording.wait { if case .ended = $0 { true } else { false } }
    }
    try await workshop.jobs.pauseQueue("mail")
    try await workshop.jobs.pauseQueue("mail")
    try await workshop.jobs.resumeQueue("mail")
    try await workshop.jobs.cancel(JobID(rawValue: 2))
    try await workshop.jobs.cancel(JobID(rawValue: 2))
    let changed = JobEvent.changed(.cancel(.id(JobID(rawValue: 2))), count: 1)
    await recording.wait { $0 == changed }
    let names = recording.events.map(\.name).filter { !$0.hasPrefix("worker") }
    #expect(
      names == [
        "enqueued", "claimed", "started", "progressed", "enqueued", "ended", "paused", "resumed", "changed",
      ])
  }

  @Test("J110: the events of a dead worker's jobs are rescues or crashes")
  func rescued() async throws {
    let workshop = Workshop()
    let recording = Recording(workshop.jobs)
    let options: [JobOptions] = [[], [.maxCrashCount(1)]]
    for options in options { try await workshop.jobs.enqueue(Sum(left: 1, right: 1), .options(options)) }
    let description = WorkerDescription(name: "dead", processIdentifier: 1, queues: ["default"], kinds: ["sum": 1])
    let dead = workshop.store.register(description)
    let claim = JobClaim(queue: "default", count: 2, allowsSuspect: false, kinds: ["sum": 1])
    _ = workshop.store.exchange(JobExchange(worker: dead, claims: [claim]))
    workshop.store.kill(dead)
    try await workshop.run(workshop.worker(Sum.self)) {
      await recording.wait { if case .crashed(JobID(rawValue: 2), _) = $0 { true } else { false } }
      await recording.wait { if case .ended = $0 { true } else { false } }
    }
    #expect(recording.events.contains(.rescued(JobID(rawValue: 1), crashCount: 1)))
  }

  @Test("J110: an attempt that no longer runs its job is an event")
  func leaseLost() async throws {
    let workshop = Workshop()
    let (log, recording) = (Log(), Recording(workshop.jobs))
    let handle = try await workshop.jobs.enqueue(Patient(outcome: "return"))
    try await Log.$current.withValue(log) {
      let worker = workshop.worker(Patient.self)
      try await workshop.run(worker) {
        await log.wait(for: "begun 1")
        try await workshop.jobs.abandon(handle.id)
        while !recording.events.contains(where: { $0.name == "leaseLost" }) { await workshop.passBeats(1) }
      }
    }
    #expect(!recording.events.contains { $0.name == "ended" })
  }

  @Test("J110, J103: the loss and the return of the store are one event each")
  func storeLost() async throws {
    let workshop = Workshop()
    let store = FaultyStore(workshop.store)
    let jobs = Jobs(store, clock: workshop.clock)
    let worker = JobWorker(jobs, kinds: [Sum.self], clock: workshop.clock)
    worker.serve(on: OperationQueue(maxConcurrentOperationCount: 2))
    let recording = Recording(jobs)
    let handle = try await jobs.enqueue(Sum(left: 1, right: 1))
    let running = Task { try await worker.run() }
    try await workshop.advance(until: handle.id, is: .succeeded)
    try await workshop.stop(worker, running)
    await recording.wait { if case .workerStopped = $0 { true } else { false } }
    let names = recording.events.map(\.name).filter { $0.hasPrefix("store") }
    #expect(names.count >= 2 && names.count % 2 == 0)
    for (index, name) in names.enumerated() { #expect(name == (index % 2 == 0 ? "storeLost" : "storeBack")) }
  }

  @Test("J25: code that does not return after its cancellation is reported once")
  func stuck() async throws {
    let workshop = Workshop()
    let (log, recording) = (Log(), Recording(workshop.jobs))
    let handle = try await workshop.jobs.enqueue(Stubborn())
    try await Log.$current.withValue(log) {
      let worker = workshop.worker(Stubborn.self)
      try await workshop.run(worker) {
        await log.wait(for: "begun")
        try await handle.cancel()
        while !recording.events.contains(where: { $0.name == "stuck" }) { await workshop.passBeats(1) }
        await workshop.passBeats(15)
        let sentence = try await workshop.jobs.diagnose(handle.id)
        #expect(sentence.hasSuffix("it was cancelled, and its code has not returned yet"))
        let state = try await handle.job()?.state
        #expect(state == .running)
        log.append("go on")
        try await workshop.advance(until: handle.id, is: .cancelled)
      }
    }
    let durations = recording.events.compactMap { event -> Duration? in
      if case .stuck(_, let duration) = event { duration } else { nil }
    }
    #expect(durations.count == 1)
    #expect(durations.allSatisfy { $0 >= StuckAttempts.patience })
  }

  @Test("J7: jobs of a kind that no worker supports cause one event after a minute")
  func unknownKind() async throws {
    let workshop = Workshop()
    let recording = Recording(workshop.jobs)
    let payload = JobPayload(bytes: Array("{}".utf8))
    _ = try workshop.store.enqueue([
      NewJob(kind: "new", payload: payload), NewJob(kind: "sum", version: 2, payload: payload),
    ])
    let start = workshop.clock.now.offset
    try await workshop.run(workshop.worker(Sum.self)) {
      while recording.events.count(where: { $0.name == "unknownKind" }) < 2 { await workshop.passBeats(1) }
      #expect(workshop.clock.now.offset - start >= UnknownKinds.patience)
      await workshop.passBeats(30)
    }
    let unknown = recording.events.compactMap { event -> String? in
      if case .unknownKind(let jobs, "default") = event { "\(jobs.kind) \(jobs.version)" } else { nil }
    }
    #expect(unknown == ["new 1", "sum 2"])
  }
}

/// The events of jobs, from its creation until it is released.
final class Recording: Sendable {
  private struct State {
    var events: [JobEvent] = []
    var notes: [String] = []
  }

  private let state = Mutex(State())
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Begins to record, with a function that adds notes.
  init(_ jobs: Jobs, _ note: @escaping @Sendable (JobEvent, Jobs) async -> String? = { _, _ in nil }) {
    let iterator = jobs.events.makeAsyncIterator()
    let task = Task { [weak self] in
      var iterator = iterator
      while let event = await iterator.next() {
        let text = await note(event, jobs)
        guard let self else { return }
        state.withLock { state in
          if let text { state.notes.append(text) }
          state.events.append(event)
        }
      }
    }
    self.task.withLock { $0 = task }
  }

  deinit { task.withLock { $0?.cancel() } }

  var events: [JobEvent] { state.withLock { $0.events } }

  var notes: [String] { state.withLock { $0.notes } }

  func wait(for isMeant: (JobEvent) -> Bool) async { while !events.contains(where: isMeant) { await Task.yield() } }
}

extension JobEvent {
  /// The name of the case.
  var name: String {
    // The only case without values, which has no label.
    self == .storeBack ? "storeBack" : Mirror(reflecting: self).children.first?.label ?? ""
  }
}
