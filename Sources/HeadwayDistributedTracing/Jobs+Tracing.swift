#if Observability && Jobs
public import HeadwayJobs
public import Tracing

extension Jobs {
  /// Records a span for each attempt of a job that a worker of this object runs from now on.
  ///
  /// ```swift
  /// import HeadwayJobs
  /// import Tracing
  ///
  /// func takeOrder(_ order: some Job, _ jobs: Jobs) async throws {
  ///   jobs.recordSpans()
  ///   try await withSpan("POST /orders") { _ in
  ///     try await jobs.enqueue(order)
  ///     print("stored")
  ///   }
  /// }
  /// ```
  ///
  /// The context of the code that enqueues a job is stored with the job. The span of an attempt begins a separate
  /// trace, with a link to the span of that code. The code might have run in another process long ago. Call this
  /// function in the processes that enqueue jobs, and in those that run them. Spans that the code of a job starts are
  /// children of the attempt's span.
  ///
  /// The span covers the operation of the attempt, from its start until it has finished. Its name is the kind of the
  /// job. The attributes are `headway.job.id`, `headway.job.queue`, `headway.job.attempt`, a number that counts from 1,
  /// and `headway.job.status`: `succeeded`, `retried`, `failed`, `snoozed`, `released` or `cancelled`. If the code
  /// throws an error, the span records it, and has the status code `error`.
  ///
  /// An attempt is also an operation, so `recordSpans()` of its queue records how long it waited in this process. The
  /// operation of an `OperationJob` has the span of its attempt, but its code does not have the span's context.
  /// The `JobMiddleware` of the job runs inside of the span.
  ///
  /// - Parameter tracer: The tracer; nil for the tracer of the instrumentation system, which you must bootstrap before
  ///   you call this function. A later call replaces the tracer.
  public func recordSpans(with tracer: (any Tracer)? = nil) {
    tracing = JobTracingInstrument(tracer ?? InstrumentationSystem.tracer)
  }
}
#endif
