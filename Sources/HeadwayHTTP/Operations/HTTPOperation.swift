#if HTTP
public import Headway

/// What requests and downloads have in common: an operation that asks a server, and blocks no thread.
///
/// Use ``RequestOperation`` or ``DownloadOperation``, or subclass these.
///
/// Cancelling ends the request wherever it is: it leaves the line for a connection, or its connection is closed. The
/// operation then finishes, once, without an error, and nothing of it is called any more.
open class HTTPOperation: AsynchronousOperation, @unchecked Sendable {
  /// What is asked; credentials that were in the address are in a header field.
  public let request: HTTPRequest
  /// What it may take.
  public let limits: HTTPLimits

  let connections: HTTPConnections
  /// By what pauses and the limit of the total time are measured, if not by `ContinuousClock`; set before the start.
  // Its default is nil, since to make a value of this type takes as long as all else in the initializer.
  package final var clock: (any Clock<Duration>)?

  init(_ request: HTTPRequest, limits: HTTPLimits, connections: HTTPConnections) {
    self.request = request.withCredentialsInHeaders
    self.limits = limits
    self.connections = connections
    super.init()
    name = self.request.url
  }

  /// Begins to ask.
  ///
  /// Called once, by `start()`.
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

  /// One attempt.
  func attempt() async throws { preconditionFailure("\(type(of: self)) asks nothing") }

  /// What is done once, after the attempt that succeeded: a failure of it is repeated by no attempt.
  func conclude() async throws {}

  /// All attempts have been made.
  func clean(after result: Result<Void, any Error>) async {}

  private func runWithinTime() async throws {
    guard let totalTime = limits.totalTime else { return try await attemptAndConclude() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.attemptAndConclude() }
      group.addTask {
        try await self.sleep(for: totalTime)
        throw HTTPError(.timedOut, url: self.request.url, message: "The request took longer than \(totalTime).")
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Sleeps by the clock of the operation.
  private func sleep(for duration: Duration) async throws {
    try await (clock ?? ContinuousClock()).sleepAtMostCentury(for: duration)
  }

  /// How this operation asks.
  var exchange: HTTPExchange {
    HTTPExchange(connections: connections, limits: limits, clock: clock ?? ContinuousClock())
  }

  private func attemptAndConclude() async throws {
    try await attempts()
    try Task.checkCancellation()
    try await conclude()
  }

  private func attempts() async throws {
    var number = 1
    while true {
      do {
        return try await attempt()
      } catch let error as HTTPError {
        guard request.isIdempotent,
          let delay = limits.retries.delay(after: error, attempt: number, random: .random(in: 0...1))
        else { throw error }
        try await sleep(for: delay)
        number += 1
      }
    }
  }
}
#endif
