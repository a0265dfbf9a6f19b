import Dispatch
import HeadwayTestKit
import Synchronization
import Testing

@testable import Headway

@Suite("Stress", .hangLimit, .serialized) struct StressTests {
  @Test("O1, O3, O6, C7, D3, K2, Q3, Q8, W1: under load each operation ends once, all rules hold, and nothing remains")
  func mayhem() {
    let rounds = environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50
    let first = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    print("Stress: \(rounds) rounds from HEADWAY_STRESS_SEED=\(first)")
    for seed in first..<first + rounds {
      noteProgress(of: "Stress", "HEADWAY_STRESS_SEED=\(seed)")
      let census: Crowd
      do {
        let mayhem = Mayhem(seed: UInt64(seed))
        census = mayhem.census
        mayhem.run()
        let operations = mayhem.operations.withLock { $0 }
        #expect(mayhem.complaints.events == [], "seed \(seed)")
        #expect(mayhem.queues.allSatisfy { $0.operationCount == 0 && $0.operations.isEmpty }, "seed \(seed)")
        #expect(mayhem.crowds[0].most <= 2 && mayhem.crowds[1].most <= 1, "seed \(seed)")
        #expect(operations.allSatisfy { $0.isFinished }, "seed \(seed)")
        #expect(eventually { operations.allSatisfy { $0.calls.withLock { $0.completed } == 1 } }, "seed \(seed)")
        #expect(eventually { operations.allSatisfy { $0.dependencies.isEmpty } }, "seed \(seed)")
        for operation in operations {
          if !eventually({ operation.whatIsWrong == nil }), let wrong = operation.whatIsWrong {
            Issue.record("seed \(seed): \(operation.debugDescription): \(wrong)")
          }
        }
        mayhem.operations.withLock { $0 = [] }
      }
      #expect(census.eventuallyEmpty(), "seed \(seed): \(census.now) operations are alive")
    }
  }

  @Test("D8: a dependency can finish while its dependent is cancelled and freed") func freedWhileCountedDown() {
    let pairs = 40 * (environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 50)
    let census = Crowd()
    let queue = OperationQueue()
    queue.isSuspended = true
    let dependencies = (0..<pairs).map { _ in BlockOperation {} }
    for dependency in dependencies {
      let dependent = CountedOperation(census)
      dependent.addDependency(dependency)
      queue.addOperation(dependent)
    }
    let dependents = Mutex(Array(queue.operations.reversed()))
    let turns = (Turn(), Turn())
    onThreads(2) { number in
      for position in 0..<pairs {
        if number == 0 {
          turns.0.take(position, after: turns.1)
          dependencies[position].start()
        } else {
          let dependent = dependents.withLock { $0.removeLast() }
          turns.1.take(position, after: turns.0)
          dependent.cancel()
        }
      }
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(census.eventuallyEmpty())
  }

  @Test("Q11: operations and queues are created, used, and released by many threads concurrently") func shortLived() {
    let census = Crowd()
    onThreads(4) { number in
      for round in 0..<500 {
        let queue = OperationQueue(limit: 1 + round % 3)
        let first = CountedOperation(census)
        for _ in 0..<4 {
          let operation = CountedOperation(census)
          operation.addDependency(first)
          queue.addOperation(operation)
          if round % 5 == number { operation.cancel() }
        }
        queue.addOperation(first)
        queue.addBarrierBlock {}
        queue.addOperation(CountedOperation(census))
        if round % 2 == 0 { queue.waitUntilAllOperationsAreFinished() }
      }
    }
    #expect(census.eventuallyEmpty())
  }

  @Test("W3: tasks that wait and are cancelled at random never hang or miss the end") func cancelledTasks() async throws
  {
    for seed in 0..<20 {
      var generator = SeededGenerator(seed: UInt64(seed))
      let queue = OperationQueue(limit: 2)
      let isCancelled = (0..<50).map { _ in Bool.random(using: &generator) }
      let ended = await withTaskGroup(of: Bool.self) { group in
        var tasks: [Task<Void, any Error>] = []
        for _ in 0..<50 {
          let operation = BlockOperation {}
          queue.addOperation(operation)
          tasks.append(Task { try await operation.untilFinished() })
        }
        for (task, isCancelled) in zip(tasks, isCancelled) {
          if isCancelled { task.cancel() }
          group.addTask {
            do {
              try await task.value
              return true
            } catch { return error is CancellationError && isCancelled }
          }
        }
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(ended == 50, "seed \(seed)")
      try await queue.untilAllOperationsAreFinished()
    }
  }
}

/// Makes two threads continue in step, as simultaneously as possible.
private final class Turn: Sendable {
  private let position = Atomic<Int>(-1)

  func take(_ new: Int, after other: Turn) {
    position.store(new, ordering: .releasing)
    while other.position.load(ordering: .acquiring) < new { yieldThread() }
  }
}
