import Synchronization

/// An operation that can repeat its function.
protocol RepeatingOperation: Operation {}

/// The parts of a retry that a ``RetryPolicy`` does not contain, because they are code.
struct RetryChoice: Sendable {
  /// Returns whether an error is worth another attempt; nil if every error is.
  var isRetried: (@Sendable (any Error) -> Bool)?
  var generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
}

/// The attempts of a task operation that repeats its function when it fails.
final class TaskAttempts: Sendable {
  private struct State {
    var number = 0
    var errors: [any Error] = []
    var generator: any RandomNumberGenerator & Sendable
  }

  let policy: RetryPolicy
  /// As it was given.
  let choice: RetryChoice
  private let state: Mutex<State>

  init(_ policy: RetryPolicy, _ choice: RetryChoice) {
    (self.policy, self.choice) = (policy, choice)
    state = Mutex(State(generator: choice.generator))
  }

  /// The number of the current or last attempt, from 1; 0 before the first.
  var number: Int { state.withLock { $0.number } }

  /// The errors of the attempts that have failed, in order.
  var errors: [any Error] { state.withLock { $0.errors } }

  /// Calls a function until it succeeds, or the policy allows no further attempt.
  ///
  /// - Parameters:
  ///   - operation: The operation that makes the attempts. The caller is in its task.
  ///   - executor: Runs the function.
  ///   - body: The function to call. It receives the number of the attempt.
  /// - Returns: The result of the function.
  /// - Throws: The error of the last attempt; `CancellationError` if the task was cancelled during a pause.
  func run<Success: Sendable>(
    of operation: Operation, on executor: some TaskExecutor,
    _ body: @escaping @Sendable (_ attempt: Int) async throws -> Success
  ) async throws -> Success {
    guard let gate = operation.timedGate else { misuse("\(operation) has attempts and no policy.") }
    let begin = gate.time
    while true {
      let number = state.withLock { state in
        state.number += 1
        return state.number
      }
      do {
        return try await operation.runAttempt(number) {
          try await gate.runAttempt(on: executor) { try await body(number) }
        }
      } catch {
        let elapsed = Duration.nanoseconds(gate.time - begin)
        guard let delay = delay(after: error, attempt: number, elapsed: elapsed) else { throw error }
        let attempt = Transition.FailedAttempt(number: number, error: error, delay: delay, time: gate.time)
        operation.note(.paused(attempt), in: operation.queue)
        try await operation.pause(for: delay, keepsSlot: policy.keepsSlot)
        // The pause may have been longer than intended: the clock passed its end, or the operation waited for its turn.
        try gate.requireTime()
        if let longest = policy.maxElapsedTime, .nanoseconds(gate.time - begin) > longest { throw error }
        operation.note(.resumed, in: operation.queue)
      }
    }
  }

  /// Records the error of an attempt and returns the pause before the next attempt, or nil if there is none.
  private func delay(after error: any Error, attempt: Int, elapsed: Duration) -> Duration? {
    // A cancelled task does not try again, whatever it throws.
    let isCancelled = Task.isCancelled
    if isCancelled, error is CancellationError { return nil }
    state.withLock { $0.errors.append(error) }
    guard !isCancelled, choice.isRetried?(error) != false else { return nil }
    // The generator is user code, so it is not called under the lock. No other thread makes attempts.
    var generator = AnyGenerator(base: state.withLock { $0.generator })
    defer { state.withLock { $0.generator = generator.base } }
    return policy.delay(after: error, attempt: attempt, elapsed: elapsed, using: &generator)
  }

  private struct AnyGenerator: RandomNumberGenerator {
    var base: any RandomNumberGenerator & Sendable
    mutating func next() -> UInt64 { base.next() }
  }
}
