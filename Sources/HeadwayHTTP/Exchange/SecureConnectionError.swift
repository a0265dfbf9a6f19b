#if HTTP
import Foundation
import NIOSSL

/// A TLS error, described in plain words.
///
/// BoringSSL describes its errors with numbers and with paths from the machine that built it.
struct SecureConnectionError {
  /// A sentence that describes the error.
  let message: String
  /// Whether no chain leads from the certificate to a trusted one.
  ///
  /// BoringSSL does not report the reason for this.
  let isAboutTrust: Bool

  private static let noTLS = "The server's response is not TLS. If the server does not support TLS, use http://."

  /// The reasons that BoringSSL reports, and their meanings.
  private static let meanings: [(reason: String, meaning: String)] = [
    ("WRONG_VERSION_NUMBER", noTLS),
    ("HTTP_REQUEST", noTLS),
    ("UNSUPPORTED_PROTOCOL", "The server supports only insecure versions of TLS."),
    ("PROTOCOL_VERSION", "The server supports only insecure versions of TLS."),
    ("CERTIFICATE_REQUIRED", "The server requires a client certificate."),
    ("UNRECOGNIZED_NAME", "The server does not recognize the name of the host."),
    ("HANDSHAKE_FAILURE", "The server does not support any secure cipher."),
  ]

  private init(_ message: String, isAboutTrust: Bool = false) {
    (self.message, self.isAboutTrust) = (message, isAboutTrust)
  }

  /// Creates the description of an error; nil if it is not a TLS error, or if it is temporary.
  init?(_ error: any Error, host: String) {
    let isForAnother = [.failedToValidateHostname, .serverHostnameImpossibleToMatch].contains(
      error as? NIOSSLExtraError)
    switch error {
    case _ where isForAnother, NIOSSLError.unableToValidateCertificate:
      self.init("The certificate is not trusted: it is not for \(host).")
    case NIOSSLError.noCertificateToValidate: self.init("The server did not send a certificate.")
    case NIOSSLError.handshakeFailed(.sslError(let stack)), BoringSSLError.sslError(let stack):
      guard !stack.contains(.eofDuringHandshake) else { return nil }
      self.init(reasons: stack.map { Self.reason($0) })
    case NIOSSLError.handshakeFailed, is NIOSSLExtraError: self.init("The secure connection failed.")
    default: return nil
    }
  }

  private init?(reasons: [String]) {
    // The connection was established, and bytes were changed in transit.
    if reasons.contains(where: { $0.hasSuffix("BAD_RECORD_MAC") }) { return nil }
    if reasons.contains("CERTIFICATE_VERIFY_FAILED") {
      self.init("The certificate is not trusted.", isAboutTrust: true)
    } else if let known = Self.meanings.first(where: { entry in reasons.contains { $0.contains(entry.reason) } }) {
      self.init(known.meaning)
    } else {
      let words = reasons.first { !$0.isEmpty }.map { $0.lowercased().replacing("_", with: " ") }
      self.init("The secure connection failed\(words.map { ": \($0)" } ?? "").")
    }
  }

  /// Extracts the reason, such as `CERTIFICATE_VERIFY_FAILED` from
  /// `Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:` and so on.
  private static func reason(_ error: BoringSSLInternalError) -> String {
    let text = error.description
    guard let start = text.range(of: ":OPENSSL_internal:")?.upperBound else { return "" }
    return String(text[start...].prefix { $0 != " " })
  }
}
#endif
