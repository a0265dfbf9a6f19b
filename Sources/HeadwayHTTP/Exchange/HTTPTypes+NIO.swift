#if HTTP
import HTTPTypes
package import NIOHTTP1

extension HTTPHeaders {
  /// Creates the header fields that NIO sends.
  ///
  /// A client must not send more than one `Cookie` field in HTTP/1.1 (RFC 6265, 5.4), but `HTTPFields` splits it.
  init(_ fields: HTTPFields) {
    self.init()
    reserveCapacity(fields.count)
    var hasCookie = false
    for field in fields {
      guard field.name == .cookie else {
        add(name: field.name.rawName, value: field.value)
        continue
      }
      if !hasCookie { add(name: field.name.rawName, value: fields[.cookie] ?? "") }
      hasCookie = true
    }
  }
}

extension HTTPHeaders {
  /// Returns the value of a field that can occur only once; nil if the field is missing, or occurs with different
  /// values.
  func uniqueValue(_ name: String) -> String? {
    let values = self[name]
    return values.dropFirst().allSatisfy { $0 == values[0] } ? values.first : nil
  }
}

extension HTTPField.Name {
  /// The header field that replaces the URL's host.
  ///
  /// swift-http-types makes its own constant unavailable, because its requests have a property for the host.
  static let hostField = HTTPField.Name("Host")!
}

extension HTTPFields {
  /// Creates the header fields of a response.
  ///
  /// A field whose name is not a token is omitted, because `HTTPFields` can't contain it.
  init(_ headers: HTTPHeaders) {
    self.init()
    reserveCapacity(headers.count)
    for (name, value) in headers {
      if let name = HTTPField.Name(name) { append(HTTPField(name: name, lenientValue: value.utf8)) }
    }
  }
}

extension HTTPResponse.Status {
  /// Creates a status; nil if it has more than three digits, which HTTP/2 can transport and this type can't contain.
  package init?(_ status: HTTPResponseStatus) {
    guard status.code <= 999 else { return nil }
    self.init(code: Int(status.code), reasonPhrase: status.reasonPhrase)
  }

  /// The code and the reason phrase, if there is one.
  var text: String { reasonPhrase.isEmpty ? "\(code)" : "\(code) \(reasonPhrase)" }
}
#endif
