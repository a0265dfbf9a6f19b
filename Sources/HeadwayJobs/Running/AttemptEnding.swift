import Headway

/// Determines the ending of an attempt from its finished operation.
struct AttemptEnding {
  let job: JobRecord
  let error: (any Error)?
  let isCancelled: Bool
  /// Whether the operation has started.
  let hasBegun: Bool
  let cause: WorkerState.CancellationCause?
  let result: JobPayload?
  /// Whether the job's function has returned.
  var hasReturned = false
  /// The wait that the code of the job has requested.
  var suspension: JobSuspension?

  func action(at now: StoreTime, using generator: inout some RandomNumberGenerator) -> JobEnding.Action {
    // Its code has not run and will not run.
    if cause == .givenBack { return .release }
    // The code might have caught the error of the wait.
    let isOtherError = error.map { !($0 is CancellationError || $0 is JobSuspension) } ?? false
    if let suspension, !isCancelled || cause != nil || isOtherError {
      return .wait(suspension.wait, until: suspension.endTime)
    }
    // The error of another attempt is an ordinary error.
    let error = suspension != nil && error is JobSuspension ? nil : error
    if let outcome = error as? JobOutcome { return action(for: outcome) }
    // If the operation was not cancelled, the cancellation error was not requested. For example, a child task had its
    // own time limit.
    let isCancellation = isCancelled && (error is CancellationError || !hasBegun)
    if let error, !isCancellation {
      // If a job can't succeed, no other worker runs it again.
      let isPermanent = (error as? JobError)?.isRetryable == false
      return cause == .stopping && !isPermanent ? .release : action(for: error, at: now, using: &generator)
    }
    guard isCancelled else { return .succeed(result: result) }
    switch cause {
    case .requested: return .cancel(JobEndReason(.cancelled))
    // Code that returned in time is not run again.
    case .stopping where error == nil && hasReturned: return .succeed(result: result)
    case .stopping, .leaseLost, .givenBack: return .release
    // User code in this process has cancelled the operation. If it had not started, the job runs later, here or
    // elsewhere. It does not return to its queue immediately, because this worker might claim it again and again.
    case nil:
      return hasBegun ? .cancel(JobEndReason(.cancelled, "Its operation was cancelled.")) : .snooze(.seconds(1))
    }
  }

  func action(at now: StoreTime) -> JobEnding.Action {
    var generator = SystemRandomNumberGenerator()
    return action(at: now, using: &generator)
  }

  private func action(for outcome: JobOutcome) -> JobEnding.Action {
    switch outcome {
    case .discard(let text): .fail(JobEndReason(.discarded, text), nil)
    case .snooze(let pause): .snooze(pause)
    }
  }

  private func action(
    for error: any Error, at now: StoreTime, using generator: inout some RandomNumberGenerator
  ) -> JobEnding.Action {
    let description = JobErrorDescription(error)
    let elapsed = now - (job.firstClaimedTime ?? now)
    let pause = job.settings.effectiveRetry.delay(
      after: error, attempt: job.attempt, elapsed: elapsed, using: &generator)
    guard cause != .requested, let pause else {
      return .fail(JobEndReason(.failed, "Attempt \(job.attempt) failed."), description)
    }
    return .retry(after: pause, description)
  }
}

extension AttemptEnding {
  /// Creates a description of an attempt whose operation has finished.
  init(_ attempt: WorkerState.Attempt) {
    self.init(
      job: attempt.job, error: attempt.error, isCancelled: attempt.isCancelled,
      hasBegun: attempt.context.hasBegun, cause: attempt.cause, result: attempt.result.value,
      hasReturned: attempt.result.hasReturned, suspension: attempt.context.suspension)
  }
}
