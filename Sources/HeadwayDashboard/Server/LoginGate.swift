#if Dashboard
import HTTPTypes
import HeadwayWeb
import Hummingbird
import Synchronization

/// Requires people to log in to a dashboard, with the printed address or a password, or to be signed in by a proxy.
final class LoginGate: RouterMiddleware {
  typealias Context = BasicRequestContext

  private struct State {
    var port = 0
    /// The token of the printed address, until it is used.
    var token: String? = Secret.make()
    var sessions = LoginSessions()
    var guesses = GuessLimit()
    var prefix: PathPrefix
  }

  /// The rights of the person who has sent the current request.
  @TaskLocal static var access = JobsDashboard.Access.none

  let origins: SiteOrigins
  private let people: KnownPeople
  private let proxy: ProxySignIn?
  private let hosts: HostNames
  private let prefix: String
  private let state: Mutex<State>

  init(people: KnownPeople, proxy: ProxySignIn?, hosts: HostNames, origins: SiteOrigins, prefix: PathPrefix) {
    (self.people, self.proxy, self.hosts, self.origins, self.prefix) = (people, proxy, hosts, origins, prefix.path)
    state = Mutex(State(prefix: prefix))
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
      response = PageRenderer.loginPage(for: error, base: base, people)
    }
    response.addSafeHeaders(policy: Self.policy, referrer: "same-origin")
    return response
  }

  private func withoutPrefix(_ request: Request) -> Request {
    let target = request.head.path ?? ""
    let path = state.withLock { $0.prefix.removed(from: target) }
    guard path != target else { return request }
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
    let access = access(of: request)
    if path == "/login" { return try await login(request, access) }
    if path == "/logout", request.method == .post { return try logOut(request) }
    if StaticFile.named(String(path.dropFirst())) != nil { return try await next(request, context) }
    guard let access else { throw Self.needsLogin }
    let rest = proxy?.withoutHeaders(request) ?? request
    return try await Self.$access.withValue(access) { try await next(rest, context) }
  }

  private static let needsLogin = Refusal(.forbidden, "You are not logged in.")
  private static let usedToken = Refusal(
    .forbidden, "This address is not valid, or was used before. Restart the dashboard to get another one.")
  private static let wrongPassword = Refusal(.forbidden, "The password is wrong.")
  private static let wrongNameOrPassword = Refusal(.forbidden, "The name or the password is wrong.")

  /// Returns the rights of the person who has sent a request; nil if the person is not logged in.
  private func access(of request: Request) -> JobsDashboard.Access? {
    if let access = proxy?.access(of: request, from: WebClient.current) { return access }
    guard let token = token(in: request) else { return nil }
    return state.withLock { $0.sessions }.access(token)
  }

  /// The token of the session of a browser.
  private func token(in request: Request) -> String? {
    cookie.value(in: request, isEncrypted: isEncrypted(request))
  }

  private func login(_ request: Request, _ access: JobsDashboard.Access?) async throws -> Response {
    if request.method == .post {
      try origins.check(request)
      return open(request, try await check(RequestHandler.form(of: request), request))
    }
    if request.method == .get, access != nil { return Self.firstPage }
    guard let given = Fields(request.uri.query ?? "")["token"] else { throw Self.needsLogin }
    // A program that only checks the address, with a HEAD request, does not use it up.
    guard request.method == .get, take(token: given) else { throw Self.usedToken }
    return open(request, people.unnamed)
  }

  private func take(token given: String) -> Bool {
    state.withLock { state in
      guard let token = state.token, Secret.areEqual(token, given) else { return false }
      state.token = nil
      return true
    }
  }

  /// Checks the name and the password of a form and returns the rights of the person.
  private func check(_ form: Fields, _ request: Request) async throws -> JobsDashboard.Access {
    guard people.acceptPasswords else { throw Self.needsLogin }
    let (now, name) = (ContinuousClock.now, form["name"])
    let client = proxy?.browser(of: request, from: WebClient.current) ?? WebClient.current
    guard let turn = state.withLock({ $0.guesses.turn(of: client.network, name: name, at: now) }) else {
      throw Refusal.tooManyGuesses
    }
    if turn > now { try await Task.sleep(until: turn) }
    let given = form["password"] ?? ""
    guard let access = try await people.access(name: name, password: given, from: client.network) else {
      throw people.acceptNames ? Self.wrongNameOrPassword : Self.wrongPassword
    }
    return access
  }

  private func logOut(_ request: Request) throws -> Response {
    try origins.check(request)
    if let token = token(in: request) { state.withLock { $0.sessions.close(token) } }
    var response = Self.firstPage
    response.headers.append(cookie.removal(isEncrypted: isEncrypted(request)))
    return response
  }

  private static var firstPage: Response { Response(status: .seeOther, headers: [.location: "./"]) }

  private func open(_ request: Request, _ access: JobsDashboard.Access) -> Response {
    let token = state.withLock { $0.sessions.open(access) }
    var response = Self.firstPage
    response.headers.append(cookie.header(token, isEncrypted: isEncrypted(request)))
    return response
  }
}
#endif
