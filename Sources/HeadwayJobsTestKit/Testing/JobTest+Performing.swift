import FoundationEssentials
import Headway
@_spi(JobStore) public import HeadwayJobs
import Synchronization

extension JobTest {
  /// Runs the code of one job and returns its result.
  ///
  /// The job is stored, claimed and decoded as usual. Therefore, the function fails if the job can't be encoded or
  /// decoded. All functions of its `JobContext` work: checkpoints, log lines, progress, further jobs, and results of
  /// other jobs. The job has its own queue, so it runs immediately and doesn't affect other jobs. Its delay, deadline,
  /// unique key and limit have no effect. The code runs inside the middleware of its kind.
  ///
  /// When the code has ended, the ending is recorded, and the job is not run again: it has succeeded, or it has failed
  /// if the code throws an error. If the code throws `JobOutcome.snooze` or a `CancellationError`, or waits for a
  /// signal or sleeps, the job is cancelled. To run jobs that wait, call ``drain(_:for:)``. Jobs that the code has
  /// enqueued are in the store but have not run. To read them, call ``enqueued(_:queue:)``. To run them, call
  /// ``drain(_:for:)``.
  ///
  /// If the task of the caller is cancelled, the job's operation is cancelled, and the function returns when the code
  /// has ended.
  ///
  /// - Parameters:
  ///   - job: The job, whose code runs on a decoded copy.
  ///   - options: Options of the job, for example the ended jobs whose results the code reads
  ///     (`JobOption.after(_:)`). The queue, and the options that delay or prevent the job, have no effect.
  ///   - attempt: The number of the attempt that the code reads from its context; at least 1. The earlier attempts are
  ///     recorded as failed, even if the job's retry policy permits fewer attempts.
  /// - Returns: The value that the code returns.
  /// - Throws: The error of the code or of its middleware, which can be a `JobOutcome`, or `JobSuspension` if the code
  ///   waits. If the job or its result can't
  ///   be stored and read, `JobError` with the code `undecodablePayload`, `unencodablePayload` or `payloadTooLarge`. If
  ///   middleware makes the job succeed without a result, and its output is not `Void`, `JobError` with the code
  ///   `undecodablePayload`. If a job that it waits for has not ended, `JobError` with the code `unfinishedJob`.
  /// - Precondition: `attempt` is positive.
  @discardableResult
  public func perform<Type: Job>(
    _ job: Type, _ options: JobOption..., attempt: Int = 1
  ) async throws -> Type.Output {
    require(attempt > 0, "A test performs attempt \(attempt) of a job of the kind \(Type.kind): use a positive number.")
    var new = try jobs.encode(job, options: JobOptions(options))
    (new.queue, new.delay, new.startTime, new.deadline) = ("JobTest \(UUID())", nil, nil, nil)
    (new.settings.unique, new.settings.limits) = (nil, nil)
    let id = try await jobs.backend.enqueue([new])[0].id
    let worker = try await jobs.backend.register(
      WorkerDescription(
        name: "JobTest", processIdentifier: ProcessInfo.processInfo.processIdentifier, queues: [new.queue],
        kinds: [Type.kind: Type.version]))
    let context: JobContext
    do {
      context = try await claim(id, of: new, attempt: attempt, by: worker)
    } catch {
      try await leave(worker)
      throw error
    }
    let (output, action) = await run(Type.self, context)
    try await leave(worker, recording: JobEnding(context.fence, action))
    return try output.get()
  }

  /// Claims a job as many times as necessary for the number of the attempt.
  private func claim(_ id: JobID, of new: NewJob, attempt: Int, by worker: WorkerID) async throws -> JobContext {
    let claim = JobClaim(queue: new.queue, count: 1, allowsSuspect: true, kinds: [new.kind: new.version])
    var endings: [JobEnding] = []
    while true {
      let exchange = JobExchange(worker: worker, endings: endings, claims: [claim])
      guard let job = try await jobs.backend.exchange(exchange).claimed.first?.first, let fence = job.fence else {
        let reason = try await jobs.diagnose(id)
        try await jobs.cancel(id)
        throw JobError(.unfinishedJob, "The test can't perform a job: \(reason)")
      }
      if fence.attempt >= attempt { return JobContext(job, fence, jobs) }
      let error = JobErrorDescription(type: "JobTest", text: "The test performs a later attempt.")
      endings = [JobEnding(fence, .retry(after: .zero, error))]
    }
  }

