#if HTTP
import NIOSSL

/// A certificate of a server on this machine, created for tests: no other program trusts it.
package struct LoopbackCertificate: Sendable {
  /// The certificate and the certificates that authenticate it, in PEM format.
  package let text: String

  /// For 127.0.0.1 and localhost, self-signed, until 2126.
  package static let usual = LoopbackCertificate(
    text: """
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
      """)

  /// The same certificate, but valid until the end of 2020.
  package static let expired = LoopbackCertificate(
    text: """
      -----BEGIN CERTIFICATE-----
      MIIBVzCB/6ADAgECAhRjMbFpw8KBRBKPWAYqAo/77pTjKDAKBggqhkjOPQQDAjAU
      MRIwEAYDVQQDDAkxMjcuMC4wLjEwHhcNMjAwMTAxMDAwMDAwWhcNMjAxMjMxMDAw
      MDAwWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjOPQMB
      BwNCAATnuWb82L5LkO/4EcDF8ajCw2mzg0kQXzFO8Oc8ZNjgU1Gp+dasqFAUQOUa
      BJEsZtPMR9MfDyggEWRClqRM9ULroy8wLTAPBgNVHRMBAf8EBTADAQH/MBoGA1Ud
      EQQTMBGHBH8AAAGCCWxvY2FsaG9zdDAKBggqhkjOPQQDAgNHADBEAiBbdM7iU9tI
      WKGmaglx1ILs0641s+lmZgR4LPLhxwER2QIgfEnfwh3XZiW8Ol7Y1PnYa0tWyDrx
      xAQM+XPnxOZ+hUs=
      -----END CERTIFICATE-----
      """)

  /// For the hosts of example.org, self-signed.
  package static let ofOtherHosts = LoopbackCertificate(
    text: """
      -----BEGIN CERTIFICATE-----
      MIIBXDCCAQOgAwIBAgIULKjkXEsVu9DAfnhP2U3gKrMiJPkwCgYIKoZIzj0EAwIw
      FjEUMBIGA1UEAwwLZXhhbXBsZS5vcmcwIBcNMjYwMTAxMDAwMDAwWhgPMjEyNjEw
      MzAwMDAwMDBaMBYxFDASBgNVBAMMC2V4YW1wbGUub3JnMFkwEwYHKoZIzj0CAQYI
      KoZIzj0DAQcDQgAE57lm/Ni+S5Dv+BHAxfGowsNps4NJEF8xTvDnPGTY4FNRqfnW
      rKhQFEDlGgSRLGbTzEfTHw8oIBFkQpakTPVC66MtMCswDwYDVR0TAQH/BAUwAwEB
      /zAYBgNVHREEETAPgg0qLmV4YW1wbGUub3JnMAoGCCqGSM49BAMCA0cAMEQCIE5w
      lX+3MYLRLdmvvS2BucehKFnfTLB+ADOUgjWLwnXRAiBW947ocDmAKtgsep5ArvCu
      r2HpO9ZXRs1ArqW/qTJKhg==
      -----END CERTIFICATE-----
      """)

  /// For 127.0.0.1 and localhost, issued by a self-signed certificate that is sent with it.
  package static let issued = LoopbackCertificate(
    text: """
      -----BEGIN CERTIFICATE-----
      MIIBWzCCAQGgAwIBAgIUD8IZz0fQPH3fKxj8+t293kq23FMwCgYIKoZIzj0EAwIw
      FzEVMBMGA1UEAwwMSGVhZHdheSBUZXN0MCAXDTI2MDEwMTAwMDAwMFoYDzIxMjYx
      MDMwMDAwMDAwWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggq
      hkjOPQMBBwNCAATnuWb82L5LkO/4EcDF8ajCw2mzg0kQXzFO8Oc8ZNjgU1Gp+das
      qFAUQOUaBJEsZtPMR9MfDyggEWRClqRM9ULroywwKjAMBgNVHRMBAf8EAjAAMBoG
      A1UdEQQTMBGHBH8AAAGCCWxvY2FsaG9zdDAKBggqhkjOPQQDAgNIADBFAiEA5oAA
      Nz3IfrccacVJVnJu+z6IKpiTRD9oLAvLXstDXgACIHL/Db55u0xW09DE5NfZBN+s
      jNz+4M6GzAStz/l5oPHA
      -----END CERTIFICATE-----
      -----BEGIN CERTIFICATE-----
      MIIBRTCB66ADAgECAhQA19MObx859lV8NACUujqkZo8uQDAKBggqhkjOPQQDAjAX
      MRUwEwYDVQQDDAxIZWFkd2F5IFRlc3QwIBcNMjYwMTAxMDAwMDAwWhgPMjEyNjEw
      MzAwMDAwMDBaMBcxFTATBgNVBAMMDEhlYWR3YXkgVGVzdDBZMBMGByqGSM49AgEG
      CCqGSM49AwEHA0IABNwlG8QwDKATldgqZoPJq+J9eTzbzlq6mn82bx/0zaf7he8x
      WmEnk/GHNxNQCWfLVlNQvtx8T8xovCPC8IgJNNOjEzARMA8GA1UdEwEB/wQFMAMB
      Af8wCgYIKoZIzj0EAwIDSQAwRgIhAN8En13Amu3vf72git762KZdW85zshqEbE48
      4fLJ/ze6AiEAlFgut2WRWsjOLYpFd+Um4WzaX2JZ9JlHJcI/fV+zVIw=
      -----END CERTIFICATE-----
      """)

  /// For 127.0.0.1 and localhost, without the certificate of its issuer, whose name contains special characters.
  package static let fromUnknownIssuer = LoopbackCertificate(
    text: """
      -----BEGIN CERTIFICATE-----
      MIICIDCCAcWgAwIBAgIUWUG+ia8FK8G/He+PmAUSTQVqBpYwCgYIKoZIzj0EAwIw
      gZoxCzAJBgNVBAYTAkRFMRMwEQYKCZImiZPyLGQBGRYDb3JnMRowGAYDVQQKDBFH
      csO2w59lLCAiQSIgOzxcPjEgMA0GA1UECwwGIHR3byAgMA8GCgmSJomT8ixkAQEM
      AXgxDDAKBgNVBAQMA29kZDEcMBoGCSqGSIb3DQEJARYNYUBleGFtcGxlLm9yZzEM
      MAoGA1UEAwwDIzEgMCAXDTI2MTEyOTA5Mzc0OFoYDzIxMjYxMTA0MDkzNzQ4WjAU
      MRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATn
      uWb82L5LkO/4EcDF8ajCw2mzg0kQXzFO8Oc8ZNjgU1Gp+dasqFAUQOUaBJEsZtPM
      R9MfDyggEWRClqRM9ULro2wwajAMBgNVHRMBAf8EAjAAMBoGA1UdEQQTMBGHBH8A
      AAGCCWxvY2FsaG9zdDAdBgNVHQ4EFgQU9K+Bsridx/J47NFq3k+x/uzFohAwHwYD
      VR0jBBgwFoAUaD4SwCpflxHwmwgnE93ZFJyMp5UwCgYIKoZIzj0EAwIDSQAwRgIh
      AMWyV8Cb/p7WR/S1b+RCilSoWI8Un+Co3JUc2AbMYcQuAiEAjj1BMZ9C8st7hKnH
      PEtRsmUyyoIjmeWrkAeV3XN5Lf8=
      -----END CERTIFICATE-----
      """)

  private static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdBfKDmuOTWvNi8kV
    K0lAr5M4ZB1PxSmK2LyMfcejpTyhRANCAATnuWb82L5LkO/4EcDF8ajCw2mzg0kQ
    XzFO8Oc8ZNjgU1Gp+dasqFAUQOUaBJEsZtPMR9MfDyggEWRClqRM9ULr
    -----END PRIVATE KEY-----
    """

  func context(protocols: [String]) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: try certificates.map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(Self.key.utf8), format: .pem)))
    configuration.applicationProtocols = protocols
    return try NIOSSLContext(configuration: configuration)
  }

  private var certificates: [NIOSSLCertificate] {
    get throws { try NIOSSLCertificate.fromPEMBytes(Array(text.utf8)) }
  }
}
#endif
