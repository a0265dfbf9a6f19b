/// The rest of an attempt: the inner middleware, and the code of the job.
///
/// ``JobMiddleware/perform(in:next:)`` receives a chain, and calls it as a function: `try await next()`.
public struct JobMiddlewareChain: Sendable {
  // Not a closure, because the type of an asynchronous closure depends on the compiler settings of the module that
  // contains the middleware.
  private let context: JobContext
  private let middleware: ArraySlice<any JobMiddleware>
  private let code: @Sendable () async throws -> Void

  init(
    _ context: JobContext, _ middleware: ArraySlice<any JobMiddleware>,
    _ code: @escaping @Sendable () async throws -> Void
  ) {
    (self.context, self.middleware, self.code) = (context, middleware, code)
  }

  /// Runs the rest of the attempt.
  ///
  /// The code of the job runs on the threads of the worker's operation queue, even if the caller is isolated to an
  /// actor. If the task is cancelled, the code is cancelled. A second call runs the code again in the same attempt. An
  /// attempt can use each checkpoint only once.
  ///
  /// - Throws: The error of the inner middleware or of the job's code.
  @concurrent
  public func callAsFunction() async throws {
    guard let first = middleware.first else { return try await code() }
    try await first.perform(in: context, next: JobMiddlewareChain(context, middleware.dropFirst(), code))
  }
}
