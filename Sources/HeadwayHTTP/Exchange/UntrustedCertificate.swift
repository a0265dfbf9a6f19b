#if HTTP
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import SwiftASN1
import X509

/// Determines why a certificate is not trusted.
///
/// BoringSSL reports only that the certificate is not trusted, and AsyncHTTPClient does not pass the certificate on.
/// Therefore this type requests the certificate from the server again, on a connection that ends before any request is
/// sent. It does so after the failure, and the result changes only the message of the error.
enum UntrustedCertificate {
  /// Returns a description of why a server's certificate is not trusted.
  ///
  /// - Parameters:
  ///   - host: The name or the IP address of the server.
  ///   - port: The port of the server.
  ///   - connectionPool: The connections of the failed request. They define which certificates are trusted, and the
  ///     time limit.
  /// - Returns: nil if the reason can't be determined in time, or the task is cancelled.
  static func reason(host: String, port: Int, connectionPool: HTTPConnectionPool) async -> String? {
    let chain = await chain(host: host, port: port, timeout: connectionPool.connectTimeout)
    return await reason(of: chain, host: host, trusted: connectionPool.trustedCertificates, now: Date())
  }

  private static func chain(host: String, port: Int, timeout: TimeAmount) async -> [NIOSSLCertificate] {
    let (chains, answer) = AsyncStream.makeStream(of: [NIOSSLCertificate].self)
    let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
    let deadline = eventLoop.scheduleTask(in: timeout) { answer.finish() }
    let address = try? SocketAddress(ipAddress: host, port: port)
    let bootstrap = ClientBootstrap(group: eventLoop)
      .connectTimeout(timeout)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let context = try NIOSSLContext(configuration: .makeClientConfiguration())
          let handler = try NIOSSLClientHandler(
            context: context, serverHostname: address == nil ? host : nil,
            customVerificationCallback: { certificates, promise in
              promise.succeed(.failed)
              answer.yield(certificates)
            })
          try channel.pipeline.syncOperations.addHandler(handler)
        }
      }
    // An IP address needs no lookup, which would wait for a thread of Dispatch.
    let connection = address.map { bootstrap.connect(to: $0) } ?? bootstrap.connect(host: host, port: port)
    connection.whenFailure { _ in answer.finish() }
    connection.whenSuccess { channel in channel.closeFuture.whenComplete { _ in answer.finish() } }
    defer {
      deadline.cancel()
      connection.whenSuccess { $0.close(promise: nil) }
    }
    for await chain in chains { return chain }
    return []
  }

  private static func isAddress(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }

  /// Describes what is wrong with a certificate.
  ///
  /// - Parameters:
  ///   - chain: The server's certificate, and the certificates that it sent to support it.
  ///   - host: The name or the IP address of the server.
  ///   - trusted: The certificates that are trusted instead of those of the system, if any.
  ///   - now: The current time.
  /// - Returns: nil if none of the checks finds a problem.
  private static func reason(
    of chain: [NIOSSLCertificate], host: String, trusted: [NIOSSLCertificate], now: Date
  ) async -> String? {
    guard let first = chain.first, let certificate = try? Certificate(derEncoded: first.toDERBytes()) else {
      return nil
    }
    let isTrusted = trusted.contains(first)
    let issuers = chain.dropFirst().compactMap { try? Certificate(derEncoded: $0.toDERBytes()) }
    var reasons: [String] = []
    if !isTrusted, certificate.issuer == certificate.subject {
      reasons.append("self-signed")
    } else if let last = issuers.last, last.issuer == last.subject, !trusted.contains(chain[chain.count - 1]) {
      reasons.append("its chain ends in a self-signed certificate (\(last.subject))")
    }
    if certificate.notValidAfter < now { reasons.append("it expired on \(date(certificate.notValidAfter))") }
    if certificate.notValidBefore > now { reasons.append("it is not valid before \(date(certificate.notValidBefore))") }
    if reasons.isEmpty, !isTrusted { reasons.append("unknown issuer (\(certificate.issuer))") }
    if await !isFor(host, certificate) { reasons.append("it is not for \(host)") }
    return reasons.isEmpty ? nil : reasons.joined(separator: ", and ")
  }

  /// Returns whether a certificate is valid for a host, by the rules of RFC 6125.
  private static func isFor(_ host: String, _ certificate: Certificate) async -> Bool {
    let isAddress = isAddress(host)
    var verifier = Verifier(rootCertificates: CertificateStore([certificate])) {
      NamePolicy(
        identity: ServerIdentityPolicy(serverHostname: isAddress ? nil : host, serverIP: isAddress ? host : nil),
        verifyingCriticalExtensions: certificate.extensions.map(\.oid))
    }
    let result = await verifier.validate(leaf: certificate, intermediates: CertificateStore())
    if case .validCertificate = result { return true }
    return false
  }

  /// Checks only the names.
  private struct NamePolicy: VerifierPolicy {
    var identity: ServerIdentityPolicy
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier]

    mutating func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) async -> PolicyEvaluationResult {
      identity.chainMeetsPolicyRequirements(chain: chain)
    }
  }

  private static func date(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }
}
#endif
