/// Connects jobs with a tracing system.
///
/// Another module implements it, so that this one needs no tracing system.
///
/// It is not a ``JobMiddleware``. With middleware, the operation of an ``OperationJob`` runs in a private queue, so it
/// would no longer have the instruments of the worker's queue. Besides, the context of the attempt keeps the span, so
/// the span ends even if the worker gives up the attempt. Middleware runs inside of the span.
package protocol JobTracing: Sendable {
  /// Describes the span of the code that adds a job.
  ///
  /// - Returns: What to store with the job; nil if there is no span.
  func traceContext() -> [String: String]?

  /// Starts the span of an attempt.
  ///
  /// - Parameter context: The attempt to trace.
  /// - Returns: A span, which ends when the attempt ends.
  func startSpan(of context: JobContext) -> any JobSpan
}

/// The span of an attempt.
package protocol JobSpan: Sendable {
  /// Runs the code of a job, which can start child spans.
  ///
  /// - Parameter body: The code of the job, to be run once.
  /// - Throws: Any error of the code.
  func run(_ body: @Sendable () async throws -> Void) async throws

  /// Ends the span.
  ///
  /// - Parameters:
  ///   - action: How the attempt has ended.
  ///   - error: The error of the code.
  func end(_ action: JobEnding.Action, _ error: (any Error)?)
}
