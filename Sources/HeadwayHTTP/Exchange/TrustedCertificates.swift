#if HTTP
import NIOSSL

enum TrustedCertificates {
  static func parsed(_ text: String) throws -> [NIOSSLCertificate] {
    do {
      return try NIOSSLCertificate.fromPEMBytes(Array(text.utf8))
    } catch {
      throw RequestError(
        .cannotReadFile, url: "", context: "The certificates are not in PEM format.", underlyingError: error,
        contextIncludesCause: true)
    }
  }
}
#endif
