#if HTTP
@testable import HeadwayHTTP
import NIOSSL
import Testing

@Suite("HTTP: certificates", .hangLimit) struct CertificateContentTests {
  private func content(_ text: String) throws -> CertificateContent {
    try #require(CertificateContent(NIOSSLCertificate(bytes: Array(text.utf8), format: .pem)))
  }

  @Test(
    "H2: a certificate is valid for its alternative names, whose first label can have an asterisk",
    arguments: [
      ("a.example.org", true), ("A.Example.ORG.", true), ("example.org", false), ("a.b.example.org", false),
      ("xn--a.example.org", false), ("fo.example.com", false), ("foo.example.com", true), ("f-o.example.com", true),
      ("xn--a.example.net", false), ("a.b.example.net", false), ("host.example", true), ("common.example", false),
      ("a_b.example.org", false), ("*.example.org", false), ("", false),
    ])
  func names(host: String, isMatch: Bool) throws {
    #expect(try content(Self.names).isFor(host: host, address: nil) == isMatch)
  }

  @Test("H2: a certificate is valid for its addresses") func addresses() throws {
    let content = try content(Self.names)
    #expect(content.isFor(host: nil, address: [127, 0, 0, 1]))
    #expect(content.isFor(host: "localhost", address: [127, 0, 0, 1]), "NIOSSL compares the address, too")
    #expect(content.isFor(host: nil, address: Array(repeating: 0, count: 15) + [1]))
    #expect(!content.isFor(host: nil, address: [127, 0, 0, 2]))
    #expect(!content.isFor(host: nil, address: nil))
  }

  @Test("H2: the last common name counts only if there are no alternative names") func commonName() throws {
    let content = try content(Self.commonNames)
    #expect(content.isFor(host: "a.common.example", address: nil))
    #expect(!content.isFor(host: "first.example", address: nil))
    #expect(!content.isFor(host: nil, address: [127, 0, 0, 1]))
    #expect(try !self.content(Self.email).isFor(host: "a.common.example", address: nil))
  }

  @Test("H3: a special character of a name is escaped, even before a combining mark") func escaping() throws {
    let issuer = try content(Self.combiningMarks).issuer.description
    #expect(issuer.unicodeScalars.elementsEqual(Self.escapedIssuer.unicodeScalars), "\(issuer)")
  }

  private static let escapedIssuer =
    "O=\\\"\u{301} \\\\\u{301} \\;\u{301} \\<\u{301}\\>\u{301}\\+\u{301},CN=a\\,\u{301}O=Fake\\,\u{301}b"

  /// A certificate with the alternative names `*.example.org`, `f*o.example.com`, `xn--*.example.net`,
  /// `a.*.example.net`, `Host.example.`, 127.0.0.1 and ::1.
  ///
  /// Its common name is `common.example`.
  private static let names = """
    -----BEGIN CERTIFICATE-----
    MIIB0DCCAXWgAwIBAgIUe23A7KJZ5yknZ8XU+LXzKLcB2GYwCgYIKoZIzj0EAwIw
    GTEXMBUGA1UEAwwOY29tbW9uLmV4YW1wbGUwIBcNMjYxMTI5MTA0OTI1WhgPMjEy
    NjExMDUxMDQ5MjVaMBkxFzAVBgNVBAMMDmNvbW1vbi5leGFtcGxlMFkwEwYHKoZI
    zj0CAQYIKoZIzj0DAQcDQgAE57lm/Ni+S5Dv+BHAxfGowsNps4NJEF8xTvDnPGTY
    4FNRqfnWrKhQFEDlGgSRLGbTzEfTHw8oIBFkQpakTPVC66OBmDCBlTB0BgNVHREE
    bTBrgg0qLmV4YW1wbGUub3Jngg9mKm8uZXhhbXBsZS5jb22CEXhuLS0qLmV4YW1w
    bGUubmV0gg9hLiouZXhhbXBsZS5uZXSCDUhvc3QuZXhhbXBsZS6HBH8AAAGHEAAA
    AAAAAAAAAAAAAAAAAAEwHQYDVR0OBBYEFPSvgbK4ncfyeOzRat5Psf7sxaIQMAoG
    CCqGSM49BAMCA0kAMEYCIQDt06J0Xf8jTUVdW7mj9sfg8e4cpAp/gwL8V423JKPo
    OAIhAN7gmPNtHW/GdgQwt6ncNj7+p+yKwn4CUVCgC0epEbG9
    -----END CERTIFICATE-----
    """

