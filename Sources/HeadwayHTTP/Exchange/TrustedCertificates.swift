#if HTTP
  import NIOSSL

  enum TrustedCertificates {
    static func configuration(_ certificates: String) throws -> TLSConfiguration {
      var configuration = TLSConfiguration.makeClientConfiguration()
      do {
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificates.utf8)))
      } catch {
        throw HTTPError(.cannotReadFile, url: "", message: "The certificates are not in PEM format.", underlying: error)
      }
      return configuration
    }
  }
#endif
