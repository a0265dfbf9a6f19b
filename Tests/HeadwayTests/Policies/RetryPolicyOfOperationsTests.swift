import HeadwayTestKit
import HeadwayTestSupport
import Testing

@testable import Headway

@Suite("Retries of a policy", HangLimit()) struct RetryPolicyOfOperationsTests {
  private let policy = OperationPolicy(retry: .constant(maxAttemptCount: 3, delay: .zero))

  @Test("X10, X2: a policy repeats a function that does not receive the number of the attempt") func plainFunction()
    async throws
  {
    let (queue, calls) = (OperationQueue(), Counter())
    let operation = TaskOperation { if calls.increment() < 3 { throw Mishap() } }
    operation.policy = policy
    #expect(operation.policy == policy && operation.attempt == 0)
    try await queue.run(operation)
    #expect(calls.value == 3 && operation.attempt == 3 && operation.attemptErrors.count == 2)
    #expect(operation.policy == policy)
  }

  @Test("X10: a policy also repeats the function of an operation that is started manually") func startedManually()
    async throws
  {
    let calls = Counter()
    let operation = TaskOperation(.policy(policy)) { if calls.increment() < 3 { throw Mishap() } }
    operation.start()
    try await operation.value
    #expect(calls.value == 3)
  }

  @Test("X10: a function that receives the number of the attempt is called once without a retry policy") func once()
    async throws
  {
    let queue = OperationQueue()
    let operation = queue.addTask { attempt in attempt }
    #expect(try await operation.value == 1)
    #expect(operation.attempt == 0)
    let failing = queue.addTask(.policy(policy), .policy(OperationPolicy())) { throw Mishap() }
    await #expect(throws: Mishap.self) { try await failing.value }
    #expect(failing.attemptErrors.isEmpty)
  }

  @Test("X10: the selection of errors stays if the policy is changed") func selection() async throws {
    let (queue, calls) = (OperationQueue(), Counter())
    let operation = TaskOperation(.retry(.never, if: { !($0 is Mishap) })) {
      calls.increment()
      throw Mishap()
    }
    operation.policy.retry?.maxAttemptCount = 9
    operation.policy.timeout = .seconds(60)
    queue.addOperation(operation)
    await #expect(throws: Mishap.self) { try await operation.value }
    #expect(calls.value == 1 && operation.policy.retry?.maxAttemptCount == 9)
  }
}
