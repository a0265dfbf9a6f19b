#if Dashboard
import AsyncHTTPClient
import Foundation
import HeadwayDashboard
import HeadwayJobs
import HeadwayJobsSQLite
import HeadwayTestSupport
import NIOCore
import NIOHTTP1
import Testing

/// A dashboard that is served at an unused port, and a browser that has logged in.
struct RunningDashboard: Sendable {
  let jobs: Jobs
  /// Without a slash at its end.
  let origin: String
  /// The printed address.
  let login: String
  var cookies: [String: String] = [:]

  private static let client: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    // On a busy machine, a connection can take longer than the ten seconds of the default.
    configuration.timeout.connect = .hours(1)
    configuration.redirectConfiguration = .disallow
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1_000
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()

  /// Serves a dashboard of a store in a file while `body` runs.
  static func with(
    _ options: JobsDashboard.Options = .init(), server: JobsDashboardServer.Options = .init(), logsIn: Bool = true,
    _ body: (inout RunningDashboard) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteJobStore(path: folder.path + "/jobs.sqlite")
    try await with(Jobs(store), options, server: server, logsIn: logsIn, body)
    await store.close()
  }

  /// Serves a dashboard while `body` runs.
  static func with(
    _ jobs: Jobs, _ options: JobsDashboard.Options = .init(), server: JobsDashboardServer.Options = .init(),
    logsIn: Bool = true, _ body: (inout RunningDashboard) async throws -> Void
  ) async throws {
    var serverOptions = server
    serverOptions.port = 0
    let server = try JobsDashboardServer(JobsDashboard(jobs, options: options), options: serverOptions)
    let (addresses, continuation) = AsyncStream.makeStream(of: String.self)
    let serving = Task.detached {
      defer { continuation.finish() }
      try await server.run { continuation.yield($0) }
    }
    let first = await addresses.first { _ in true }
    let login = try #require(first)
    let port = try #require(URL(string: login)?.port)
    var dashboard = RunningDashboard(jobs: jobs, origin: "http://127.0.0.1:\(port)", login: login)
    let result: Result<Void, any Error>
    do {
      if logsIn { try await dashboard.logIn() }
      result = .success(try await body(&dashboard))
    } catch {
      result = .failure(error)
    }
    serving.cancel()
    _ = await serving.result
    try result.get()
  }

  /// Opens the printed address, and a page, which stores its token.
  mutating func logIn() async throws {
    let path = String(login.drop { $0 != "?" })
    let answer = try await get("/login" + path)
    #expect(answer.status == .seeOther)
    _ = try await page("/")
  }

  /// A response that was read as a whole.
  struct Answer {
    let status: HTTPResponseStatus
    let headers: HTTPHeaders
    let text: String
  }

  mutating func send(
    _ method: HTTPMethod, _ path: String, headers: HTTPHeaders = [:], body: String? = nil
  ) async throws -> Answer {
    // Addresses in pages are relative to the page's address, which is in the first folder here.
    var request = HTTPClientRequest(url: origin + path.trimmingPrefix("."))
    request.method = method
    request.headers = headers
    if !cookies.isEmpty {
      let text = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
      request.headers.add(name: "Cookie", value: text)
    }
    if let body { request.body = .bytes(ByteBuffer(string: body)) }
    let response = try await Self.client.execute(request, deadline: .distantFuture)
    for header in response.headers["Set-Cookie"] {
      let parts = header.split(separator: ";")[0].split(separator: "=", maxSplits: 1).map(String.init)
      if parts.count == 2 { cookies[parts[0]] = parts[1] }
    }
    let text = String(buffer: try await response.body.collect(upTo: 10_000_000))
    return Answer(status: response.status, headers: response.headers, text: text)
  }

  mutating func get(_ path: String, headers: HTTPHeaders = [:]) async throws -> Answer {
    try await send(.GET, path, headers: headers)
  }

  /// Returns a page.
  mutating func page(_ path: String, location: SourceLocation = #_sourceLocation) async throws -> String {
    let answer = try await get(path)
    #expect(answer.status == .ok, "\(path)", sourceLocation: location)
    return answer.text
  }

  /// The token that the forms of the pages contain.
  var token: String { cookies["headway-dashboard-token"] ?? "" }

  /// Sends a form as a browser does.
  mutating func post(
    _ fields: KeyValuePairs<String, String>, headers: HTTPHeaders? = nil, token: String? = nil, path: String = "/change"
  ) async throws -> Answer {
    let all = [("token", token ?? self.token)] + fields.map { ($0.key, $0.value) }
    let body = all.map { "\($0.0)=\(Self.encoded($0.1))" }.joined(separator: "&")
    let usual: HTTPHeaders = ["Content-Type": "application/x-www-form-urlencoded", "Origin": origin]
    return try await send(.POST, path, headers: headers ?? usual, body: body)
  }

  /// Changes something and returns the page that follows.
  mutating func change(
    _ fields: KeyValuePairs<String, String>, location: SourceLocation = #_sourceLocation
  ) async throws -> String {
    let answer = try await post(fields)
    #expect(answer.status == .seeOther, "\(answer.text)", sourceLocation: location)
    return try await page(answer.headers.first(name: "Location") ?? "", location: location)
  }

  static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }

  /// Opens the stream of events.
  func events() async throws -> HTTPClientResponse {
    var request = HTTPClientRequest(url: origin + "/events")
    request.headers.add(name: "Cookie", value: cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))
    return try await Self.client.execute(request, deadline: .distantFuture)
  }
}

/// Expects a value from a server; the macro does not allow `try await` in a closure.
func expect<Value: Equatable>(_ value: Value, is expected: Value, location: SourceLocation = #_sourceLocation) {
  #expect(value == expected, sourceLocation: location)
}
#endif
