#if HTTP
  import Foundation
  import NIOSSL

  /// What TLS reports where no connection can be trusted, in words for a person.
  ///
  /// BoringSSL describes its errors with numbers and with paths of the machine that built it.
  struct SecureConnectionError {
    /// What happened.
    let message: String
    /// Whether the certificate has no chain to one that is trusted, of which BoringSSL gives no reason.
    let isAboutTrust: Bool

    /// Reasons as BoringSSL names them, and what they mean.
    private static let meanings: [(reason: String, meaning: String)] = [
      ("WRONG_VERSION_NUMBER", "The server does not speak TLS: its address may be one of http."),
      ("HTTP_REQUEST", "The server does not speak TLS: its address may be one of http."),
      ("UNSUPPORTED_PROTOCOL", "The server speaks no version of TLS that is safe."),
      ("PROTOCOL_VERSION", "The server speaks no version of TLS that is safe."),
      ("CERTIFICATE_REQUIRED", "The server requires a certificate of the client."),
      ("UNRECOGNIZED_NAME", "The server does not serve this host."),
      ("HANDSHAKE_FAILURE", "The server accepts no encryption that is safe."),
    ]

    private init(_ message: String, isAboutTrust: Bool = false) {
      (self.message, self.isAboutTrust) = (message, isAboutTrust)
    }

    /// What an error means; nil if it is none of TLS, or says nothing of trust.
    init?(_ error: any Error, host: String) {
      let isForAnother = [.failedToValidateHostname, .serverHostnameImpossibleToMatch].contains(
        error as? NIOSSLExtraError)
      switch error {
      case _ where isForAnother, NIOSSLError.unableToValidateCertificate:
        self.init("The certificate is not trusted: it is not for \(host).")
      case NIOSSLError.noCertificateToValidate: self.init("The server has no certificate.")
      case NIOSSLError.handshakeFailed(.sslError(let stack)), BoringSSLError.sslError(let stack):
        guard !stack.contains(.eofDuringHandshake) else { return nil }
        self.init(reasons: stack.map { Self.reason($0) })
      case NIOSSLError.handshakeFailed, is NIOSSLExtraError: self.init("The secure connection failed.")
      default: return nil
      }
    }

    private init?(reasons: [String]) {
      // The connection was good, and bytes were changed on their way.
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

    /// `CERTIFICATE_VERIFY_FAILED` of `Error: 268435581 error:1000007d:SSL routines:OPENSSL_internal:` and so on.
    private static func reason(_ error: BoringSSLInternalError) -> String {
      let text = error.description
      guard let start = text.range(of: ":OPENSSL_internal:")?.upperBound else { return "" }
      return String(text[start...].prefix { $0 != " " })
    }
  }
#endif
