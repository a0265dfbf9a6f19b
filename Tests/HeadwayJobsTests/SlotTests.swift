import Headway
@_spi(JobStore) import HeadwayJobs
import HeadwayTestKit
import Testing

/// Jobs that a worker leaves to other workers, because it has no slot for them.
@Suite struct SlotTests {
  /// Starts a worker for several queues of the store.
  private func start(
    _ workshop: Workshop, _ queues: [String], on operationQueue: OperationQueue, _ kinds: any Job.Type...
  ) -> (worker: JobWorker, running: Task<Void, any Error>) {
    let worker = JobWorker(workshop.jobs, kinds: kinds, clock: workshop.clock)
    for queue in queues { worker.serve(queue, on: operationQueue) }
    return (worker, Task { try await worker.run() })
  }

  @Test("J22: a busy worker claims no jobs of its other queues that share the operation queue")
  func sharedQueue() async throws {
    let (workshop, log) = (Workshop(), Log())
    let queues = ["first", "second", "third"]
    try await Log.$current.withValue(log) {
      let busy = start(workshop, queues, on: OperationQueue(maxConcurrentOperationCount: 1), Stubborn.self, Sum.self)
      let long = try await workshop.jobs.enqueue(Stubborn(), .queue("first"))
      await log.wait(for: "begun")
      let sums = try await queues.asyncMap { try await workshop.jobs.enqueue(Sum(left: 1, right: 2), .queue($0)) }
      await workshop.passBeats(2)
      for sum in sums { #expect(try await sum.job()?.state == .waiting) }
      let other = start(workshop, queues, on: OperationQueue(maxConcurrentOperationCount: 1), Sum.self)
      for sum in sums { #expect(try await sum.value == 3) }
      #expect(try await long.job()?.state == .running)
      log.append("go on")
      try await long.untilSucceeded()
      for (worker, running) in [busy, other] { try await workshop.stop(worker, running) }
    }
  }

  @Test(
    "J22: a worker claims no jobs for slots that other operations use, until these operations have ended")
  func otherOperations() async throws {
    let (workshop, log) = (Workshop(), Log())
    let queue = OperationQueue(maxConcurrentOperationCount: 1)
    queue.addOperation(TaskOperation { await log.wait(for: "go on") })
    let sum = try await workshop.jobs.enqueue(Sum(left: 1, right: 2))
    let (worker, running) = start(workshop, ["default"], on: queue, Sum.self)
    await workshop.passBeats(2)
    #expect(try await sum.job()?.state == .waiting)
    log.append("go on")
    try await workshop.advance(until: sum.id, is: .succeeded)
    try await workshop.stop(worker, running)
  }

  @Test("J22: workers that share an operation queue share its slots")
  func workersOfOneQueue() async throws {
    let (first, second) = (Workshop(), Workshop())
    let (log, queue) = (Log(), OperationQueue(maxConcurrentOperationCount: 2))
    for (name, workshop) in [("a", first), ("b", second)] { try await workshop.jobs.enqueue(Held(name: name)) }
    try await Log.$current.withValue(log) {
      let workers = [first, second].map { start($0, ["default"], on: queue, Held.self) }
      for name in ["a", "b"] { await log.wait(for: name) }
      queue.maxConcurrentOperationCount = 1
      for (name, workshop) in [("a", first), ("b", second)] {
        for number in 1...5 { try await workshop.jobs.enqueue(Held(name: "\(name)\(number)")) }
        Held.ended.append(name)
      }
      var claimed = log.entries
      while claimed.count < 12 {
        // One job is claimed at a time, from either store.
        while log.entries.count == claimed.count {
          for workshop in [first, second] where workshop.clock.sleeperCount > 0 {
            workshop.clock.advance(by: .milliseconds(100))
          }
          await Task.yield()
        }
        #expect(queue.operationCount == 1)
        let name = try #require(log.entries.last)
        claimed.append(name)
        Held.ended.append(name)
      }
      #expect(Set(claimed).count == 12)
      for ((worker, running), workshop) in zip(workers, [first, second]) { try await workshop.stop(worker, running) }
    }
  }

  @Test(
    "J181: a job that waits in a queue without free slots is given back, and runs elsewhere",
    arguments: ["suspended", "without slots"])
  func givenBack(change: String) async throws {
    let workshop = Workshop()
    let queue = OperationQueue(maxConcurrentOperationCount: 1)
    let handle = try await workshop.jobs.enqueue(Stopping(change: change))
    let (worker, running) = Stopping.$queue.withValue(queue) { start(workshop, ["default"], on: queue, Stopping.self) }
    while try await handle.job()?.epoch != 1 || queue.operationCount == 0 { await Task.yield() }
    while try await handle.job()?.state != .waiting { await workshop.passBeats(1) }
    #expect(try await handle.job()?.attempt == 0)
    let other = start(workshop, ["default"], on: OperationQueue(), Stopping.self)
    #expect(try await handle.value == 1)
    queue.isSuspended = false
    for (worker, running) in [(worker, running), other] { try await workshop.stop(worker, running) }
  }
}

/// Stops its operation queue between the claim and the start of its operation.
private struct Stopping: Job {
  static let kind: JobKind = "stopping"
  @TaskLocal static var queue: OperationQueue?
  var change: String

  init(change: String) { self.change = change }

  init(from decoder: any Decoder) throws {
    change = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .change)
    if change == "suspended" {
      Self.queue?.isSuspended = true
    } else {
      Self.queue?.maxConcurrentOperationCount = 0
    }
  }

  private enum CodingKeys: CodingKey {
    case change
  }

  func perform(in context: JobContext) async throws -> Int { context.attempt }
}

/// Runs until the test ends it.
private struct Held: Job {
  static let kind: JobKind = "held"
  static let ended = Log()
  var name: String
  func perform(in context: JobContext) async throws {
    Log.current.append(name)
    await Self.ended.wait(for: name)
  }
}

extension Sequence {
  fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await body(element)) }
    return results
  }
}
