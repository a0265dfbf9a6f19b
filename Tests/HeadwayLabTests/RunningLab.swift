#if Lab
import AsyncHTTPClient
import Foundation
import HeadwayLab
import NIOCore
import NIOHTTP1
import Testing

/// A lab that is served at an unused port, and a client.
struct RunningLab: Sendable {
  let lab: Lab
  /// With a trailing slash.
  let address: String
  var cookie: String?

  /// Each viewer occupies a connection and keeps it.
  private static let client: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    // On a busy machine, a connection can take longer than the ten seconds of the default.
    configuration.timeout.connect = .hours(1)
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1_000
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()

  var origin: String { String(address.dropLast()) }

  /// Serves a lab while `body` runs.
  static func with(
    listen: String? = nil, work: @escaping @Sendable () -> Void = {},
    _ body: @Sendable (RunningLab) async throws -> Void
  ) async throws {
    let lab = Lab(work: work)
    let server = LabServer(LabServer.Options(port: 0, listen: listen), lab: lab)
    let (addresses, continuation) = AsyncStream.makeStream(of: String.self)
    let serving = Task.detached {
      defer { continuation.finish() }
      try await server.run { continuation.yield($0) }
    }
    let first = await addresses.first { _ in true }
    let address = try #require(first)
    do {
      try await body(RunningLab(lab: lab, address: address))
    } catch {
      server.stop()
      serving.cancel()
      throw error
    }
    server.stop()
    serving.cancel()
    _ = await serving.result
  }

  func request(_ path: String, _ method: HTTPMethod = .GET, headers: HTTPHeaders = [:]) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: address + path)
    request.method = method
    request.headers = headers
    if let cookie { request.headers.add(name: "Cookie", value: cookie) }
    return request
  }

  func get(_ path: String, _ method: HTTPMethod = .GET, headers: HTTPHeaders = [:]) async throws -> HTTPClientResponse {
    try await Self.client.execute(request(path, method, headers: headers), deadline: .distantFuture)
  }

  @discardableResult func post(
    _ path: String, _ json: String, headers: HTTPHeaders = ["Content-Type": "application/json"]
  ) async throws -> UInt {
    var request = request(path, .POST, headers: headers)
    request.body = .bytes(ByteBuffer(string: json))
    return try await Self.client.execute(request, deadline: .distantFuture).status.code
  }

  /// Watches like a browser.
  func viewer(after identifier: String? = nil) async throws -> EventStream {
    let headers: HTTPHeaders = identifier.map { ["Last-Event-ID": $0] } ?? [:]
    return EventStream(try await get("events", headers: headers))
  }
}

/// Server-sent events.
struct EventStream {
  struct Message {
    var name = "message"
    var identifier: String?
    var data = ""

    /// The events, by `type`.
    func events() throws -> [[String: Any]] {
      try #require(JSONSerialization.jsonObject(with: Data(data.utf8)) as? [[String: Any]])
    }
  }

  let status: UInt
  private var body: HTTPClientResponse.Body.AsyncIterator
  private var buffer = ""

  init(_ response: HTTPClientResponse) {
    status = response.status.code
    body = response.body.makeAsyncIterator()
  }

  /// The next message, nil at the end.
  mutating func next() async throws -> Message? {
    while true {
      if let end = buffer.range(of: "\n\n") {
        let block = buffer[..<end.lowerBound]
        buffer.removeSubrange(..<end.upperBound)
        var message = Message()
        for line in block.split(separator: "\n") {
          if line.hasPrefix("event: ") { message.name = String(line.dropFirst(7)) }
          if line.hasPrefix("id: ") { message.identifier = String(line.dropFirst(4)) }
          if line.hasPrefix("data: ") { message.data = String(line.dropFirst(6)) }
        }
        if !message.data.isEmpty { return message }
      } else {
        guard let bytes = try await body.next(isolation: #isolation) else { return nil }
        buffer += String(buffer: bytes)
      }
    }
  }

  /// The events up to and including the first one of a type, and the identifier of the last message.
  mutating func events(through type: String) async throws -> (events: [[String: Any]], identifier: String?) {
    var events: [[String: Any]] = []
    while let message = try await next() {
      guard message.name == "message" else { continue }
      events += try message.events()
      if events.contains(where: { $0["type"] as? String == type }) { return (events, message.identifier) }
    }
    return (events, nil)
  }
}

/// Compares a value from a server with the expected one.
///
/// `#expect` does not allow `try await` in a closure.
func expect<Value: Equatable>(_ value: Value, is expected: Value, location: SourceLocation = #_sourceLocation) {
  #expect(value == expected, sourceLocation: location)
}

func items(_ events: [[String: Any]]) -> [[Int]] {
  events.filter { $0["type"] as? String == "added" }.compactMap { event in
    guard let task = event["task"] as? Int, let item = event["item"] as? Int else { return nil }
    return [task, item]
  }
}

let allItems = (1...5).flatMap { task in (1...10).map { [task, $0] } }
#endif
