#if HTTP
  import Foundation
  import NIOCore
  import NIOPosix
  import NIOSSL
  import SwiftASN1
  import Synchronization
  import X509

  /// Finds out why a certificate is not trusted.
  ///
  /// BoringSSL reports only that it is not. So the server is asked for its certificate once more, by a connection that
  /// ends before anything is sent on it. This happens after the failure, and decides nothing.
  enum UntrustedCertificate {
    private static let maximumTime = TimeAmount.seconds(5)

    /// Why a server's certificate is not trusted, in words; nil if that can't be found out.
    static func reason(host: String, port: Int) async -> String? {
      reason(of: await chain(host: host, port: port), now: Date())
    }

    private static func chain(host: String, port: Int) async -> [NIOSSLCertificate] {
      let chain = Mutex<[NIOSSLCertificate]>([])
      let channel = try? await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connectTimeout(maximumTime)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let context = try NIOSSLContext(configuration: .makeClientConfiguration())
            let isAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
            let handler = try NIOSSLClientHandler(
              context: context, serverHostname: isAddress ? nil : host,
              customVerificationCallback: { certificates, promise in
                chain.withLock { $0 = certificates }
                promise.succeed(.failed)
              })
            try channel.pipeline.syncOperations.addHandlers(handler, Closing())
          }
        }
        .connect(host: host, port: port).get()
      guard let channel else { return [] }
      let deadline = channel.eventLoop.scheduleTask(in: maximumTime) { channel.close(promise: nil) }
      await withTaskCancellationHandler {
        try? await channel.closeFuture.get()
      } onCancel: {
        channel.close(promise: nil)
      }
      deadline.cancel()
      return chain.withLock { $0 }
    }

    private final class Closing: ChannelInboundHandler {
      typealias InboundIn = ByteBuffer

      func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    /// - Parameters:
    ///   - chain: The server's certificate, and those that it sent to vouch for it.
    ///   - now: The time.
    static func reason(of chain: [NIOSSLCertificate], now: Date) -> String? {
      guard let leaf = chain.first else { return nil }
      var reasons: [String] = []
      let certificates = chain.map { try? Certificate(derEncoded: $0.toDERBytes()) }
      if let certificate = certificates[0] {
        if certificate.issuer == certificate.subject {
          reasons.append("self-signed")
        } else if let last = certificates.compactMap({ $0 }).last, certificates.count > 1, last.issuer == last.subject {
          reasons.append("its chain ends with a self-signed one, \(last.subject)")
        }
      }
      let time = Int(now.timeIntervalSince1970)
      if Int(leaf.notValidAfter) < time { reasons.append("it expired on \(date(leaf.notValidAfter))") }
      if Int(leaf.notValidBefore) > time { reasons.append("it is valid from \(date(leaf.notValidBefore)) on") }
      if reasons.isEmpty, let certificate = certificates[0] {
        reasons.append("its issuer is not known, \(certificate.issuer)")
      }
      return reasons.isEmpty ? nil : reasons.joined(separator: ", and ")
    }

    private static func date(_ time: time_t) -> String {
      Date(timeIntervalSince1970: TimeInterval(time)).formatted(.iso8601.year().month().day())
    }
  }
#endif
