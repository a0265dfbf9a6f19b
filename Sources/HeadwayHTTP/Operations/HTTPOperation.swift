#if HTTP
public import Headway

/// The superclass of requests and downloads: an operation that sends a request to a server and blocks no thread.
///
/// Use ``RequestOperation``, ``StreamOperation``, or ``DownloadOperation``, or subclass ``RequestOperation`` or
/// ``DownloadOperation``.
///
/// You can cancel the operation in every state: if it waits for a connection, it stops waiting; if it has a connection,
/// that is closed. The operation then finishes once, without an error, and no callback runs afterward.
open class HTTPOperation: AsynchronousOperation, @unchecked Sendable {
  /// The request to send.
  ///
  /// Credentials from the URL have been moved to a header field.
  public let request: Request
  /// The limits of the request, such as time and size.
  public let limits: HTTPLimits

  let connectionPool: HTTPConnectionPool
  /// The clock that measures pauses and the total time; nil for `ContinuousClock`. Set it before the operation starts.
  // The default is nil, because creating a value of this type takes as long as the rest of the initializer.
  package final var clock: (any Clock<Duration>)?

  init(_ request: Request, limits: HTTPLimits, connectionPool: HTTPConnectionPool) {
    self.request = request.withCredentialsInHeaders
    self.limits = limits
    self.connectionPool = connectionPool
    super.init()
    name = self.request.url
  }

  /// Starts sending the request.
  ///
  /// `start()` calls this method once.
  public final override func main() {
    let task = Task { [self] in
      let result: Result<Void, any Error>
      do { result = .success(try await runWithinTime()) } catch { result = .failure(error) }
      await clean(after: result)
      switch result {
      case .failure(let error) where !isCancelled: finish(throwing: error)
      default: finish()
      }
    }
    onCancel { task.cancel() }
  }

  /// Makes one attempt.
  func attempt() async throws { misuse("\(self) does not override attempt().") }

  /// Runs once, after the attempt that succeeded.
  ///
  /// If this method fails, the request is not repeated.
  func conclude() async throws {}

  /// Cleans up after the last attempt.
  func clean(after result: Result<Void, any Error>) async {}

  private func runWithinTime() async throws {
    guard let totalTimeout = limits.totalTimeout else { return try await attemptAndConclude() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.attemptAndConclude() }
      group.addTask {
        try await self.sleep(for: totalTimeout)
        throw RequestError(.timedOut, url: self.request.url, context: "The request took longer than \(totalTimeout).")
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Sleeps on the operation's clock.
  private func sleep(for duration: Duration) async throws {
    try await (clock ?? ContinuousClock()).sleepAtMostCentury(for: duration)
  }

  /// The connection pool, limits, and clock for one attempt.
  var exchange: HTTPExchange {
    HTTPExchange(connectionPool: connectionPool, limits: limits, clock: clock ?? ContinuousClock())
  }

  private func attemptAndConclude() async throws {
    try await attempts()
    try Task.checkCancellation()
    try await conclude()
  }

  private func attempts() async throws {
    var number = 1
    var generator = SystemRandomNumberGenerator()
    let clock: any Clock<Duration> = clock ?? ContinuousClock()
    let elapsed = Self.stopwatch(on: clock)
    while true {
      do {
        return try await attempt()
      } catch let error as RequestError {
        guard request.isIdempotent,
          let delay = limits.retryPolicy.delay(
            after: error, attempt: number, elapsed: elapsed(), using: &generator)
        else { throw error }
        try await sleep(for: delay)
        number += 1
      }
    }
  }

  /// Returns a function that returns the time since this call.
  private static func stopwatch<UserClock: Clock>(
    on clock: UserClock
  ) -> () -> Duration where UserClock.Duration == Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }
}
#endif
