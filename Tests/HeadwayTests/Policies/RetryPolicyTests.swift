import HeadwayTestKit
import Testing

@testable import Headway

@Suite("Retry policy") struct RetryPolicyTests {
  private struct Busy: RetryableError {
    var retryDelay: Duration?
    var isRetryable = true
  }

  private func delays(_ policy: RetryPolicy, count: Int, seed: UInt64 = 1) -> [Duration?] {
    var random = SeededGenerator(seed: seed)
    return (1...count).map { policy.delay(after: Mishap(), attempt: $0, using: &random) }
  }

  @Test("X2: pauses follow the backoff, and end with the number of attempts")
  func backoff() {
    #expect(
      delays(.constant(maxAttemptCount: 3, delay: .seconds(2)), count: 4) == [.seconds(2), .seconds(2), nil, nil])
    let exponential = RetryPolicy(
      maxAttemptCount: 6, backoff: .exponential(initialDelay: .seconds(1), factor: 3, maxDelay: .seconds(20)),
      jitter: .none)
    #expect(delays(exponential, count: 6) == [.seconds(1), .seconds(3), .seconds(9), .seconds(20), .seconds(20), nil])
    let custom = RetryPolicy(
      maxAttemptCount: 5, backoff: .custom([.seconds(1), .seconds(5)]), jitter: .none)
    #expect(delays(custom, count: 5) == [.seconds(1), .seconds(5), .seconds(5), .seconds(5), nil])
    var random = SeededGenerator(seed: 1)
    #expect(custom.delay(after: Mishap(), attempt: 0, using: &random) == .seconds(1))
    #expect(delays(.never, count: 2) == [nil, nil])
  }

  @Test("X2: a huge number of attempts does not overflow")
  func hugeAttempt() {
    var random = SeededGenerator(seed: 1)
    let policy = RetryPolicy(
      maxAttemptCount: .max, backoff: .exponential(initialDelay: .seconds(1), factor: 2, maxDelay: .seconds(60)),
      jitter: .none)
    #expect(policy.delay(after: Mishap(), attempt: .max - 1, using: &random) == .seconds(60))
  }

  @Test("X2: computing the length of a late pause takes no longer than computing an early one", arguments: [1, 7, 40])
  func lateAttempt(seconds: Int) {
    var random = SeededGenerator(seed: 1)
    func policy(_ factor: Double) -> RetryPolicy {
      RetryPolicy(
        maxAttemptCount: .max,
        backoff: .exponential(initialDelay: .seconds(1), factor: factor, maxDelay: .seconds(seconds)),
        jitter: .none)
    }
    // A loop over the attempts would take years.
    #expect(policy(1).delay(after: Mishap(), attempt: .max - 1, using: &random) == .seconds(1))
    #expect(policy(1.000_000_000_1).delay(after: Mishap(), attempt: .max - 1, using: &random) == .seconds(seconds))
    var expected = 1.0
    for attempt in 2...100 {
      expected *= 1.037
      let delay = policy(1.037).delay(after: Mishap(), attempt: attempt, using: &random).map { $0 / .seconds(1) } ?? 0
      #expect(abs(delay - min(expected, Double(seconds))) < 1e-9)
    }
  }

  @Test(
    "X2: with full jitter, pauses are between zero and the backoff, and repeat with the same seed", arguments: 1...20)
  func jitter(seed: UInt64) {
    let policy = RetryPolicy.exponential(maxAttemptCount: 8, initialDelay: .seconds(1), maxDelay: .seconds(10))
    let first = delays(policy, count: 7, seed: seed)
    #expect(first == delays(policy, count: 7, seed: seed))
    for (delay, longest) in zip(first, [1, 2, 4, 8, 10, 10, 10]) {
      #expect(delay.map { $0 >= .zero && $0 <= .seconds(longest) } == true)
    }
  }

  @Test("X2: an error can rule out another attempt, or set the pause")
  func retryableError() {
    var random = SeededGenerator(seed: 1)
    let policy = RetryPolicy.exponential(maxAttemptCount: 5)
    #expect(policy.delay(after: Busy(retryDelay: .seconds(77)), attempt: 1, using: &random) == .seconds(77))
    #expect(policy.delay(after: Busy(isRetryable: false), attempt: 1, using: &random) == nil)
    #expect(policy.delay(after: Busy(retryDelay: .seconds(-1)), attempt: 1, using: &random) == .zero)
    var strict = policy
    strict.maxRequestedDelay = .seconds(76)
    #expect(strict.delay(after: Busy(retryDelay: .seconds(77)), attempt: 1, using: &random) == nil)
    #expect(strict.delay(after: Busy(retryDelay: .seconds(76)), attempt: 1, using: &random) == .seconds(76))
  }

  @Test("X2: no attempt begins after the total time")
  func totalTime() {
    var random = SeededGenerator(seed: 1)
    var policy = RetryPolicy.constant(maxAttemptCount: 10, delay: .seconds(3))
    policy.maxElapsedTime = .seconds(10)
    #expect(policy.delay(after: Mishap(), attempt: 2, elapsed: .seconds(7), using: &random) == .seconds(3))
    #expect(policy.delay(after: Mishap(), attempt: 2, elapsed: .seconds(8), using: &random) == nil)
  }

  @Test("X2: a policy without attempts, without pauses, or with a negative pause is a programming error")
  func misuse() async throws {
    await #expect(processExitsWith: .failure) { _ = RetryPolicy.exponential(maxAttemptCount: 0) }
    await #expect(processExitsWith: .failure) { _ = RetryPolicy.constant(maxAttemptCount: 2, delay: .seconds(-1)) }
    await #expect(processExitsWith: .failure) { _ = RetryPolicy(maxAttemptCount: 2, backoff: .custom([])) }
  }
}
