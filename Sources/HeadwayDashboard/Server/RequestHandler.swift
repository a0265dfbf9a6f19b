#if Dashboard
import HTTPTypes
import HeadwayJobs
import HeadwayWeb
import Hummingbird
import NIOCore

/// Responds to the requests of browsers: checks them, and finds the page or the change.
struct RequestHandler: Sendable {
  let dashboard: JobsDashboard
  /// The path of the first page, without a slash at its end.
  let path: String
  let origins: SiteOrigins

  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

  /// The maximum size of a form without a payload.
  private static let maxFormSize = 64 * 1_024

  func respond(to request: Request, _ authorize: () async throws -> JobsDashboard.Access) async -> Response {
    await PageZone.$current.withValue(PageZone(request)) { await response(to: request, authorize) }
  }

  private func response(to request: Request, _ authorize: () async throws -> JobsDashboard.Access) async -> Response {
    let tokens = ChangeTokens(request, isEncrypted: request.isEncrypted(ifUnknown: origins.areEncrypted))
    let base = SitePath.wayBack(from: request.uri.path, to: path)
    var response: Response
    do {
      guard request.isFromHere(allowsLinks: true) else { throw Refusal.otherSite(request.headers[.origin]) }
      let path = request.uri.path.dropFirst(path.count).split(separator: "/").map(String.init)
      if let file = StaticFile.named(path.first), path.count == 1 {
        response = file.response
      } else {
        response = try await checked(request, path, base, tokens, try await authorize())
      }
    } catch {
      response = PageRenderer(dashboard, base: base).response(for: error)
    }
    tokens.store(in: &response)
    response.addSafeHeaders(policy: Self.policy, referrer: "same-origin")
    return response
  }

  private func checked(
    _ request: Request, _ path: [String], _ base: String, _ tokens: ChangeTokens, _ access: JobsDashboard.Access
  ) async throws -> Response {
    guard access.role != nil else { throw Refusal.noAccess }
    let canChange = access.role == .operate && !dashboard.options.isReadOnly
    let call = Call(
      path: path, query: Fields(request.uri.query ?? ""), access: access, canChange: canChange, token: tokens.token)
    if path == ["events"], request.method == .get { return try LiveEvents.response(for: dashboard.jobs) }
    let renderer = PageRenderer(dashboard, base: base)
    guard request.method == .post else { return try await renderer.response(to: call) }
    guard canChange else { throw Refusal.readOnly }
    try origins.check(request)
    guard path == ["change"] else { throw Refusal.noPage }
    // A form can contain the payload of a job. Indented and encoded, it is longer than in the store.
    let payloadSize = 4 * min(dashboard.jobs.store.maxPayloadSize, 4 * 1_024 * 1_024)
    let form = try await Self.form(of: request, maxSize: Self.maxFormSize + payloadSize)
    try tokens.check(form["token"])
    defer { dashboard.healthWatch.forget() }
    let jobs = dashboard.jobs.changing(as: access.name ?? JobsDashboard.Access.unnamed)
    let target = try await DashboardChange(form, dashboard).perform(on: jobs)
    return Response(status: .seeOther, headers: [.location: base + target])
  }

  /// Reads the form in the body of a request.
  static func form(of request: Request, maxSize: Int = maxFormSize) async throws -> Fields {
    guard request.headers[.contentType]?.hasPrefix("application/x-www-form-urlencoded") == true else {
      throw HTTPError(.unsupportedMediaType)
    }
    return Fields(String(buffer: try await request.body.collect(upTo: maxSize)))
  }
}
#endif
