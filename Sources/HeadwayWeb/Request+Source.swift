#if Web
import HTTPTypes
package import Hummingbird

extension Request {
  /// Returns whether the browser reports that the request is from a page of this server, or from its user.
  ///
  /// Other programs do not send this header.
  ///
  /// - Parameter allowsLinks: Whether pages of other sites may link to what is requested.
  /// - Returns: Whether the request may be answered.
  package func isFromHere(allowsLinks: Bool) -> Bool {
    switch headers[HTTPField.Name("Sec-Fetch-Site")!] {
    case nil, "same-origin", "none": true
    default: allowsLinks && headers[HTTPField.Name("Sec-Fetch-Mode")!] == "navigate"
    }
  }
}
#endif
