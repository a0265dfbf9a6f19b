#if Dashboard
import HTTPTypes
import Hummingbird

/// The origins of the pages of a dashboard, whose forms are accepted.
///
/// The origin of a page is the scheme, host and port that the browser uses. A proxy often changes the host of the
/// request, but never the origin.
struct SiteOrigins: Sendable {
  private let origins: Set<String>
  private let hosts: Set<String>

  /// Creates the origins.
  ///
  /// - Parameters:
  ///   - origins: Origins, such as `https://jobs.example.org`.
  ///   - hosts: Host names that browsers use with any scheme and port.
  init(_ origins: Set<String>, hosts: Set<String> = []) {
    self.origins = Set(origins.map { Self.normalized($0) })
    self.hosts = Set(hosts.map { $0.lowercased() })
  }

  /// Whether browsers use encrypted connections.
  var areEncrypted: Bool { origins.contains { $0.hasPrefix("https://") } }

  /// The host names of the origins.
  var hostNames: Set<String> { Set(origins.compactMap(Self.host)) }

  /// Checks that a form was sent by a page of this site.
  func check(_ request: Request) throws {
    guard let origin = request.headers[.origin], let authority = request.head.authority else {
      throw Refusal.otherSite(nil)
    }
    let isKnown =
      ["http://\(authority)", "https://\(authority)"].contains(origin) || origins.contains(Self.normalized(origin))
      || Self.host(of: origin).map(hosts.contains) ?? false
    guard isKnown else { throw Refusal.otherSite(origin) }
  }

  private static func normalized(_ origin: String) -> String {
    let text = origin.lowercased()
    return text.hasSuffix("/") ? String(text.dropLast()) : text
  }

  private static func host(of origin: String) -> String? {
    origin.lowercased().wholeMatch(of: /https?:\/\/(\[[^\]\/]+\]|[^:\/\[\]]+)(:[0-9]+)?/).map { String($0.1) }
  }
}
#endif
