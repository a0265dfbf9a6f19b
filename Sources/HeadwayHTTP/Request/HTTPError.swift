#if HTTP
  import Foundation
  import NIOCore
  public import NIOHTTP1

  /// Why a request or a download failed.
  public struct HTTPError: Error, Sendable, CustomStringConvertible {
    /// What kind of thing went wrong.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
      private enum Kind: String {
        case invalidURL, invalidRequest, cannotConnect, timedOut, unexpectedStatus, refusedRedirect, bodyTooLarge
        case connectionBroken, invalidChecksum, checksumMismatch, cannotReadFile, cannotWriteFile, fileInUse
      }

      private let kind: Kind

      private init(_ kind: Kind) { self.kind = kind }

      /// The address is no `http` or `https` URL with a host.
      public static let invalidURL = Code(.invalidURL)
      /// The request can't be sent as it is: a header field has a line end, say.
      public static let invalidRequest = Code(.invalidRequest)
      /// No connection came about: there is no such host, nothing listens there, or TLS failed.
      public static let cannotConnect = Code(.cannotConnect)
      /// A time limit of ``HTTPLimits`` or ``HTTPConnections`` has passed.
      public static let timedOut = Code(.timedOut)
      /// The status is none that is allowed; ``HTTPError/status`` has it.
      public static let unexpectedStatus = Code(.unexpectedStatus)
      /// The server sent on too often, to no address, or from https to http.
      public static let refusedRedirect = Code(.refusedRedirect)
      /// The content is larger than the limit, or expands more than it may.
      public static let bodyTooLarge = Code(.bodyTooLarge)
      /// The connection ended before the answer did, or what came is no HTTP, or can't be decompressed.
      public static let connectionBroken = Code(.connectionBroken)
      /// What was given as a checksum is none.
      public static let invalidChecksum = Code(.invalidChecksum)
      /// What was downloaded does not have the checksum that was given.
      public static let checksumMismatch = Code(.checksumMismatch)
      /// The file that is to be sent can't be read.
      public static let cannotReadFile = Code(.cannotReadFile)
      /// The file can't be written.
      public static let cannotWriteFile = Code(.cannotWriteFile)
      /// Another download writes the same file.
      public static let fileInUse = Code(.fileInUse)

      /// The name of the code.
      public var description: String { kind.rawValue }
    }

    /// What kind of thing went wrong.
    public let code: Code
    /// The address concerned; empty if it is none, but a setting.
    public let url: String
    /// The status, where the server answered.
    public let status: HTTPResponseStatus?
    /// What happened, for a person.
    public let message: String
    /// The error below, if there was one.
    public let underlying: (any Error)?
    /// How long the server asks to wait, if it does.
    let retryAfter: Duration?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What kind of thing went wrong.
    ///   - url: The address concerned.
    ///   - status: The status, where the server answered.
    ///   - message: What happened, for a person.
    ///   - underlying: The error below.
    public init(
      _ code: Code, url: String, status: HTTPResponseStatus? = nil, message: String, underlying: (any Error)? = nil
    ) {
      self.init(code, url: url, status: status, message: message, underlying: underlying, retryAfter: nil)
    }

    init(
      _ code: Code, url: String, status: HTTPResponseStatus? = nil, message: String, underlying: (any Error)? = nil,
      retryAfter: Duration?
    ) {
      self.code = code
      self.url = url
      self.status = status
      self.message = message
      self.underlying = underlying
      self.retryAfter = retryAfter
    }

    /// The address and what happened.
    public var description: String {
      let text = url.isEmpty ? message : "\(url): \(message)"
      guard let underlying, !saysReason(of: underlying) else { return text }
      return "\(text) (\(reason(of: underlying)))"
    }

    /// The system's own words where there are some: those around them are about the inside of the library below.
    private func reason(of error: any Error) -> String {
      (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
    }

    /// Whether the message has what the system says of an error of a file.
    private func saysReason(of error: any Error) -> Bool {
      error is IOError && message.contains(reason(of: error))
    }
  }
#endif
