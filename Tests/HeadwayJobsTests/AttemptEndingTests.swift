import HeadwayTestKit
import Testing

@_spi(JobStore) @testable import HeadwayJobs

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

  @Test("J42: an attempt that the shutdown interrupts is released, no matter what error it throws")
  mutating func interrupted() {
    #expect(action(error: TestError(), cause: .stopping) == .release)
    #expect(action(error: CancellationError(), cause: .stopping) == .release)
    #expect(action(error: nil, isCancelled: true, cause: .stopping) == .release)
  }

  @Test("J52: a cancelled job that throws another error has failed, and a cancelled job that returns is cancelled")
  mutating func requested() {
    #expect(action(error: nil, isCancelled: true, cause: .requested) == .cancel(JobEndReason(.cancelled)))
    guard case .fail = action(error: TestError(), isCancelled: true, cause: .requested) else {
      Issue.record("A cancelled job is repeated.")
      return
    }
  }

  @Test("J52: a CancellationError without a request to cancel counts as an error, and the job is retried")
  mutating func unrequested() {
    guard case .retry(_, let error) = action(error: CancellationError()) else {
      Issue.record("The job is not retried.")
      return
    }
    #expect(error.type == "Swift.CancellationError")
    guard case .fail(let reason, _) = action(error: CancellationError(), attempt: 20) else {
      Issue.record("The last attempt is repeated.")
      return
    }
    #expect(reason.code == .failed)
    #expect(
      action(error: CancellationError(), isCancelled: true, cause: .requested) == .cancel(JobEndReason(.cancelled)))
    // The operation had ended before the worker cancelled it.
    guard case .fail = action(error: CancellationError(), cause: .requested) else {
      Issue.record("A cancelled job is repeated.")
      return
    }
  }

  @Test("J180: a permanent error is not retried, even when the worker stops")
  mutating func permanent() {
    for code in [
      JobError.Code.payloadTooLarge, .nameTooLong, .unencodablePayload, .unknownJob, .usedOperation,
      .duplicateCheckpoint, .transactionEnded, .dependencyCycle, .alreadyFinished, .wouldDeadlock,
      .undecodableSignal,
    ] {
      for cause in [nil, .stopping] as [WorkerState.CancellationCause?] {
        guard case .fail(let reason, let error) = action(error: JobError(code, "text"), cause: cause) else {
          Issue.record("\(code) is repeated.")
          continue
        }
        #expect(reason.code == .failed)
        #expect(error?.text == "text")
      }
    }
    for code in [
      JobError.Code.undecodablePayload, .queueFull, .storeFailed, .storeFull, .outcomeUnknown, .timeLimitExceeded,
    ] {
      guard case .retry = action(error: JobError(code, "text")) else {
        Issue.record("\(code) is not repeated.")
        continue
      }
    }
  }

  @Test("J181: the job of an attempt that is given back is released, whatever its operation reports")
  mutating func givenBack() {
    #expect(action(error: CancellationError(), hasBegun: false, cause: .givenBack) == .release)
    #expect(action(error: nil, isCancelled: true, hasBegun: false, cause: .givenBack) == .release)
  }

  @Test("J130: an operation that something else cancels before it begins goes back to the store")
  mutating func cancelledElsewhere() {
    #expect(action(error: nil, isCancelled: true, hasBegun: false) == .snooze(.seconds(1)))
    let reason = JobEndReason(.cancelled, "Its operation was cancelled.")
    #expect(action(error: CancellationError(), isCancelled: true) == .cancel(reason))
  }

  @Test("J233: an attempt whose code has reached a wait ends with the wait, unless its operation was cancelled")
  mutating func suspended() {
    let suspension = JobSuspension(.signal("go"), until: now + .seconds(60))
    let wait = JobEnding.Action.wait(suspension.wait, until: suspension.endTime)
    for error in [suspension, nil, TestError(), JobOutcome.discard("caught"), JobError(.nameTooLong, "")]
      as [(any Error)?]
    {
      #expect(action(error: error, suspension: suspension) == wait)
    }
    // The store cancels the job.
    #expect(action(error: CancellationError(), isCancelled: true, cause: .requested, suspension: suspension) == wait)
    #expect(action(error: suspension, isCancelled: true, cause: .stopping, suspension: suspension) == wait)
    // The error of another attempt is an ordinary error.
    let foreign = action(error: suspension)
    if case .retry = foreign {} else { Issue.record("The attempt ends with \(foreign).") }
    let reason = JobEndReason(.cancelled, "Its operation was cancelled.")
    #expect(action(error: suspension, isCancelled: true, suspension: suspension) == .cancel(reason))
    #expect(
      action(error: suspension, isCancelled: true, cause: .givenBack, suspension: suspension) == .release)
  }

  private mutating func action(
    error: (any Error)?, attempt: Int = 1, isCancelled: Bool = false, hasBegun: Bool = true,
    cause: WorkerState.CancellationCause? = nil, suspension: JobSuspension? = nil
  ) -> JobEnding.Action {
    var job = JobRecord(
      id: JobID(rawValue: 1), NewJob(kind: "test", payload: JobPayload(bytes: [])), at: now)
    job.attempt = attempt
    let ending = AttemptEnding(
      job: job, error: error, isCancelled: isCancelled, hasBegun: hasBegun, cause: cause, result: nil,
      suspension: suspension)
    return ending.action(at: now, using: &generator)
  }

  private func pow2(_ exponent: Int) -> Double { (0..<exponent).reduce(1.0) { product, _ in product * 2 } }
}
