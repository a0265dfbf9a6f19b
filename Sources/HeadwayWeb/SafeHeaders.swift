#if Web
package import HTTPTypes
package import Hummingbird

extension Response {
  /// Adds headers that keep a page of another site, and text in a page, from doing harm.
  ///
  /// A response can have its own policy, for a page that contains its script.
  ///
  /// - Parameters:
  ///   - policy: The value of `Content-Security-Policy`.
  ///   - referrer: Which addresses browsers send to other pages. With `no-referrer`, they send no origin with forms.
  package mutating func addSafeHeaders(policy: String, referrer: String = "no-referrer") {
    let fields: [(HTTPField.Name, String)] = [
      (.contentSecurityPolicy, policy), (.xContentTypeOptions, "nosniff"),
      (HTTPField.Name("Referrer-Policy")!, referrer),
      (HTTPField.Name("Cross-Origin-Resource-Policy")!, "same-origin"), (.cacheControl, "no-store"),
    ]
    for (name, value) in fields where headers[name] == nil { headers[name] = value }
  }
}

extension HTTPFields {
  /// The headers of an event stream, which a proxy must pass on immediately.
  package static let eventStream: HTTPFields = [
    .contentType: "text/event-stream; charset=utf-8", HTTPField.Name("X-Accel-Buffering")!: "no",
    .cacheControl: "no-store, no-transform",
  ]
}
#endif
