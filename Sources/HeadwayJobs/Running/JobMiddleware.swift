/// Code that runs around each attempt of a job, for all kinds of a worker or for one kind.
///
/// ```swift
/// struct SlowJobs: JobMiddleware {
///   func perform(in context: JobContext, next: JobMiddlewareChain) async throws {
///     let start = ContinuousClock.now
///     defer { print(context.job.kind, "took", ContinuousClock.now - start) }
///     try await next()
///   }
/// }
/// ```
///
/// Pass middleware to ``JobWorker/init(_:kinds:middleware:name:gracePeriod:cancellationPeriod:clock:)``, or return it
/// from ``Job/middleware``. The middleware of the worker is outside of the middleware of the kind. In both lists, the
/// first element is the outermost.
///
/// Both functions have default implementations, so implement only those that you need.
public protocol JobMiddleware: Sendable {
  /// Runs the code of an attempt.
  ///
  /// The function runs in the operation of the attempt, and in the task of the job's code. Therefore, the job's code
  /// has the task-local values that the function sets around the call of `next`. The time limit and the cancellation
  /// of the attempt also apply to the function.
  ///
  /// If the function throws an error, the attempt ends as if the job's code had thrown the error. Therefore, the
  /// function can replace the error of the job, or throw a ``JobOutcome``. If the function catches an error and
  /// returns, the attempt succeeds without a result. If the function returns without calling `next`, the code of the
  /// job does not run, and the attempt also succeeds without a result. To skip a job that must not count as succeeded,
  /// throw ``JobOutcome/discard(_:)``. After the code of the job has called `finish`, errors no longer have an effect.
  /// After the code has reached a wait, the attempt ends with the wait, no matter what the function does. See
  /// ``JobSuspension``.
  ///
  /// The function is not called if the payload can't be decoded, or if the operation is cancelled before it begins. If
  /// several attempts run at the same time, the function is called for each of them.
  ///
  /// - Parameters:
  ///   - context: The attempt, as the code of the job receives it.
  ///   - next: The inner middleware and the code of the job. Call it once, as a function, before you return.
  /// - Throws: The error of the attempt: any error, a ``JobOutcome``, or `CancellationError`. When the job is
  ///   cancelled, rethrow the `CancellationError` of `next`. After any other error, the job has failed.
  func perform(in context: JobContext, next: JobMiddlewareChain) async throws

  /// Called when the worker has determined how an attempt ends, before the ending is stored.
  ///
  /// For example, send an alert if the ending is ``JobEnding/Action/fail(_:_:)``, which means that the job is not run
  /// again. The function is called at most once for each attempt, even if ``perform(in:next:)`` was not called. The
  /// innermost middleware is called first.
  ///
  /// The function is called on a task of the worker, after the operation of the attempt has finished, and not in the
  /// task of the job's code. No lock is held. While the function runs, the worker can't claim jobs or store endings, so
  /// the function must not block. For longer work, create a task or add an operation.
  ///
  /// Unless the job ended with `finish`, the ending is not stored yet, and the store can still reject or change it. For
  /// example, a job that snoozes too often fails. The function is not called if the process ends before the attempt has
  /// ended, if the worker can no longer use the store, or if a job ends without an attempt. For example, if too many
  /// workers have died while they ran a job, only ``Jobs/events`` reports the failure.
  ///
  /// - Parameters:
  ///   - context: The attempt that ends. Don't use it to write, because the ending might already be stored.
  ///   - ending: How the attempt ends. If the attempt no longer runs the job, the ending is
  ///     ``JobEnding/Action/release``. If the job ended with `finish`, its result is not included.
  ///   - error: The error of the attempt; nil if there was none.
  func didEnd(_ context: JobContext, with ending: JobEnding.Action, error: (any Error)?)
}

extension JobMiddleware {
  /// Calls `next`.
  ///
  /// - Parameters:
  ///   - context: The attempt that runs.
  ///   - next: The inner middleware and the code of the job.
  /// - Throws: The error of `next`.
  public func perform(in context: JobContext, next: JobMiddlewareChain) async throws { try await next() }

  /// Does nothing.
  ///
  /// - Parameters:
  ///   - context: The attempt that ends.
  ///   - ending: How the attempt ends.
  ///   - error: The error of the attempt.
  public func didEnd(_ context: JobContext, with ending: JobEnding.Action, error: (any Error)?) {}
}
