#if HTTP
import Headway
import NIOCore
import NIOHTTP1
import Synchronization

/// An operation that asks a server, and keeps the answer in memory.
///
/// ```swift
/// let request = RequestOperation("https://example.org/stops.json")
/// let parse = BlockOperation { print(request.response?.body.count ?? 0) }
/// parse.addDependency(request)
/// queue.addOperations([request, parse], waitUntilFinished: false)
/// ```
///
/// A status that is not from 200 to 299 is an error, as is all else that goes wrong: see ``HTTPError``. While the
/// answer comes, `progress` counts its bytes; its `totalUnitCount` is 0 where the length is not known.
///
/// To make something of the answer in the operation itself, subclass it and override ``receive(_:)``.
open class RequestOperation: HTTPOperation, @unchecked Sendable {
  /// The answer, from when it is there; not that of the operation, if it fails or is cancelled after that.
  private let received = Mutex<HTTPResponse?>(nil)

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - request: What to ask.
  ///   - limits: What it may take. A body of more than 64 MB is an error, if it says nothing of that.
  ///   - connections: The connections to use.
  public override init(
    _ request: HTTPRequest, limits: HTTPLimits = HTTPLimits(), connections: HTTPConnections = .shared
  ) {
    super.init(request, limits: limits, connections: connections)
  }

  /// Creates a request for the content of an address.
  ///
  /// - Parameters:
  ///   - url: An address of http or https.
  ///   - limits: What it may take.
  ///   - connections: The connections to use.
  public convenience init(
    _ url: String, limits: HTTPLimits = HTTPLimits(), connections: HTTPConnections = .shared
  ) {
    self.init(HTTPRequest(url: url), limits: limits, connections: connections)
  }

  /// The answer; nil until the operation has finished, and if it failed or was cancelled.
  public final var response: HTTPResponse? {
    guard case .success? = outcome else { return nil }
    return received.withLock { $0 }
  }

  /// The answer.
  ///
  /// Waits until the operation has finished. Where the task that waits is cancelled, the wait ends, and the operation
  /// goes on.
  ///
  /// - Throws: The error of the operation; `CancellationError` when it was cancelled, or the task that waits is.
  public final var value: HTTPResponse {
    get async throws {
      try await finishedSuccessfully()
      guard let response else { throw CancellationError() }
      return response
    }
  }

  /// Makes something of the answer, before the operation finishes.
  ///
  /// Override it; the default does nothing. Called once at most, in the operation's task, which is cancelled with the
  /// operation, and when its total time has passed. ``response`` is not there yet.
  ///
  /// - Parameter response: The answer.
  /// - Throws: Whatever makes the operation fail. The request is not repeated for it.
  open func receive(_ response: HTTPResponse) async throws {}

  private static let usualMaximumBodyBytes = 64 << 20

  override func attempt() async throws {
    let response: HTTPResponse
    if request.joinsEqualRequests, request.method == .GET, request.body == nil {
      response = try await connections.joinedRequests.response(for: .init(request, limits), report: note) {
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
    try await receive(response)
  }

  private func note(_ count: HTTPBodyCount) {
    progress.totalUnitCount = Int64(count.total ?? 0)
    progress.completedUnitCount = Int64(count.completed)
  }

  /// Asks once.
  private static func response(
    to request: HTTPRequest, _ exchange: HTTPExchange, report: (HTTPBodyCount) -> Void
  ) async throws -> HTTPResponse {
    let answer = try await exchange.answer(to: request)
    let most = exchange.limits.maximumBodyBytes ?? usualMaximumBodyBytes
    func requireRoom(for count: Int) throws {
      guard count > most else { return }
      throw HTTPError(
        .bodyTooLarge, url: answer.url, status: answer.status, message: "The content has more than \(most) bytes.")
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
    return HTTPResponse(url: answer.url, status: answer.status, headers: answer.headers, body: body)
  }
}

/// How much of a body has been received.
struct HTTPBodyCount: Sendable {
  let completed: Int
  /// Nil where it is not known.
  let total: Int?
}
#endif
