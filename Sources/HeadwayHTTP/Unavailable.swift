#if !HTTP
public import Headway

// Without the trait HTTP, the compiler would report these names as “cannot find in scope”. The arguments have the
// labels of the real declarations, and types that accept the same literals and constants, because the compiler checks
// them first.

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
open class HTTPOperation: AsynchronousOperation, @unchecked Sendable {}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
open class RequestOperation: HTTPOperation, ValueOperation, @unchecked Sendable {
  /// Available with the trait `HTTP`.
  public init(_ request: Any, limits: HTTPLimits? = nil, connectionPool: HTTPConnectionPool? = nil) {}

  /// Available with the trait `HTTP`.
  public final var response: Response? { nil }

  /// Available with the trait `HTTP`.
  public final var value: Response {
    get async throws { throw CancellationError() }
  }
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
open class DownloadOperation: HTTPOperation, @unchecked Sendable {
  /// Available with the trait `HTTP`.
  public init(
    _ request: Any, to path: String, checksum: SHA256Checksum? = nil, keepsPartialFile: Bool = false,
    limits: HTTPLimits? = nil, connectionPool: HTTPConnectionPool? = nil
  ) {}
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public final class StreamOperation<Value: Sendable>: HTTPOperation, ValueOperation, @unchecked Sendable {
  /// Available with the trait `HTTP`.
  public init(
    _ request: Any, limits: HTTPLimits? = nil, connectionPool: HTTPConnectionPool? = nil,
    receive: @escaping @Sendable (HTTPStream) async throws -> Value
  ) {}

  /// Available with the trait `HTTP`.
  public var value: Value {
    get async throws { throw CancellationError() }
  }
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct Request: Sendable {
  /// Available with the trait `HTTP`.
  public enum Body: Sendable {
    /// Available with the trait `HTTP`.
    case bytes([UInt8])
    /// Available with the trait `HTTP`.
    case file(path: String)
  }

  /// Available with the trait `HTTP`.
  public init(url: String, method: HTTPRequest.Method = .get, headers: HTTPFields = [:], body: Body? = nil) {}

  /// Available with the trait `HTTP`.
  public mutating func addHeaderField(name: String, value: String) throws {}
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct Response: Sendable {
  /// Available with the trait `HTTP`.
  public let url: String
  /// Available with the trait `HTTP`.
  public let status: HTTPResponse.Status
  /// Available with the trait `HTTP`.
  public let headers: HTTPFields
  /// Available with the trait `HTTP`.
  public let body: [UInt8]
  /// Available with the trait `HTTP`.
  public let text: String
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct HTTPStream: Sendable {
  /// Available with the trait `HTTP`.
  public let url: String
  /// Available with the trait `HTTP`.
  public let status: HTTPResponse.Status
  /// Available with the trait `HTTP`.
  public let headers: HTTPFields
  /// Available with the trait `HTTP`.
  public let chunks: AsyncThrowingStream<[UInt8], any Error>
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct HTTPLimits: Sendable {
  /// Available with the trait `HTTP`.
  public init() {}
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public final class HTTPConnectionPool: Sendable {
  /// Available with the trait `HTTP`.
  public struct Configuration: Sendable {
    /// Available with the trait `HTTP`.
    public init() {}
  }

  /// Available with the trait `HTTP`.
  public init(_ configuration: Configuration = Configuration()) throws {}
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct SHA256Checksum: Sendable, Hashable {
  /// Available with the trait `HTTP`.
  public init(_ text: String) throws {}
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct RequestError: Error, Sendable {}

// The types of swift-http-types that this module exports, with their most frequent constants.

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct HTTPRequest: Sendable {
  /// Available with the trait `HTTP`.
  public struct Method: Sendable, Hashable {
    /// Available with the trait `HTTP`.
    public static let get = Self()
    /// Available with the trait `HTTP`.
    public static let head = Self()
    /// Available with the trait `HTTP`.
    public static let post = Self()
    /// Available with the trait `HTTP`.
    public static let put = Self()
    /// Available with the trait `HTTP`.
    public static let delete = Self()
    /// Available with the trait `HTTP`.
    public static let options = Self()
    /// Available with the trait `HTTP`.
    public static let trace = Self()
    /// Available with the trait `HTTP`.
    public static let patch = Self()
    /// Available with the trait `HTTP`.
    public static let connect = Self()

    /// Available with the trait `HTTP`.
    public init?(_ method: String) {}

    init() {}
  }
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct HTTPResponse: Sendable {
  /// Available with the trait `HTTP`.
  public struct Status: Sendable, Hashable {
    /// Available with the trait `HTTP`.
    public static let ok = Self()
    /// Available with the trait `HTTP`.
    public static let created = Self()
    /// Available with the trait `HTTP`.
    public static let accepted = Self()
    /// Available with the trait `HTTP`.
    public static let noContent = Self()
    /// Available with the trait `HTTP`.
    public static let partialContent = Self()
    /// Available with the trait `HTTP`.
    public static let notModified = Self()
    /// Available with the trait `HTTP`.
    public static let badRequest = Self()
    /// Available with the trait `HTTP`.
    public static let unauthorized = Self()
    /// Available with the trait `HTTP`.
    public static let forbidden = Self()
    /// Available with the trait `HTTP`.
    public static let notFound = Self()
    /// Available with the trait `HTTP`.
    public static let conflict = Self()
    /// Available with the trait `HTTP`.
    public static let gone = Self()
    /// Available with the trait `HTTP`.
    public static let tooManyRequests = Self()
    /// Available with the trait `HTTP`.
    public static let internalServerError = Self()
    /// Available with the trait `HTTP`.
    public static let badGateway = Self()
    /// Available with the trait `HTTP`.
    public static let serviceUnavailable = Self()
    /// Available with the trait `HTTP`.
    public static let gatewayTimeout = Self()

    /// Available with the trait `HTTP`.
    public let code: Int

    /// Available with the trait `HTTP`.
    public init(code: Int, reasonPhrase: String = "") { self.code = code }

    init() { self.init(code: 0) }
  }
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct HTTPField: Sendable {
  /// Available with the trait `HTTP`.
  public struct Name: Sendable, Hashable {
    /// Available with the trait `HTTP`.
    public static let accept = Self()
    /// Available with the trait `HTTP`.
    public static let acceptEncoding = Self()
    /// Available with the trait `HTTP`.
    public static let acceptLanguage = Self()
    /// Available with the trait `HTTP`.
    public static let acceptRanges = Self()
    /// Available with the trait `HTTP`.
    public static let authorization = Self()
    /// Available with the trait `HTTP`.
    public static let cacheControl = Self()
    /// Available with the trait `HTTP`.
    public static let contentDisposition = Self()
    /// Available with the trait `HTTP`.
    public static let contentEncoding = Self()
    /// Available with the trait `HTTP`.
    public static let contentLanguage = Self()
    /// Available with the trait `HTTP`.
    public static let contentLength = Self()
    /// Available with the trait `HTTP`.
    public static let contentRange = Self()
    /// Available with the trait `HTTP`.
    public static let contentType = Self()
    /// Available with the trait `HTTP`.
    public static let cookie = Self()
    /// Available with the trait `HTTP`.
    public static let date = Self()
    /// Available with the trait `HTTP`.
    public static let eTag = Self()
    /// Available with the trait `HTTP`.
    public static let ifMatch = Self()
    /// Available with the trait `HTTP`.
    public static let ifModifiedSince = Self()
    /// Available with the trait `HTTP`.
    public static let ifNoneMatch = Self()
    /// Available with the trait `HTTP`.
    public static let ifRange = Self()
    /// Available with the trait `HTTP`.
    public static let ifUnmodifiedSince = Self()
    /// Available with the trait `HTTP`.
    public static let lastModified = Self()
    /// Available with the trait `HTTP`.
    public static let location = Self()
    /// Available with the trait `HTTP`.
    public static let origin = Self()
    /// Available with the trait `HTTP`.
    public static let range = Self()
    /// Available with the trait `HTTP`.
    public static let referer = Self()
    /// Available with the trait `HTTP`.
    public static let retryAfter = Self()
    /// Available with the trait `HTTP`.
    public static let setCookie = Self()
    /// Available with the trait `HTTP`.
    public static let userAgent = Self()

    /// Available with the trait `HTTP`.
    public init?(_ name: String) {}

    init() {}
  }

  /// Available with the trait `HTTP`.
  public init(name: Name, value: String) {}
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct HTTPFields: Sendable, ExpressibleByDictionaryLiteral {
  /// Available with the trait `HTTP`.
  public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {}

  /// Available with the trait `HTTP`.
  public subscript(name: HTTPField.Name) -> String? {
    get { nil }
    set {}
  }
}
#endif
