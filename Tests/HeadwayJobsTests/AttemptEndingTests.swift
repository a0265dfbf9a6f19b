import HeadwayTestKit
import Testing

@testable import HeadwayJobs

/// How the end of an operation becomes the ending of an attempt.
@Suite struct AttemptEndingTests {
  private var generator = SeededGenerator(seed: 39)
  private let now = StoreTime(microseconds: 0)

  @Test("J40: the pauses are 2 s, 4 s, … up to 1 h, and vary by a quarter")
  mutating func pauses() {
    for attempt in 1...19 {
      let base = min(3_600, pow2(attempt))
      guard case .retry(let pause, let error) = action(error: TestError(), attempt: attempt) else {
        Issue.record("Attempt \(attempt) is not repeated.")
        continue
      }
      #expect(pause >= .seconds(base) * 0.75 && pause <= .seconds(base) * 1.25)
      #expect(error.text == #"TestError(text: "test")"#)
    }
    guard case .fail(let reason, _) = action(error: TestError(), attempt: 20) else {
      Issue.record("The last attempt is repeated.")
      return
    }
    #expect(reason.code == .failed)
  }

  @Test("J42: an attempt that the shutdown interrupts is released, whatever it throws")
  mutating func interrupted() {
    #expect(action(error: TestError(), cause: .stopping) == .release)
    #expect(action(error: CancellationError(), cause: .stopping) == .release)
    #expect(action(error: nil, isCancelled: true, cause: .stopping) == .release)
  }

  @Test("J52: a cancelled job that throws another error has failed, and one that returns is cancelled")
  mutating func requested() {
    #expect(action(error: nil, isCancelled: true, cause: .requested) == .cancel(JobEndReason(.cancelled)))
    guard case .fail = action(error: TestError(), isCancelled: true, cause: .requested) else {
      Issue.record("A cancelled job is repeated.")
      return
    }
  }

  @Test("J130: an operation that something else cancels before it begins goes back to the store")
  mutating func cancelledElsewhere() {
    #expect(action(error: nil, isCancelled: true, hasBegun: false) == .snooze(.seconds(1)))
    let reason = JobEndReason(.cancelled, "Its operation was cancelled.")
    #expect(action(error: CancellationError(), isCancelled: true) == .cancel(reason))
  }

  private mutating func action(
    error: (any Error)?, attempt: Int = 1, isCancelled: Bool = false, hasBegun: Bool = true,
    cause: WorkerState.CancellationCause? = nil
  ) -> JobEnding.Action {
    var job = JobRecord(
      id: JobID(rawValue: 1), NewJob(kind: "test", payload: JobPayload(bytes: [])), at: now)
    job.attempt = attempt
    let ending = AttemptEnding(
      job: job, error: error, isCancelled: isCancelled, hasBegun: hasBegun, cause: cause, result: nil)
    return ending.action(at: now, using: &generator)
  }

  private func pow2(_ exponent: Int) -> Double { (0..<exponent).reduce(1.0) { product, _ in product * 2 } }
}
