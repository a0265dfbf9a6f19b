#if Dashboard
import HTTPTypes
public import Hummingbird

extension JobsDashboard {
  /// Adds the pages to a router.
  ///
  /// Each request is authorized before anything is read. Authorize people by something that other sites can't send on
  /// their behalf, such as a cookie with `SameSite=Strict`. In addition, changes require a token of the page and its
  /// origin.
  ///
  /// - Parameters:
  ///   - router: The router that receives the routes.
  ///   - path: The path of the first page from the root of the site, such as `/jobs`; `/` for the whole site.
  ///   - authorize: Returns what the sender of a request may do, and who that is. The store records the changes of this
  ///     person.
  public func addRoutes<Context: RequestContext>(
    to router: Router<Context>, at path: String,
    authorize: @escaping @Sendable (Request, Context) async throws -> Access
  ) {
    addRoutes(to: router, at: path, origins: SiteOrigins(options.origins), authorize: authorize)
  }

  func addRoutes<Context: RequestContext>(
    to router: Router<Context>, at path: String, origins: SiteOrigins,
    authorize: @escaping @Sendable (Request, Context) async throws -> Access
  ) {
    let base = SitePath.normalized(path)
    let handler = RequestHandler(dashboard: self, path: base, origins: origins)
    let respond: @Sendable (Request, Context) async throws -> Response = { request, context in
      await handler.respond(to: request) { try await authorize(request, context) }
    }
    for path in [base.isEmpty ? "/" : base, "\(base)/**"] {
      router.get(RouterPath(path)) { request, context in try await respond(request, context) }
      router.head(RouterPath(path)) { request, context in try await respond(request, context).createHeadResponse() }
      router.post(RouterPath(path)) { request, context in try await respond(request, context) }
    }
  }
}
#endif
