#if HTTP
import HTTPTypes
public import Headway
import NIOCore
import Synchronization

/// An operation that sends a request to a server and keeps the response in memory.
///
/// ```swift
/// let response = try await queue.run(RequestOperation("https://example.org/stops.json"))
/// print(response.body.count)
/// ```
///
/// Or read the ``response`` in an operation that depends on the request:
///
/// ```swift
/// let request = RequestOperation("https://example.org/stops.json")
/// let parse = BlockOperation { print(request.response?.body.count ?? 0) }
/// parse.addDependency(request)
/// queue.addOperations([request, parse], waitUntilFinished: false)
/// ```
///
/// The operation fails with a ``RequestError`` if the status is outside the range 200 to 299, or if the request fails
/// in another way. While the operation receives the response, `progress` counts its bytes; its `totalUnitCount` is 0
/// while the length is unknown.
///
/// To process the response in the operation itself, subclass it and override ``handleResponse(_:)``.
open class RequestOperation: HTTPOperation, ValueOperation, @unchecked Sendable {
  /// The response, once it has been received.
  ///
  /// If the operation fails or is cancelled afterward, ``response`` does not return it.
  private let received = Mutex<Response?>(nil)

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - request: The request to send.
  ///   - limits: The limits of the request. By default, a body can have up to 64 MB.
  ///   - connectionPool: The pool of the connections to use.
  public override init(
    _ request: Request, limits: HTTPLimits = HTTPLimits(), connectionPool: HTTPConnectionPool = .shared
  ) {
    super.init(request, limits: limits, connectionPool: connectionPool)
  }

  /// Creates a request for the content of a URL.
  ///
  /// - Parameters:
  ///   - url: A URL with the scheme `http` or `https`.
  ///   - limits: The limits of the request. By default, a body can have up to 64 MB.
  ///   - connectionPool: The pool of the connections to use.
  public convenience init(
    _ url: String, limits: HTTPLimits = HTTPLimits(), connectionPool: HTTPConnectionPool = .shared
  ) {
    self.init(Request(url: url), limits: limits, connectionPool: connectionPool)
  }

  /// The response; nil until the operation has finished, and if it failed or was cancelled.
  public final var response: Response? {
    guard case .success? = outcome else { return nil }
    return received.withLock { $0 }
  }

  /// The response, for a task that waits for it.
  ///
  /// Waits until the operation has finished. If the waiting task is cancelled, the wait ends and the operation
  /// continues.
  ///
  /// - Throws: The error of the operation; `CancellationError` if the operation or the waiting task is cancelled.
  public final var value: Response {
    get async throws {
      try await untilSucceeded()
      guard let response else { throw CancellationError() }
      return response
    }
  }

  /// Processes the response before the operation finishes.
  ///
  /// Override this method; the default implementation does nothing. The operation calls it at most once, in its own
  /// task. That task is cancelled when the operation is cancelled, or when its total time has passed. ``response`` is
  /// still nil at this point.
  ///
  /// - Parameter response: The response, with its whole body.
  /// - Throws: Any error. The operation then fails with it, and the request is not repeated.
  open func handleResponse(_ response: Response) async throws {}

  private static let defaultMaxBodyBytes = 64 << 20

  override func attempt() async throws {
    let response: Response
    if request.coalescesEqualRequests, request.method == .get, request.body == nil {
      response = try await connectionPool.coalescedRequests.response(for: .init(request, limits), report: note) {
        [request, exchange] report in
        try await Self.response(to: request, exchange, report: report)
      }
    } else {
      response = try await Self.response(to: request, exchange, report: note)
    }
    received.withLock { $0 = response }
  }

  override func conclude() async throws {
    guard let response = received.withLock({ $0 }) else { return }
    try await handleResponse(response)
  }

  private func note(_ count: HTTPBodyCount) {
    progress.totalUnitCount = Int64(count.total ?? 0)
    progress.completedUnitCount = Int64(count.completed)
  }

  /// Sends the request once.
  private static func response(
    to request: Request, _ exchange: HTTPExchange, report: (HTTPBodyCount) -> Void
  ) async throws -> Response {
    let answer = try await exchange.answer(to: request)
    let most = exchange.limits.maxBodyBytes ?? defaultMaxBodyBytes
    func requireRoom(for count: Int) throws {
      guard count > most else { return }
      throw RequestError.tooLarge(answer, maxByteCount: most)
    }
    let announced = answer.announcedLength
    try requireRoom(for: announced ?? 0)
    report(HTTPBodyCount(completed: 0, total: announced))
    var body: [UInt8] = []
    for try await piece in answer.body {
      try requireRoom(for: body.count + piece.readableBytes)
      body.append(contentsOf: piece.readableBytesView)
      report(HTTPBodyCount(completed: body.count, total: announced))
    }
    return Response(url: answer.url, status: answer.status, headers: HTTPFields(answer.headers), body: body)
  }
}

/// The number of bytes of a body that have been received.
struct HTTPBodyCount: Sendable {
  let completed: Int
  /// The length of the body; nil if unknown.
  let total: Int?
}
#endif
