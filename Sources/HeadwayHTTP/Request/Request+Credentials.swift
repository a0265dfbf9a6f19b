#if HTTP
import Foundation
import HTTPTypes

extension Request {
  /// The same request with the user name and the password moved from the URL to a header field (RFC 7617).
  ///
  /// The credentials therefore appear in no message and no name of an operation and are not sent to another host. An
  /// existing `Authorization` field is kept.
  var withCredentialsInHeaders: Request {
    guard url.utf8.contains(UInt8(ascii: "@")) else { return self }
    var request = self
    guard RequestCheck.address(url) != nil, var parts = URLComponents(string: url) else {
      request.url = url.withoutCredentials
      return request
    }
    guard let user = parts.user else { return self }
    if !headers.contains(.authorization) {
      let credentials = Data("\(user):\(parts.password ?? "")".utf8).base64EncodedString()
      request.headers[.authorization] = "Basic \(credentials)"
    }
    (parts.user, parts.password) = (nil, nil)
    request.url = parts.string ?? url
    return request
  }
}

extension String {
  /// An invalid URL, without the part that could be a user name and a password.
  ///
  /// A password that is not percent-encoded can contain the characters that delimit the parts of a URL.
  package var withoutCredentials: String {
    guard let end = lastIndex(of: "@") else { return self }
    let scheme = range(of: "://").map { self[..<$0.upperBound] } ?? ""
    return String(scheme.endIndex <= end ? scheme : "") + self[index(after: end)...]
  }
}
#endif
