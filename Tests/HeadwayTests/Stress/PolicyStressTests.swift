import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Policies under load", .hangLimit) struct PolicyStressTests {
  private struct Failure: Error {}

  /// Concurrent work.
  private final class Crowds: Sendable {
    let resources = (0..<3).map { _ in Crowd() }
    let keys = (0..<3).map { _ in Crowd() }
    let all = Crowd()
  }

  @Test("X1, X2, X3, X4, X6, X7: with several policies for each operation, no limit is exceeded and nothing is lost")
  func conservation() async throws {
    let first = environmentNumber("HEADWAY_STRESS_SEED") ?? 1
    for seed in first..<first + (environmentNumber("HEADWAY_STRESS_ROUNDS") ?? 20) {
      print("PolicyStressTests: HEADWAY_STRESS_SEED=\(seed)")
      noteProgress(of: "PolicyStressTests", "HEADWAY_STRESS_SEED=\(seed)")
      try await run(seed: seed)
    }
  }

  private func run(seed: Int) async throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let (crowds, queue) = (Crowds(), OperationQueue(name: "stress", maxConcurrentOperationCount: 5))
    // A clock of its own, so that its alarms can be counted.
    queue.clock = ContinuousClock()
    let count = 2
    queue.defaultKeyPolicy = KeyPolicy(
      weight: seed % 3 + 1, maxConcurrentOperationCount: count,
      rateLimit: seed % 2 == 0 ? RateLimit(20, per: .milliseconds(1), burst: 10) : nil,
      circuitBreaker: seed % 5 == 0 ? CircuitBreaker(maxFailureCount: 2, openDuration: .milliseconds(1)) : nil)
    if seed % 4 == 0 { queue.rateLimit = RateLimit(50, per: .milliseconds(1), burst: 5) }
    let tasks = (0..<120).map { number in
      let (resource, key) = (number % 4, Int.random(in: 0..<4, using: &generator))
      let failureCount = Int.random(in: 0...3, using: &generator)
      let policy = OperationPolicy(
        delay: number % 5 == 0 ? .microseconds(Int.random(in: 1...2_000, using: &generator)) : nil,
        timeout: number % 7 == 0 ? .microseconds(Int.random(in: 1...2_000, using: &generator)) : nil,
        exclusiveResources: resource < 3 ? ["stress \(seed) \(resource)"] : [], key: key < 3 ? "\(key)" : nil)
      let retry = RetryPolicy.constant(
        maxAttemptCount: 3, delay: .microseconds(Int.random(in: 0...1_000, using: &generator)))
      let operation = TaskOperation(.retry(retry)) { attempt in
        let inside =
          [crowds.all] + (resource < 3 ? [crowds.resources[resource]] : []) + (key < 3 ? [crowds.keys[key]] : [])
        inside.forEach { $0.enter() }
        defer { inside.forEach { $0.leave() } }
        await Task.yield()
        try Task.checkCancellation()
        if attempt <= failureCount { throw Failure() }
      }
      operation.policy = policy
      operation.queuePriority = QueuePriority.allCases.randomElement(using: &generator) ?? .normal
      return operation
    }
    queue.addOperations(tasks, waitUntilFinished: false)
    let victims = (0..<20).map { _ in tasks.randomElement(using: &generator) }
    async let cancellation: Void = Task.detached { victims.forEach { $0?.cancel() } }.value
    for task in tasks { try await task.untilFinished() }
    await cancellation
    try await queue.untilAllOperationsAreFinished()
    for task in tasks {
      #expect(task.isFinished && task.attempt <= 3 && task.attemptErrors.count <= task.attempt, "seed \(seed)")
    }
    #expect(crowds.resources.allSatisfy { $0.most <= 1 && $0.now == 0 }, "seed \(seed)")
    #expect(crowds.keys.allSatisfy { $0.most <= count && $0.now == 0 }, "seed \(seed)")
    #expect(crowds.all.most <= 5 && queue.operationCount == 0, "seed \(seed)")
    let members = queue.state.withLock { $0.admission.policies?.lanes?.lanes.count { $0.memberCount > 0 } ?? 0 }
    #expect(members == 0, "seed \(seed)")
  }
}
