#if HTTP
import Foundation
import Headway
import HeadwayFiles
public import HTTPTypes
import NIOCore
import NIOPosix

/// The reason why a request or a download failed.
public struct RequestError: Error, Sendable, CustomStringConvertible {
  /// The kinds of failure.
  ///
  /// A later version might add kinds, so include a default case when you compare.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case invalidURL = "invalid URL"
      case invalidRequest = "invalid request"
      case cannotConnect = "failed connection"
      case secureConnectionFailed = "failed TLS handshake"
      case timedOut = "timeout"
      case unexpectedStatus = "unexpected status"
      case refusedRedirect = "refused redirect"
      case bodyTooLarge = "body over the size limit"
      case connectionBroken = "broken connection"
      case invalidResponse = "invalid response"
      case unsupportedCoding = "unsupported content coding"
      case cannotDecode = "undecodable content"
      case invalidChecksum = "invalid checksum"
      case checksumMismatch = "checksum mismatch"
      case cannotReadFile = "unreadable file"
      case cannotWriteFile = "unwritable file"
      case fileInUse = "file in use"
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
    /// The server can't be trusted, or has no encryption method in common with this machine.
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
    /// The connection ended before the response was complete.
    public static let connectionBroken = Code(.connectionBroken)
    /// The response is not valid HTTP.
    ///
    /// The request is not retried.
    public static let invalidResponse = Code(.invalidResponse)
    /// The content uses an unsupported coding that the request did not accept.
    public static let unsupportedCoding = Code(.unsupportedCoding)
    /// The content can't be decompressed, or can't be decoded as the requested type.
    ///
    /// The request is not retried, because the server would send the same content again.
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

    /// The kind of failure as a noun phrase, such as “invalid URL”.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The URL that caused the error; empty if the error is about a setting.
  public let url: String
  /// The status of the response; nil if there is no response.
  public let status: HTTPResponse.Status?
  /// A description of the failure for users, as a sentence.
  public let context: String
  /// The beginning of the content that the server sent with an error status, decompressed; empty otherwise.
  ///
  /// ``HTTPLimits`` limits the number of bytes and the time to read them.
  public let body: [UInt8]
  /// The `errno` of the failed system call; nil if no call failed.
  public let systemErrorNumber: Int32?
  /// The error that caused this error, if any.
  public let underlyingError: (any Error)?
  /// The delay that the server requests, if any.
  let retryAfter: Duration?
  /// Whether ``context`` has all that is known about the underlying error, except for the system's description.
  ///
  /// This is true for errors of the libraries, whose descriptions are about their internals.
  private let contextIncludesCause: Bool

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - url: The URL that caused the error.
  ///   - status: The status of the response, if any.
  ///   - context: A description of the failure for users, as a sentence.
  ///   - body: The beginning of the content that the server sent.
  ///   - systemErrorNumber: The `errno` of the failed system call; if nil, that of the underlying error.
  ///   - underlyingError: The error that caused this error, if any.
  public init(
    _ code: Code, url: String, status: HTTPResponse.Status? = nil, context: String, body: [UInt8] = [],
    systemErrorNumber: Int32? = nil, underlyingError: (any Error)? = nil
  ) {
    self.init(
      code, url: url, status: status, context: context, body: body, systemErrorNumber: systemErrorNumber,
      underlyingError: underlyingError, retryAfter: nil, contextIncludesCause: false)
  }

  init(
    _ code: Code, url: String, status: HTTPResponse.Status? = nil, context: String, body: [UInt8] = [],
    systemErrorNumber: Int32? = nil, underlyingError: (any Error)? = nil, retryAfter: Duration? = nil,
    contextIncludesCause: Bool
  ) {
    self.code = code
    self.url = code == .invalidURL ? url.withoutCredentials : url
    self.status = status
    self.context = context
    self.body = body
    self.systemErrorNumber = systemErrorNumber ?? underlyingError.flatMap(Self.systemErrorNumber)
    self.underlyingError = underlyingError
    self.retryAfter = retryAfter
    self.contextIncludesCause = contextIncludesCause
  }

  /// Creates the error of content that exceeds a limit.
  static func tooLarge(_ answer: HTTPExchange.Answer, maxByteCount: Int) -> RequestError {
    RequestError(
      .bodyTooLarge, url: answer.url, status: answer.status,
      context: "The content is larger than \(maxByteCount) \(maxByteCount == 1 ? "byte" : "bytes").")
  }

  /// The system's description of ``systemErrorNumber``.
  public var systemErrorDescription: String? { systemErrorNumber.map { String(cString: strerror($0)) } }

  /// The URL, the failure, and its causes in parentheses, in one line.
  public var description: String {
    let place = url.isEmpty ? "" : "\(url): "
    let end = context.isEmpty || Self.isSentence(context) ? "" : "."
    let causes = [systemErrorDescription, underlyingReason].compactMap { $0 }.filter { !context.contains($0) }
    let details = causes.isEmpty ? "" : " (\(causes.joined(separator: "; ")))"
    // A status or a URL from a server might contain characters that control a terminal.
    return "\(place)\(context)\(end)\(details)".replacingControls()
  }

  /// The description of the underlying error; nil if ``systemErrorDescription`` or ``context`` describes it.
  private var underlyingReason: String? {
    guard let underlyingError, !contextIncludesCause, Self.systemErrorNumber(of: underlyingError) == nil else {
      return nil
    }
    if let reason = (underlyingError as? any LocalizedError)?.errorDescription { return reason }
    // The other descriptions of Foundation's errors are about their internals.
    return underlyingError is any CustomNSError ? underlyingError.localizedDescription : "\(underlyingError)"
  }

  /// Returns whether a text ends as a sentence does, perhaps within quotation marks or parentheses.
  private static func isSentence(_ text: String) -> Bool {
    guard let last = text.last(where: { !"”’\"')".contains($0) }) else { return false }
    return ".?!…".contains(last)
  }

  private static func systemErrorNumber(of error: any Error) -> Int32? {
    switch error {
    case let error as IOError: error.errnoCode
    case let error as POSIXError: error.code.rawValue
    case let error as NIOConnectionError: error.connectionErrors.first.flatMap { systemErrorNumber(of: $0.error) }
    default: nil
    }
  }
}
#endif
