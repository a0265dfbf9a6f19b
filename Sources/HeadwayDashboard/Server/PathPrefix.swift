#if Dashboard
/// The path below which a proxy serves the pages.
///
/// The proxy removes the path from all requests or keeps it in all of them. If the path is also that of a page, such as
/// `/jobs`, a request for exactly this path is either for the page or for the first page. The other requests show which
/// of the two it is.
struct PathPrefix: Sendable {
  /// The path without a slash at its end; empty if there is none.
  let path: String
  /// Whether the last request with a clear meaning came without the path.
  private var isRemoved = false

  init(_ path: String) { self.path = SitePath.normalized(path) }

  /// Returns the path of a request below the prefix.
  ///
  /// - Parameter target: The path of the request with its query.
  /// - Returns: The path. It has no leading slash if the request is for the first page, without the slash at the end.
  mutating func removed(from target: String) -> String {
    guard !path.isEmpty else { return target }
    guard let rest = SitePath.removing(path, from: target) else {
      isRemoved = true
      return target
    }
    if rest.hasPrefix("/") {
      isRemoved = false
      return rest
    }
    return isRemoved && PageRenderer.isPage(path) ? target : rest
  }
}
#endif
