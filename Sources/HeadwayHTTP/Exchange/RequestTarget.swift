#if HTTP
import Foundation

/// The path and the query of a URL whose path contains percent-encoded bytes that are not UTF-8.
///
/// AsyncHTTPClient 1.37 would request `/` instead of such a path. Therefore, it receives a URL with a random path whose
/// query contains the original path and query. A handler of the connection restores them. HTTP/2 has no such handler,
/// so these requests use HTTP/1.1.
struct RequestTarget {
  private static let mark = "/\(UUID().uuidString)?"

  /// The URL for AsyncHTTPClient.
  let hiddenURL: String

  /// Creates the target of a URL; nil if AsyncHTTPClient can request the URL.
  init?(_ address: String) {
    guard let url = URL(string: address), url.path.isEmpty,
      var parts = URLComponents(url: url, resolvingAgainstBaseURL: true), !parts.percentEncodedPath.isEmpty
    else { return nil }
    let target = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    (parts.percentEncodedPath, parts.percentEncodedQuery, parts.fragment) = ("", nil, nil)
    guard let origin = parts.string else { return nil }
    hiddenURL = origin + Self.mark + target
  }

  /// Returns the path and the query to request.
  static func restored(_ uri: String) -> String {
    uri.hasPrefix(mark) ? String(uri.dropFirst(mark.count)) : uri
  }
}
#endif
