/// The middleware of a kind, for code that runs its jobs without a worker.
package struct KindMiddleware: Sendable {
  private let middleware: [any JobMiddleware]

  /// Reads the middleware of a type.
  package init<Type: Job>(_ type: Type.Type) { middleware = type.middleware }

  /// Runs the code of an attempt inside the middleware.
  package func run(_ context: JobContext, _ code: @escaping @Sendable () async throws -> Void) async throws {
    try await JobMiddlewareChain(context, middleware[...], code)()
  }

  /// Notifies the middleware of the ending of an attempt, as a worker does; the innermost first.
  package func didEnd(_ context: JobContext, with action: JobEnding.Action, error: (any Error)?) {
    let isFinished = context.isFinished
    let (action, error) = isFinished ? (.succeed(result: nil), nil) : (action, error)
    for middleware in middleware.reversed() { middleware.didEnd(context, with: action, error: error) }
  }
}
