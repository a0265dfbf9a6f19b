#if HTTP
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Determines why a certificate is not trusted.
///
/// BoringSSL reports only that the certificate is not trusted, and AsyncHTTPClient does not pass the certificate on.
/// Therefore this type requests the certificate from the server again, on a connection that ends before any request is
/// sent. This happens after the failure, and the result changes only the message of the error.
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
    guard let presented = await presented(host: host, port: port, timeout: connectionPool.connectTimeout) else {
      return nil
    }
    return reason(presented, host: host, trusted: connectionPool.trustedCertificates, now: Date())
  }

  /// The address and the certificates of a server, from its handshake.
  private struct Presented {
    /// The server's certificate, and the certificates that it sent to support it.
    let chain: [NIOSSLCertificate]
    /// The address of the server.
    let address: SocketAddress?
  }

  private static func presented(host: String, port: Int, timeout: TimeAmount) async -> Presented? {
    let (handshakes, answer) = AsyncStream.makeStream(of: Presented.self)
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
              answer.yield(Presented(chain: certificates, address: channel.remoteAddress))
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
    return await handshakes.first { _ in true }
  }

  /// Describes what is wrong with a certificate.
  ///
  /// - Parameters:
  ///   - presented: What the server presents.
  ///   - host: The name or the IP address of the server.
  ///   - trusted: The certificates that are trusted instead of the system's certificates, if any.
  ///   - now: The time that validity periods are compared with.
  /// - Returns: nil if none of the checks finds a problem.
  private static func reason(
    _ presented: Presented, host: String, trusted: [NIOSSLCertificate], now: Date
  ) -> String? {
    let chain = presented.chain
    guard let first = chain.first, let content = CertificateContent(first) else { return nil }
    let isTrusted = trusted.contains(first)
    let issuers = chain.dropFirst().compactMap(CertificateContent.init)
    var reasons: [String] = []
    if !isTrusted, content.issuer == content.subject {
      reasons.append("self-signed")
    } else if let last = issuers.last, last.issuer == last.subject, !trusted.contains(chain[chain.count - 1]) {
      reasons.append("its chain ends in a self-signed certificate (\(last.subject))")
    }
    let validity = (
      start: Date(timeIntervalSince1970: Double(first.notValidBefore)),
      end: Date(timeIntervalSince1970: Double(first.notValidAfter))
    )
    if validity.end < now { reasons.append("it expired on \(date(validity.end))") }
    if validity.start > now { reasons.append("it is not valid before \(date(validity.start))") }
    if reasons.isEmpty, !isTrusted { reasons.append("unknown issuer (\(content.issuer))") }
    let name = IPAddress.bytes(of: host) == nil ? host : nil
    let address = presented.address?.ipAddress.flatMap { IPAddress.bytes(of: $0.prefix { $0 != "%" }) }
    if !content.isFor(host: name, address: address) { reasons.append("it is not for \(host)") }
    return reasons.isEmpty ? nil : reasons.joined(separator: ", and ")
  }

  private static func date(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }
}
#endif
