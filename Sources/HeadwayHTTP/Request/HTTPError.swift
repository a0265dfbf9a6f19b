#if HTTP
import Foundation
import NIOCore
public import NIOHTTP1
import NIOPosix

/// Why a request or a download failed.
public struct HTTPError: Error, Sendable, CustomStringConvertible {
  /// What kind of thing went wrong.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case invalidURL, invalidRequest, cannotConnect, timedOut, unexpectedStatus, refusedRedirect, bodyTooLarge
      case connectionBroken, invalidChecksum, checksumMismatch, cannotReadFile, cannotWriteFile, fileInUse
      case secureConnectionFailed, invalidResponse, unsupportedCoding, cannotDecode
    }

    private let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    /// The address is not an `http` or `https` URL with a host.
    public static let invalidURL = Code(.invalidURL)
    /// The request can't be sent as it is: its method or a header field has a line end, say.
    public static let invalidRequest = Code(.invalidRequest)
    /// The connection failed: the host is unknown, or nothing listens on the port.
    public static let cannotConnect = Code(.cannotConnect)
    /// The server can't be trusted, or supports no encryption that this machine does.
    ///
    /// The request is not retried.
    public static let secureConnectionFailed = Code(.secureConnectionFailed)
    /// A time limit of ``HTTPLimits`` or ``HTTPConnections`` has passed.
    public static let timedOut = Code(.timedOut)
    /// The status is not an allowed one; ``HTTPError/status`` has it.
    public static let unexpectedStatus = Code(.unexpectedStatus)
    /// The server sent on too often, to no address, or from https to http.
    public static let refusedRedirect = Code(.refusedRedirect)
    /// The content, or the decompressed content, exceeds the limit.
    public static let bodyTooLarge = Code(.bodyTooLarge)
    /// The connection ended before the answer was complete, or the answer can't be decompressed.
    public static let connectionBroken = Code(.connectionBroken)
    /// The answer is not valid HTTP.
    ///
    /// The request is not retried.
    public static let invalidResponse = Code(.invalidResponse)
    /// The content uses an unsupported coding that the request did not accept.
    public static let unsupportedCoding = Code(.unsupportedCoding)
    /// The content is not the value that was to be decoded.
    public static let cannotDecode = Code(.cannotDecode)
    /// The given checksum is not one.
    public static let invalidChecksum = Code(.invalidChecksum)
    /// The content does not have the given checksum.
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
  /// The address concerned; empty if the error is about a setting.
  public let url: String
  /// The status, where the server answered.
  public let status: HTTPResponseStatus?
  /// What happened, for a person.
  public let message: String
  /// The first kilobytes of what the server sent with a status that is an error, decompressed; empty otherwise.
  ///
  /// ``HTTPLimits`` says how many bytes are read, and how long.
  public let body: [UInt8]
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
  ///   - body: The beginning of what the server sent.
  ///   - underlying: The error below.
  public init(
    _ code: Code, url: String, status: HTTPResponseStatus? = nil, message: String, body: [UInt8] = [],
    underlying: (any Error)? = nil
  ) {
    self.init(code, url: url, status: status, message: message, body: body, underlying: underlying, retryAfter: nil)
  }

  init(
    _ code: Code, url: String, status: HTTPResponseStatus? = nil, message: String, body: [UInt8] = [],
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

  /// The address and what happened, in one line.
  public var description: String {
    let text = url.isEmpty ? message : "\(url): \(message)"
    let reason = underlying.flatMap { Self.reason(of: $0) }.map { message.contains($0) ? "" : " (\($0))" } ?? ""
    // A status and an address that a server sends may have what changes a terminal.
    let safe = (text + reason).unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }
    return String(String.UnicodeScalarView(safe))
  }

  /// The words of the system; those of the libraries below are about their inside.
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
