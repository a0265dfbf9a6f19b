#if Dashboard
/// The paths of pages.
///
/// All addresses in pages are relative, so that a proxy can serve the pages below any path.
enum SitePath {
  /// Returns a path with a leading slash and without a trailing one; an empty string for the root.
  static func normalized(_ path: String) -> String { path.split(separator: "/").map { "/\($0)" }.joined() }

  /// Returns the relative address of the first page, without a trailing slash.
  ///
  /// - Parameters:
  ///   - page: The path of the request.
  ///   - root: The path of the first page, without a trailing slash.
  /// - Returns: For example, `..` for the page `/job/7`.
  static func wayBack(from page: String, to root: String) -> String {
    let rest = page.dropFirst(root.count)
    // Without a trailing slash, the path of the first page is relative to the folder above.
    guard !rest.isEmpty else { return "./" + (root.split(separator: "/").last ?? "") }
    // A proxy that removes a path without its slash leaves two slashes.
    let depth = rest.drop { $0 == "/" }.count { $0 == "/" }
    return depth == 0 ? "." : Array(repeating: "..", count: depth).joined(separator: "/")
  }

  /// Returns the path of a request without a prefix; nil if it does not begin with the prefix.
  static func removing(_ prefix: String, from path: String) -> String? {
    guard !prefix.isEmpty, path.hasPrefix(prefix) else { return nil }
    let rest = path.dropFirst(prefix.count)
    return rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") ? String(rest) : nil
  }
}
#endif
