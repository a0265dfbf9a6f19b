#if HTTP
public import Headway
import Synchronization

/// An operation that passes the content of a response to a closure piece by piece, as it arrives.
///
/// ```swift
/// let stream = StreamOperation("https://example.org/events") { response in
///   var count = 0
///   for try await chunk in response.chunks { count += chunk.count }
///   return count
/// }
/// print(try await queue.run(stream))
/// ```
///
/// Each chunk is received when the closure requests it. Until then, at most a few chunks are in memory and the rest
/// waits at the server, so memory use does not depend on the size. The operation finishes when the closure returns. If
/// the closure returns early, the connection is closed.
///
/// Until the closure is called, a failed request is repeated as in a ``RequestOperation``. The chunks throw later
/// errors. `progress` counts the bytes that the closure has received; its `totalUnitCount` is 0 if the length is
/// unknown. The size is not limited, unless you set ``HTTPLimits/maxBodyBytes``.
public final class StreamOperation<Value: Sendable>: HTTPOperation, ValueOperation, @unchecked Sendable {
  private typealias Receive = @Sendable (HTTPStream) async throws -> Value

  // Each property is protected by its lock. The closure is released after the call.
  private let receive: Mutex<Receive?>
  private let result = Mutex<Value?>(nil)
  // Used only by the operation's task.
  private var answer: HTTPExchange.Answer?

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - request: The request to send.
  ///   - limits: The limits of the request. By default, the body can have any size.
  ///   - connectionPool: The pool of the connections to use.
  ///   - receive: Reads the response. The operation calls it at most once, in its own task. That task is cancelled when
  ///     the operation is cancelled, or when its total time has passed.
  public init(
    _ request: Request, limits: HTTPLimits = HTTPLimits(), connectionPool: HTTPConnectionPool = .shared,
    receive: @escaping @Sendable (HTTPStream) async throws -> Value
  ) {
    self.receive = Mutex(receive)
    super.init(request, limits: limits, connectionPool: connectionPool)
  }

  /// Creates a request for the content of a URL.
  ///
  /// - Parameters:
  ///   - url: A URL with the scheme `http` or `https`.
  ///   - limits: The limits of the request. By default, the body can have any size.
  ///   - connectionPool: The pool of the connections to use.
  ///   - receive: Reads the response. The operation calls it at most once.
  public convenience init(
    _ url: String, limits: HTTPLimits = HTTPLimits(), connectionPool: HTTPConnectionPool = .shared,
    receive: @escaping @Sendable (HTTPStream) async throws -> Value
  ) {
    self.init(Request(url: url), limits: limits, connectionPool: connectionPool, receive: receive)
  }

  /// The value that the closure returned.
  ///
  /// Waits until the operation has finished. If the waiting task is cancelled, the wait ends and the operation
  /// continues.
  ///
  /// - Throws: The error of the operation; `CancellationError` if the operation or the waiting task is cancelled.
  public var value: Value {
    get async throws {
      try await untilSucceeded()
      guard let value = result.withLock({ $0 }) else { throw CancellationError() }
      return value
    }
  }

  override func attempt() async throws { answer = try await exchange.answer(to: request) }

  override func conclude() async throws {
    guard let answer, let receive = receive.withLock({ $0.take() }) else { return }
    self.answer = nil
    let (progress, most) = (progress, limits.maxBodyBytes)
    progress.totalUnitCount = Int64(answer.announcedLength ?? 0)
    let stream = HTTPStream(answer) { count in
      guard count <= most ?? .max else {
        throw RequestError.tooLarge(answer, maxByteCount: most ?? 0)
      }
      progress.completedUnitCount = Int64(count)
    }
    let value = try await receive(stream)
    result.withLock { $0 = value }
  }

  override func clean(after result: Result<Void, any Error>) async {
    answer = nil
    // The closure is released outside of the lock.
    _ = receive.withLock { $0.take() }
  }
}
#endif
