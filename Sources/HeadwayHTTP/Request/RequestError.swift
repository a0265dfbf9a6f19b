#if HTTP
import Foundation
public import HTTPTypes
import NIOCore
import NIOPosix

/// The reason why a request or a download failed.
public struct RequestError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case invalidURL, invalidRequest, cannotConnect, timedOut, unexpectedStatus, refusedRedirect, bodyTooLarge
      case connectionBroken, invalidChecksum, checksumMismatch, cannotReadFile, cannotWriteFile, fileInUse
      case secureConnectionFailed, invalidResponse, unsupportedCoding, cannotDecode
    }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// The URL is not an `http` or `https` URL with a host.
    public static let invalidURL = Code(.invalidURL)
    /// The request can't be sent as it is.
    ///
    /// For example, its method or a header field contains a line break.
    public static let invalidRequest = Code(.invalidRequest)
    /// The connection failed: the host is unknown, or nothing listens on the port.
    public static let cannotConnect = Code(.cannotConnect)
    /// The server can't be trusted, or supports no encryption that this machine supports.
    ///
    /// The request is not retried.
    public static let secureConnectionFailed = Code(.secureConnectionFailed)
    /// A time limit of ``HTTPLimits`` or ``HTTPConnectionPool`` has passed.
    public static let timedOut = Code(.timedOut)
    /// The status is not accepted.
    ///
    /// ``RequestError/status`` contains it.
    public static let unexpectedStatus = Code(.unexpectedStatus)
    /// The server redirected too often, to an invalid URL, or from https to http.
    public static let refusedRedirect = Code(.refusedRedirect)
    /// The content, or the decompressed content, exceeds the limit.
    public static let bodyTooLarge = Code(.bodyTooLarge)
    /// The connection ended before the response was complete, or the response can't be decompressed.
    public static let connectionBroken = Code(.connectionBroken)
    /// The response is not valid HTTP.
    ///
    /// The request is not retried.
    public static let invalidResponse = Code(.invalidResponse)
    /// The content uses an unsupported coding that the request did not accept.
    public static let unsupportedCoding = Code(.unsupportedCoding)
    /// The content can't be decoded as the requested type.
    public static let cannotDecode = Code(.cannotDecode)
    /// The text is not a SHA-256 checksum.
    public static let invalidChecksum = Code(.invalidChecksum)
    /// The content does not match the checksum.
    public static let checksumMismatch = Code(.checksumMismatch)
    /// The file to send can't be read, or the certificates to trust are not in PEM format.
    public static let cannotReadFile = Code(.cannotReadFile)
    /// The file can't be written.
    public static let cannotWriteFile = Code(.cannotWriteFile)
    /// Another download writes the same file.
    public static let fileInUse = Code(.fileInUse)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The URL that caused the error; empty if the error is about a setting.
  public let url: String
  /// The status of the response; nil if there is no response.
  public let status: HTTPResponse.Status?
  /// A description of the failure for users.
  public let message: String
  /// The beginning of the content that the server sent with an error status, decompressed; empty otherwise.
  ///
  /// ``HTTPLimits`` limits the number of bytes and the time to read them.
  public let body: [UInt8]
  /// The error that caused this error, if any.
  public let underlying: (any Error)?
  /// The delay that the server requests, if any.
  let retryAfter: Duration?

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - url: The URL that caused the error.
  ///   - status: The status of the response, if any.
  ///   - message: A description of the failure for users.
  ///   - body: The beginning of the content that the server sent.
  ///   - underlying: The error that caused this error, if any.
  public init(
    _ code: Code, url: String, status: HTTPResponse.Status? = nil, message: String, body: [UInt8] = [],
    underlying: (any Error)? = nil
  ) {
    self.init(code, url: url, status: status, message: message, body: body, underlying: underlying, retryAfter: nil)
  }

  init(
    _ code: Code, url: String, status: HTTPResponse.Status? = nil, message: String, body: [UInt8] = [],
    underlying: (any Error)? = nil, retryAfter: Duration?
  ) {
    self.code = code
    self.url = url
    self.status = status
    self.message = message
    self.body = body
    self.underlying = underlying
    self.retryAfter = retryAfter
  }

  /// The URL and the description of the failure, in one line.
  public var description: String {
    let text = url.isEmpty ? message : "\(url): \(message)"
    let reason = underlying.flatMap { Self.reason(of: $0) }.map { message.contains($0) ? "" : " (\($0))" } ?? ""
    // A status or a URL from a server may contain characters that control a terminal.
    let safe = (text + reason).unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }
    return String(String.UnicodeScalarView(safe))
  }

  /// Returns the system's description of an error.
  ///
  /// Descriptions by the libraries are omitted, because they are about their internals.
  private static func reason(of error: any Error) -> String? {
    switch error {
    case let error as IOError: String(cString: strerror(error.errnoCode))
    case let error as NIOConnectionError: error.connectionErrors.first.flatMap { reason(of: $0.error) }
    case let error as any LocalizedError: error.errorDescription
    case is CocoaError, is POSIXError: (error as NSError).localizedDescription
    default: nil
    }
  }
}
#endif
