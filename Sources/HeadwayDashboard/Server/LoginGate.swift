#if Dashboard
import HTTPTypes
import HeadwayWeb
import Hummingbird
import Synchronization

/// Requires people to log in to a dashboard, with the printed address or with a password.
final class LoginGate: RouterMiddleware {
  typealias Context = BasicRequestContext

  private struct State {
    var port = 0
    /// The token of the printed address, until it is used.
    var token: String? = Secret.make()
    var sessions: [String] = []
    var guesses = GuessLimit()
  }

  let origins: SiteOrigins
  private let password: String?
  private let hosts: HostNames
  private let prefix: String
  private let state = Mutex(State())

  private static let maxSessionCount = 100

  init(password: String?, hosts: HostNames, origins: SiteOrigins, prefix: String) {
    (self.password, self.hosts, self.origins, self.prefix) = (password, hosts, origins, prefix)
  }

  /// Returns the path that lets one browser log in.
  func start(port: Int) -> String {
    state.withLock { state in
      state.port = port
      return Link.to(prefix + "/login", ["token": state.token])
    }
  }

  /// Browsers store cookies by host, not by port, so two dashboards on one machine need two names.
  private var cookie: SafeCookie {
    SafeCookie("dashboard-\(state.withLock { $0.port })", path: prefix.isEmpty ? "/" : prefix)
  }

  private func isEncrypted(_ request: Request) -> Bool { request.isEncrypted(ifUnknown: origins.areEncrypted) }

  @concurrent func handle(
    _ request: Request, context: BasicRequestContext,
    next: @concurrent (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    let request = withoutPrefix(request)
    var response: Response
    do {
      response = try await checked(request, context, next)
    } catch {
      let base = SitePath.wayBack(from: request.uri.path, to: "")
      response = PageRenderer.loginPage(for: error, base: base, acceptsPassword: password != nil)
    }
    response.addSafeHeaders(policy: Self.policy, referrer: "same-origin")
    return response
  }

  private func withoutPrefix(_ request: Request) -> Request {
    guard let path = SitePath.removing(prefix, from: request.head.path ?? "") else { return request }
    var head = request.head
    head.path = path
    return Request(head: head, body: request.body)
  }

  private static let policy =
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

  @concurrent private func checked(
    _ request: Request, _ context: BasicRequestContext,
    _ next: @concurrent (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    let port = state.withLock { $0.port }
    guard let authority = request.head.authority, hosts.contain(authority, port: port) else {
      throw Refusal.wrongHost
    }
    let path = request.uri.path
    // The proxy has kept the prefix, and the browser has omitted the slash after it.
    if request.head.path?.hasPrefix("/") != true {
      return Response(status: .seeOther, headers: [.location: prefix + "/" + (request.head.path ?? "")])
    }
    if path == "/login" { return try await login(request) }
    if StaticFile.named(String(path.dropFirst())) != nil { return try await next(request, context) }
    guard isLoggedIn(request) else { throw Self.needsLogin }
    return try await next(request, context)
  }

  private static let needsLogin = Refusal(.forbidden, "You are not logged in.")
  private static let usedToken = Refusal(
    .forbidden, "This address is not valid, or was used before. Restart the dashboard to get another one.")
  private static let wrongPassword = Refusal(.forbidden, "The password is wrong.")
  private static let tooManyGuesses = Refusal(
    .tooManyRequests, "Other passwords from your address are being checked. Try again in a few seconds.")

  private func isLoggedIn(_ request: Request) -> Bool {
    guard let session = cookie.value(in: request, isEncrypted: isEncrypted(request)) else { return false }
    return state.withLock { $0.sessions }.contains { Secret.areEqual($0, session) }
  }

  private func login(_ request: Request) async throws -> Response {
    if request.method == .post {
      try origins.check(request)
      let form = try await RequestHandler.form(of: request)
      try await check(password: form["password"] ?? "")
      return open(request)
    }
    if request.method == .get, isLoggedIn(request) { return Self.firstPage }
    guard let given = Fields(request.uri.query ?? "")["token"] else { throw Self.needsLogin }
    // A program that only checks the address, with a HEAD request, does not use it up.
    guard request.method == .get, take(token: given) else { throw Self.usedToken }
    return open(request)
  }

  private func take(token given: String) -> Bool {
    state.withLock { state in
      guard let token = state.token, Secret.areEqual(token, given) else { return false }
      state.token = nil
      return true
    }
  }

  private func check(password given: String) async throws {
    guard let password else { throw Self.needsLogin }
    let now = ContinuousClock.now
    guard let turn = state.withLock({ $0.guesses.turn(of: WebClient.address, at: now) }) else {
      throw Self.tooManyGuesses
    }
    if turn > now { try await Task.sleep(until: turn) }
    guard Secret.areEqual(password, given) else { throw Self.wrongPassword }
  }

  private static var firstPage: Response { Response(status: .seeOther, headers: [.location: "./"]) }

  private func open(_ request: Request) -> Response {
    let session = Secret.make()
    state.withLock { state in
      state.sessions.append(session)
      if state.sessions.count > Self.maxSessionCount { state.sessions.removeFirst() }
    }
    var response = Self.firstPage
    response.headers.append(cookie.header(session, isEncrypted: isEncrypted(request)))
    return response
  }
}
#endif
