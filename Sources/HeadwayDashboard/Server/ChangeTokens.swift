#if Dashboard
import HTTPTypes
import HeadwayWeb
import Hummingbird

/// The token of a browser, which its changes must contain.
///
/// The token is in a cookie that scripts can't read and that pages of other sites can't send, and in the forms of the
/// pages. Each process of an application can check it.
struct ChangeTokens: Sendable {
  /// All dashboards on a host can share the token, and a proxy can serve them below any path.
  private static let cookie = SafeCookie("dashboard-token")
  private static let minLength = 20

  let token: String
  private let isNew: Bool
  private let isEncrypted: Bool

  init(_ request: Request, isEncrypted: Bool) {
    let stored = Self.cookie.value(in: request, isEncrypted: isEncrypted)
    let usable = stored.flatMap { text in
      text.utf8.count >= Self.minLength && text.utf8.allSatisfy { $0.isLetterOrDigit } ? text : nil
    }
    token = usable ?? Secret.make()
    isNew = usable == nil
    self.isEncrypted = isEncrypted
  }

  /// Makes the browser keep the token.
  func store(in response: inout Response) {
    guard isNew, response.status == .ok, response.headers[.contentType]?.hasPrefix("text/html") == true else { return }
    response.headers.append(Self.cookie.header(token, isEncrypted: isEncrypted))
  }

  /// Checks the token of a form.
  func check(_ given: String?) throws {
    guard !isNew, let given, Secret.areEqual(given, token) else { throw Refusal.wrongToken }
  }
}

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
  }
}
#endif