  /// The common names `first.example` and `*.common.example`.
  private static let commonNames = """
    -----BEGIN CERTIFICATE-----
    MIIBYzCCAQkCFAVtqkJUQ7px/ofo/mYS4QwMETbTMAoGCCqGSM49BAMCMDMxFjAU
    BgNVBAMMDWZpcnN0LmV4YW1wbGUxGTAXBgNVBAMMECouY29tbW9uLmV4YW1wbGUw
    IBcNMjYxMTI5MTA0OTI1WhgPMjEyNjExMDUxMDQ5MjVaMDMxFjAUBgNVBAMMDWZp
    cnN0LmV4YW1wbGUxGTAXBgNVBAMMECouY29tbW9uLmV4YW1wbGUwWTATBgcqhkjO
    PQIBBggqhkjOPQMBBwNCAATnuWb82L5LkO/4EcDF8ajCw2mzg0kQXzFO8Oc8ZNjg
    U1Gp+dasqFAUQOUaBJEsZtPMR9MfDyggEWRClqRM9ULrMAoGCCqGSM49BAMCA0gA
    MEUCIQCy51N6avJDBTpOvKNKHrO77K2JdKwE5QmqVDKEs05V7gIgC/E5VdoWP2I6
    sFaU9u58nOWp6fqVt7Yk+rA1HzYvXKE=
    -----END CERTIFICATE-----
    """

  /// The same common names, with the alternative name a@common.example.
  private static let email = """
    -----BEGIN CERTIFICATE-----
    MIIBpzCCAU6gAwIBAgIUYRPYnkLmdiDkTRcDRyUvNu6m1XEwCgYIKoZIzj0EAwIw
    MzEWMBQGA1UEAwwNZmlyc3QuZXhhbXBsZTEZMBcGA1UEAwwQKi5jb21tb24uZXhh
    bXBsZTAgFw0yNjExMjkxMDQ5MjVaGA8yMTI2MTEwNTEwNDkyNVowMzEWMBQGA1UE
    AwwNZmlyc3QuZXhhbXBsZTEZMBcGA1UEAwwQKi5jb21tb24uZXhhbXBsZTBZMBMG
    ByqGSM49AgEGCCqGSM49AwEHA0IABOe5ZvzYvkuQ7/gRwMXxqMLDabODSRBfMU7w
    5zxk2OBTUan51qyoUBRA5RoEkSxm08xH0x8PKCARZEKWpEz1QuujPjA8MBsGA1Ud
    EQQUMBKBEGFAY29tbW9uLmV4YW1wbGUwHQYDVR0OBBYEFPSvgbK4ncfyeOzRat5P
    sf7sxaIQMAoGCCqGSM49BAMCA0cAMEQCICFAAJeixQV0K51a4ZIBivhO1MXOMFeV
    ZM6DoRLPKwh/AiAV1HGpfNhHrt6VHSvfQ7JX/ImBqRiGJvseh7KgXfeo1w==
    -----END CERTIFICATE-----
    """

  /// An issuer whose name has an acute accent after each special character.
  private static let combiningMarks = """
    -----BEGIN CERTIFICATE-----
    MIIBbTCCARSgAwIBAgIBBTAKBggqhkjOPQQDAjA5MRcwFQYDVQQDDA5hLMyBTz1G
    YWtlLMyBYjEeMBwGA1UECgwVIsyBIFzMgSA7zIEgPMyBPsyBK8yBMB4XDTI1MDEw
    MTAwMDAwMFoXDTQwMDEwMTAwMDAwMFowFjEUMBIGA1UEAwwLU29tZSBTZXJ2ZXIw
    WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARD8w5WBlsM/Rv81wtpsCOpsKbXBG3G
    ISdX44sNtRfueK/x0I7/0ND8VdIbRy4HkS1mkKkAeNqdjteBsEoacXpSozAwLjAs
    BgNVHREEJTAjgglsb2NhbGhvc3SHBH8AAAGHEAAAAAAAAAAAAAAAAAAAAAEwCgYI
    KoZIzj0EAwIDRwAwRAIgEREREREREREREREREREREREREREREREREREREREREREC
    ICIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIi
    -----END CERTIFICATE-----
    """
}
#endif