  /// Runs the code of a claimed job in an operation and determines how the attempt ends.
  private func run<Type: Job>(
    _ type: Type.Type, _ context: JobContext
  ) async -> (Result<Type.Output, any Error>, JobEnding.Action) {
    let middleware = KindMiddleware(type)
    let output: Result<Type.Output, any Error>
    let action: JobEnding.Action
    do {
      let result = try await OperationQueue().run(makeOperation(type, context, middleware))
      // The code might have caught the error of a wait.
      try context.checkNotSuspended()
      action = .succeed(result: result?.payload)
      output = Result { try result?.value ?? nothing(for: context, type) }
      context.noteEnded(action, nil)
      middleware.didEnd(context, with: action, error: nil)
    } catch let thrown {
      let error = context.suspension ?? thrown
      (output, action) = (.failure(error), ending(after: error))
      // As in a worker, the error of a wait isn't a failure.
      let failure = context.suspension == nil ? error : nil
      context.noteEnded(action, failure)
      middleware.didEnd(context, with: action, error: failure)
    }
    return (output, action)
  }

  /// Returns the output of a job that succeeded although its code returned no value.
  ///
  /// Throws an error unless the output is `Void`.
  private func nothing<Type: Job>(for context: JobContext, _ type: Type.Type) throws -> Type.Output {
    if let output = () as? Type.Output { return output }
    throw JobError(
      .undecodablePayload,
      "Job \(context.id) has succeeded without a result: its middleware did not call next, or has caught an error.")
  }

  /// Creates the operation of an attempt, whose value is nil if middleware has prevented the code from returning one.
  private func makeOperation<Type: Job>(
    _ type: Type.Type, _ context: JobContext, _ middleware: KindMiddleware
  ) throws -> TaskOperation<(value: Type.Output, payload: JobPayload?)?> {
    let job = try context.job.decoded(as: type)
    let operation = TaskOperation {
      try context.begin()
      let output = Kept<(value: Type.Output, payload: JobPayload?)>()
      try await context.run {
        try await middleware.run(context) {
          let value = try await job.perform(in: context)
          output.keep((value, try context.encodedResult(value)))
        }
      }
      return output.value
    }
    if let timeout = context.job.settings.timeout { operation.policy.timeout = max(timeout, .zero) }
    context.noteOperation(operation)
    return operation
  }

  /// Records an ending and removes the worker.
  ///
  /// The ending has no effect if the job's code has recorded an ending, or the job was abandoned.
  private func leave(_ worker: WorkerID, recording ending: JobEnding? = nil) async throws {
    // The task is not cancelled with the caller's task, because the ending must still be recorded.
    try await Task { [jobs] in
      if let ending { _ = try await jobs.backend.exchange(JobExchange(worker: worker, endings: [ending])) }
      try await jobs.backend.unregister(worker, isRunningCode: false)
    }.value
  }

  private func ending(after error: any Error) -> JobEnding.Action {
    switch error {
    case JobOutcome.discard(let text): .fail(JobEndReason(.discarded, text), nil)
    case JobOutcome.snooze: .cancel(JobEndReason(.cancelled, "The job has snoozed in a test."))
    case is JobSuspension: .cancel(JobEndReason(.cancelled, "The job waits in a test."))
    case is CancellationError: .cancel(JobEndReason(.cancelled))
    default: .fail(JobEndReason(.failed, "The job has failed in a test."), JobErrorDescription(error))
    }
  }
}

/// Holds the value of an attempt from when its code returns until its middleware does.
private final class Kept<Value: Sendable>: Sendable {
  private let kept = Mutex<Value?>(nil)

  var value: Value? { kept.withLock(\.self) }

  func keep(_ value: Value) { kept.withLock { $0 = value } }
}
