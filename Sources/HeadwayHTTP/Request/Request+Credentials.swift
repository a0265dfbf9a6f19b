#if HTTP
import Foundation
import HTTPTypes

extension Request {
  /// The same request with the user name and the password moved from the URL to a header field (RFC 7617).
  ///
  /// The credentials therefore appear in no message and no name of an operation, and are not sent to another host. An
  /// existing `Authorization` field is kept.
  var withCredentialsInHeaders: Request {
    guard url.utf8.contains(UInt8(ascii: "@")), var parts = URLComponents(string: url), let user = parts.user else {
      return self
    }
    var request = self
    if !headers.contains(.authorization) {
      let credentials = Data("\(user):\(parts.password ?? "")".utf8).base64EncodedString()
      request.headers[.authorization] = "Basic \(credentials)"
    }
    (parts.user, parts.password) = (nil, nil)
    request.url = parts.string ?? url
    return request
  }
}
#endif
