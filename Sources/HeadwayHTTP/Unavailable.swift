#if !HTTP
public import Headway

// Without the trait HTTP, the compiler would report these names as “cannot find in scope”. The arguments have the
// labels of the real declarations, because the compiler checks them first.

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
open class HTTPOperation: AsynchronousOperation, @unchecked Sendable {}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
open class RequestOperation: HTTPOperation, @unchecked Sendable {
  /// Available with the trait `HTTP`.
  public init(_ request: Any, limits: HTTPLimits? = nil, connectionPool: HTTPConnectionPool? = nil) {}
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
public final class StreamOperation<Value: Sendable>: HTTPOperation, @unchecked Sendable {
  /// Available with the trait `HTTP`.
  public init(
    _ request: Any, limits: HTTPLimits? = nil, connectionPool: HTTPConnectionPool? = nil,
    receive: @escaping @Sendable (HTTPStream) async throws -> Value
  ) {}
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct Request: Sendable {
  /// Available with the trait `HTTP`.
  public init(url: String, method: Any? = nil, headers: Any? = nil, body: Any? = nil) {}
}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct Response: Sendable {}

/// Available with the trait `HTTP`.
@available(*, unavailable, message: "Enable the trait HTTP: .package(url: …, from: …, traits: [\"HTTP\"])")
public struct HTTPStream: Sendable {
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
public struct HTTPRetryPolicy: Sendable {
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
#endif
