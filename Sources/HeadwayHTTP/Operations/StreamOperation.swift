#if HTTP
import Headway
import Synchronization

/// An operation that hands the content of an answer to its caller piece by piece, as it comes.
///
/// ```swift
/// let count = StreamOperation("https://example.org/events") { response in
///   var count = 0
///   for try await chunk in response.chunks { count += chunk.count }
///   return count
/// }
/// queue.addOperation(count)
/// print(try await count.value)
/// ```
///
/// Each chunk is received when the closure requests it. Until then, at most a few chunks are in memory, and the rest
/// waits at the server, so memory does not depend on the size. The operation finishes when the closure returns. A
/// closure that returns early closes the connection.
///
/// A request that fails is repeated as in a ``RequestOperation``, until the closure is called. The chunks throw later
/// errors. `progress` counts the bytes that the closure has received; its `totalUnitCount` is 0 if the length is not
/// known. There is no limit of the size, unless ``HTTPLimits/maximumBodyBytes`` is set.
public final class StreamOperation<Value: Sendable>: HTTPOperation, @unchecked Sendable {
  private typealias Receive = @Sendable (HTTPStream) async throws -> Value

  // Each protected by its lock; the closure is released when it has been called.
  private let receive: Mutex<Receive?>
  private let result = Mutex<Value?>(nil)
  // Used by the operation's task alone.
  private var answer: HTTPExchange.Answer?

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - request: What to ask.
  ///   - limits: What it may take.
  ///   - connections: The connections to use.
  ///   - receive: Reads the answer. Called at most once, in the operation's task. The task is cancelled when the
  ///     operation is, and when its total time has passed.
  public init(
    _ request: HTTPRequest, limits: HTTPLimits = HTTPLimits(), connections: HTTPConnections = .shared,
    receive: @escaping @Sendable (HTTPStream) async throws -> Value
  ) {
    self.receive = Mutex(receive)
    super.init(request, limits: limits, connections: connections)
  }

  /// Creates a request for the content of an address.
  ///
  /// - Parameters:
  ///   - url: An address of http or https.
  ///   - limits: What it may take.
  ///   - connections: The connections to use.
  ///   - receive: Reads the answer. Called at most once.
  public convenience init(
    _ url: String, limits: HTTPLimits = HTTPLimits(), connections: HTTPConnections = .shared,
    receive: @escaping @Sendable (HTTPStream) async throws -> Value
  ) {
    self.init(HTTPRequest(url: url), limits: limits, connections: connections, receive: receive)
  }

  /// The value that the closure returned.
  ///
  /// Waits until the operation has finished. Where the task that waits is cancelled, the wait ends, and the operation
  /// continues.
  ///
  /// - Throws: The error of the operation; `CancellationError` when it was cancelled, or the task that waits is.
  public var value: Value {
    get async throws {
      try await finishedSuccessfully()
      guard let value = result.withLock({ $0 }) else { throw CancellationError() }
      return value
    }
  }

  override func attempt() async throws { answer = try await exchange.answer(to: request) }

  override func conclude() async throws {
    guard let answer, let receive = receive.withLock({ $0.take() }) else { return }
    self.answer = nil
    let (progress, most) = (progress, limits.maximumBodyBytes)
    progress.totalUnitCount = Int64(answer.announcedLength ?? 0)
    let stream = HTTPStream(answer) { count in
      guard count <= most ?? .max else {
        throw HTTPError(
          .bodyTooLarge, url: answer.url, status: answer.status,
          message: "The content has more than \(most ?? 0) bytes.")
      }
      progress.completedUnitCount = Int64(count)
    }
    let value = try await receive(stream)
    result.withLock { $0 = value }
  }

  override func clean(after result: Result<Void, any Error>) async {
    answer = nil
    // Released after the lock.
    _ = receive.withLock { $0.take() }
  }
}
#endif
