#if HTTP
  import NIOSSL

  /// A certificate for 127.0.0.1 and localhost, made for tests: nobody else trusts it.
  package enum LoopbackCertificate {
    /// It signs itself, until 2126.
    package static let certificate = """
      -----BEGIN CERTIFICATE-----
      MIIBnDCCAUGgAwIBAgIUHNshhiNADX90RtuuovOSSHa50mcwCgYIKoZIzj0EAwIw
      FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMzE5NDkyN1oYDzIxMjYxMDMw
      MTk0OTI3WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
      PQMBBwNCAATnuWb82L5LkO/4EcDF8ajCw2mzg0kQXzFO8Oc8ZNjgU1Gp+dasqFAU
      QOUaBJEsZtPMR9MfDyggEWRClqRM9ULro28wbTAdBgNVHQ4EFgQU9K+Bsridx/J4
      7NFq3k+x/uzFohAwHwYDVR0jBBgwFoAU9K+Bsridx/J47NFq3k+x/uzFohAwDwYD
      VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZI
      zj0EAwIDSQAwRgIhAOv7guCImKR07wblMt9zylAXg294hrO0BO2ftOW1gmdXAiEA
      /PsLnMybVPDcJCcxDF2Pjua32SyiZ+VYv9R3gzHO46g=
      -----END CERTIFICATE-----
      """

    private static let key = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdBfKDmuOTWvNi8kV
      K0lAr5M4ZB1PxSmK2LyMfcejpTyhRANCAATnuWb82L5LkO/4EcDF8ajCw2mzg0kQ
      XzFO8Oc8ZNjgU1Gp+dasqFAUQOUaBJEsZtPMR9MfDyggEWRClqRM9ULr
      -----END PRIVATE KEY-----
      """

    static func context() throws -> NIOSSLContext {
      let certificates = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
      let configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: certificates.map { .certificate($0) },
        privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
      return try NIOSSLContext(configuration: configuration)
    }
  }
#endif
