#if HTTP
import Foundation
import NIOHTTP1

extension HTTPRequest {
  /// The same request, with a user and a password that are in the address in a header field instead (RFC 7617).
  ///
  /// So they are in no message and no name of an operation, and go to no other host. A field that was set is kept.
  var withCredentialsInHeaders: HTTPRequest {
    guard url.utf8.contains(UInt8(ascii: "@")), var parts = URLComponents(string: url), let user = parts.user else {
      return self
    }
    var request = self
    if !headers.contains(name: "Authorization") {
      let credentials = Data("\(user):\(parts.password ?? "")".utf8).base64EncodedString()
      request.headers.add(name: "Authorization", value: "Basic \(credentials)")
    }
    (parts.user, parts.password) = (nil, nil)
    request.url = parts.string ?? url
    return request
  }
}
#endif
