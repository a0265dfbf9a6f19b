import Headway
import HeadwayTestKit
import Testing

@_spi(JobStore) @testable import HeadwayJobs

/// Queues that a worker serves by a pattern.
@Suite struct PatternTests {
  private let workshop = Workshop()

  private var jobs: Jobs { workshop.jobs }

  private func worker(_ jobs: Jobs? = nil, _ kinds: any Job.Type...) -> JobWorker {
    JobWorker(jobs ?? self.jobs, kinds: kinds, clock: workshop.clock)
  }

  @Test(
    "J253: a star represents any number of characters, and all other characters represent themselves",
    arguments: [
      ("tenant-*", ["tenant-", "tenant-1", "tenant-*"], ["tenant", "a-tenant-1", "Tenant-1", ""]),
      ("*", ["", "a", "*"], []),
      ("*-mail", ["-mail", "a-mail", "a-mail-mail"], ["mail", "a-mail-"]),
      ("a*b*c", ["abc", "a1b2c", "abbc", "abcbc"], ["ab", "ac", "acb", "abcd", "1abc"]),
      ("a*a", ["aa", "aba"], ["a", "ab"]),
      ("a**b", ["ab", "a1b"], ["a", "b"]),
      ("é*.", ["é.", "éa."], ["e.", "é"]),
    ])
  func matching(pattern: String, names: [String], others: [String]) {
    let matcher = QueuePattern(pattern)
    for name in names { #expect(matcher.matches(name), "\(name)") }
    for name in others { #expect(!matcher.matches(name), "\(name)") }
  }

  @Test("J253: a queue is not added twice if a hint arrives before the worker serves it")
  func hintWhileAdding() {
    var state = WorkerState(claimer: Claimer(queues: [], kinds: ["test": 1]), operationQueues: [])
    #expect(state.noteQueues(["a"]) == true)
    #expect(state.takeNewQueues() == ["a"])
    // The function that returns the operation queue runs without the lock.
    #expect(state.noteQueues(["a", "b"]) == true)
    #expect(state.serve("a", on: OperationQueue(), at: .zero) == true)
    #expect(state.takeNewQueues() == ["b"])
    #expect(state.serve("b", on: OperationQueue(), at: .zero) == true)
    #expect(state.noteQueues(["a", "b"]) == false)
    #expect(state.operationQueues.count == 2 && state.claimer.groups.count == 2)
  }

  @Test(
    "J297: names that differ only in their bytes are different queues, and a hint for either name reaches both queues")
  func equalNames() {
    let (short, long) = ("caf\u{e9}", "cafe\u{301}")
    var state = WorkerState(
      claimer: Claimer(queues: [short], kinds: ["test": 1]), operationQueues: [OperationQueue()])
    #expect(state.noteQueues([short]) == false)
    #expect(state.noteQueues([long]) == true)
    #expect(state.takeNewQueues() == [long])
    _ = state.serve(long, on: OperationQueue(), at: .zero)
    #expect(state.claimer.lanes.map { Array($0.queue.utf8).count } == [5, 6])
    func claim() -> [Int] {
      for group in state.claimer.groups.indices { state.claimer.setSlots(1, group: group) }
      let found = state.claimer.claims(at: .zero)
      state.claimer.claimed(found.map { _ in [] }, by: found.map(\.claim), lanes: found.map(\.lane))
      return found.map(\.claim.queue.utf8.count)
    }
    #expect(claim() == [5, 6])
    #expect(claim() == [])
    #expect(state.claimer.noteClaimable(short) == true)
    #expect(claim() == [5, 6])
    #expect(state.claimer.noteClaimable("other") == false)
  }

  @Test("J254: places of idle queues are removed, or other queues use them")
  func idlePlaces() {
    var state = WorkerState(claimer: Claimer(queues: [], kinds: ["test": 1]), operationQueues: [])
    let queues = (0..<3).map { _ in OperationQueue() }
    func claim(at time: Duration) -> [String] {
      for group in state.claimer.groups.indices { state.claimer.setSlots(1, group: group) }
      let found = state.claimer.claims(at: time)
      state.claimer.claimed(found.map { _ in [] }, by: found.map(\.claim), lanes: found.map(\.lane))
      return found.map(\.claim.queue)
    }
    for (name, queue) in zip(["a", "b", "c"], queues) { _ = state.serve(name, on: queue, at: .zero) }
    #expect(claim(at: .zero) == ["a", "b", "c"])
    state.claimer.noteClaimable("b")
    let unused = state.removeIdleQueues(at: .seconds(60))
    #expect(Set(unused.map(ObjectIdentifier.init)) == [ObjectIdentifier(queues[0]), ObjectIdentifier(queues[2])])
    #expect(state.operationQueues.count == 2 && state.operationQueues[1] === queues[1])
    #expect(claim(at: .seconds(60)) == ["b"])
    _ = state.serve("d", on: queues[2], at: .seconds(60))
    #expect(state.operationQueues.count == 2 && state.operationQueues[0] === queues[2])
    #expect(claim(at: .seconds(60)) == ["d"])
    #expect(state.removeIdleQueues(at: .seconds(120)).count == 2)
    #expect(state.operationQueues.isEmpty && state.claimer.lanes.isEmpty)
  }

  @Test("J253: a worker also serves matching queues that appear while it runs")
  func newQueues() async throws {
    let worker = worker(nil, Sum.self)
    worker.serve(matching: "tenant-*", on: OperationQueue(maxConcurrentOperationCount: 4))
    let other = try await jobs.enqueue(Sum(left: 1, right: 1), .queue("other"))
    try await workshop.run(worker) {
      for number in 1...3 {
        let handle = try await jobs.enqueue(Sum(left: number, right: 1), .queue("tenant-\(number)"))
        #expect(try await handle.value == number + 1)
      }
      let description = try #require(try await jobs.snapshot(.workers).workers.first?.description)
      #expect(description.queues.isEmpty)
      #expect(description.queuePatterns == ["tenant-*"])
    }
    #expect(try await other.job()?.state == .waiting)
  }

  @Test("J253: if hints are lost, a worker finds new queues when it reads the store")
  func lostHints() async throws {
    let jobs = Jobs(FaultyStore(workshop.store, .lostHints), clock: workshop.clock)
    let worker = worker(jobs, Sum.self)
    worker.serve(matching: "tenant-*", on: OperationQueue(maxConcurrentOperationCount: 4))
    try await workshop.run(worker) {
      for number in 1...3 {
        let id = try await jobs.enqueue(Sum(left: number, right: 1), .queue("tenant-\(number)")).id
        try await workshop.advance(until: id, is: .succeeded)
      }
    }
  }

  @Test("J253: a worker finds new queues even if the store can't be advanced")
  func stuck() async throws {
    let store = FaultyStore(workshop.store, .lostHints)
    store.isStuck = true
    let jobs = Jobs(store, clock: workshop.clock)
    let worker = worker(jobs, Sum.self)
    worker.serve(matching: "tenant-*", on: OperationQueue(maxConcurrentOperationCount: 4))
    try await workshop.run(worker) {
      let id = try await jobs.enqueue(Sum(left: 1, right: 1), .queue("tenant-1")).id
      try await workshop.advance(until: id, is: .succeeded)
    }
  }

  @Test("J253, J199: a drain finds all queues that match, including queues that its jobs add jobs to")
  func drain() async throws {
    for number in 0..<250 { try await jobs.enqueue(Sum(left: 1, right: 1), .queue("other-\(number)")) }
    for number in 0..<250 { try await jobs.enqueue(Sum(left: 1, right: 1), .queue("tenant-\(number)")) }
    try await jobs.enqueue(Spreading(), .queue("tenant-first"))
    let worker = worker(nil, Sum.self, Spreading.self)
    worker.serve(matching: "tenant-*", on: OperationQueue(maxConcurrentOperationCount: 4))
    try await worker.drain()
    let found = try await jobs.jobs(limit: 1_000)
    #expect(found.count { $0.state == .succeeded && $0.queue.hasPrefix("tenant-") } == 252)
    #expect(found.count { $0.state == .waiting && $0.queue.hasPrefix("other-") } == 250)
  }

  @Test("J253: each queue that matches can have its own slots")
  func ownSlots() async throws {
    let (log, made) = (Log(), Log())
    try await Log.$current.withValue(log) {
      let worker = worker(nil, Stubborn.self, Sum.self)
      worker.serve(matching: "tenant-*") { name in
        made.append(name)
        return OperationQueue(maxConcurrentOperationCount: 1)
      }
      let running = Task { try await worker.run() }
      let long = try await jobs.enqueue(Stubborn(), .queue("tenant-1"))
      await log.wait(for: "begun")
      let second = try await jobs.enqueue(Sum(left: 1, right: 2), .queue("tenant-1"))
      let other = try await jobs.enqueue(Sum(left: 1, right: 2), .queue("tenant-2"))
      #expect(try await other.value == 3)
      #expect(try await second.job()?.state == .waiting)
      log.append("go on")
      #expect(try await second.value == 3)
      try await long.untilSucceeded()
      try await workshop.stop(worker, running)
    }
    #expect(made.entries == ["tenant-1", "tenant-2"])
  }

  @Test("J253: a queue that is served by name is not served by a pattern")
  func name() async throws {
    let suspended = OperationQueue()
    suspended.isSuspended = true
    let worker = worker(nil, Sum.self)
    worker.serve(matching: "tenant-*", on: OperationQueue())
    worker.serve("tenant-1", on: suspended)
    let first = try await jobs.enqueue(Sum(left: 1, right: 1), .queue("tenant-1"))
    let second = try await jobs.enqueue(Sum(left: 1, right: 1), .queue("tenant-2"))
    try await worker.drain()
    #expect(try await first.job()?.state == .waiting)
    #expect(try await second.job()?.state == .succeeded)
  }

  @Test("J253: if several patterns match a queue, the first one is used")
  func order() async throws {
    let worker = worker(nil, Sum.self)
    let made = Log()
    for pattern in ["a*", "*b", "*"] {
      worker.serve(matching: pattern) { name in
        made.append("\(pattern) \(name)")
        return OperationQueue()
      }
    }
    for queue in ["ab", "b", "c"] { try await jobs.enqueue(Sum(left: 1, right: 1), .queue(queue)) }
    try await worker.drain()
    #expect(made.entries == ["a* ab", "*b b", "* c"])
  }

  @Test("J253: a description contains the queues that a pattern serves")
  func description() {
    let description = WorkerDescription(
      name: "test", processIdentifier: 1, queues: ["a"], queuePatterns: ["tenant-*"], kinds: [:])
    #expect(["a", "b", "tenant-1"].filter(description.serves) == ["a", "tenant-1"])
  }

  @Test("J253: serving a pattern without a star, or serving a pattern twice, is a misuse")
  func misuse() async {
    await #expect(processExitsWith: .failure) {
      JobWorker(Jobs(MemoryJobStore()), kinds: [Sum.self]).serve(matching: "tenant", on: OperationQueue())
    }
    await #expect(processExitsWith: .failure) {
      let worker = JobWorker(Jobs(MemoryJobStore()), kinds: [Sum.self])
      for _ in 0..<2 { worker.serve(matching: "tenant-*", on: OperationQueue()) }
    }
  }
}

/// Enqueues a job in another queue.
private struct Spreading: Job {
  static let kind: JobKind = "spreading"

  func perform(in context: JobContext) async throws {
    try await context.enqueue(Sum(left: 1, right: 1), .queue("tenant-last"))
  }
}
