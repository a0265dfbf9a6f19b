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
    /// The times of wrong passwords.
    var failures: [ContinuousClock.Instant] = []
  }

  private let password: String?
  private let hosts: HostNames
  private let state = Mutex(State())

  private static let maxSessionCount = 100
  private static let maxFailureCount = 10
  private static let failurePeriod = Duration.seconds(60)

  init(password: String?, hosts: HostNames) { (self.password, self.hosts) = (password, hosts) }

  /// Returns the path that lets one browser log in.
  func start(port: Int) -> String {
    state.withLock { state in
      state.port = port
      return Link.to("/login", ["token": state.token])
    }
  }

  /// Browsers store cookies by host, not by port, so two dashboards on one machine need two names.
  private var cookie: String { "headway-dashboard-\(state.withLock { $0.port })" }

  @concurrent func handle(
    _ request: Request, context: BasicRequestContext,
    next: @concurrent (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do {
      response = try await checked(request, context, next)
    } catch {
      response = PageRenderer.loginPage(for: error, acceptsPassword: password != nil)
    }
    response.addSafeHeaders(policy: Self.policy, referrer: "same-origin")
    return response
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
    if path == "/login" { return try await login(request, authority) }
    if StaticFile.named(String(path.dropFirst())) != nil { return try await next(request, context) }
    guard let session = request.cookies[cookie]?.value, isOpen(session) else { throw Self.needsLogin }
    return try await next(request, context)
  }

  private static let needsLogin = Refusal(.forbidden, "You are not logged in.")
  private static let usedToken = Refusal(
    .forbidden, "This address is not valid, or was used before. Restart the dashboard to get another one.")
  private static let wrongPassword = Refusal(.forbidden, "The password is wrong.")
  private static let tooManyFailures = Refusal(
    .tooManyRequests, "There were too many wrong passwords. Try again in a minute.")

  private func isOpen(_ session: String) -> Bool {
    state.withLock { $0.sessions }.contains { Secret.areEqual($0, session) }
  }

  private func login(_ request: Request, _ authority: String) async throws -> Response {
    if request.method == .post {
      guard request.headers[.origin] == "http://\(authority)" || request.headers[.origin] == "https://\(authority)"
      else { throw Refusal.otherSite }
      let form = try await RequestHandler.form(of: request)
      try check(password: form["password"] ?? "")
      return open()
    }
    guard let given = Fields(request.uri.query ?? "")["token"] else { throw Self.needsLogin }
    // A program that only checks the address, with a HEAD request, does not use it up.
    guard request.method == .get, take(token: given) else { throw Self.usedToken }
    return open()
  }

  private func take(token given: String) -> Bool {
    state.withLock { state in
      guard let token = state.token, Secret.areEqual(token, given) else { return false }
      state.token = nil
      return true
    }
  }

  private func check(password given: String) throws {
    guard let password else { throw Self.needsLogin }
    let now = ContinuousClock.now
    let isBlocked = state.withLock { state in
      state.failures.removeAll { now - $0 > Self.failurePeriod }
      return state.failures.count >= Self.maxFailureCount
    }
    guard !isBlocked else { throw Self.tooManyFailures }
    guard Secret.areEqual(password, given) else {
      state.withLock { $0.failures.append(now) }
      throw Self.wrongPassword
    }
  }

  private func open() -> Response {
    let session = Secret.make()
    state.withLock { state in
      state.sessions.append(session)
      if state.sessions.count > Self.maxSessionCount { state.sessions.removeFirst() }
    }
    return Response(
      status: .seeOther,
      headers: [.location: "/", .setCookie: "\(cookie)=\(session); HttpOnly; SameSite=Strict; Path=/"])
  }
}
#endif
