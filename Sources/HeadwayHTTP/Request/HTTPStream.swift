#if HTTP
public import HTTPTypes
import Headway
import NIOCore
import Synchronization

/// A response whose body is still being received.
public struct HTTPStream: Sendable {
  /// The URL that responded.
  ///
  /// After redirects, it differs from the URL of the request.
  public let url: String
  /// The status of the response, such as 200.
  public let status: HTTPResponse.Status
  /// The header fields that the server sent, except for fields with an invalid name.
  ///
  /// In the values, bytes that are not UTF-8 are replaced with U+FFFD.
  public let headers: HTTPFields
  /// The decompressed body, in pieces as they arrive.
  public let chunks: Chunks

  init(_ answer: HTTPExchange.Answer, _ note: @escaping @Sendable (Int) throws -> Void) {
    (url, status) = (answer.url, answer.status)
    headers = HTTPFields(answer.headers)
    chunks = Chunks(answer.body, note)
  }

  /// The pieces of a body, as they arrive.
  ///
  /// No piece is empty.
  ///
  /// Read it once, in one task, while the closure of the ``StreamOperation`` runs. Each piece is received when you
  /// request it. Reading throws a ``RequestError``, or `CancellationError` if the operation is cancelled.
  public struct Chunks: AsyncSequence, Sendable {
    /// Bytes of the body.
    public typealias Element = [UInt8]

    private final class Use: Sendable {
      let isRead = Atomic(false)
    }

    private let body: ContentBody
    private let note: @Sendable (Int) throws -> Void
    private let use = Use()

    init(_ body: ContentBody, _ note: @escaping @Sendable (Int) throws -> Void) {
      (self.body, self.note) = (body, note)
    }

    /// Starts reading the body.
    ///
    /// Call this method only once.
    public func makeAsyncIterator() -> Iterator {
      require(
        !use.isRead.exchange(true, ordering: .relaxed),
        "The chunks of an HTTPStream can be read only once. Keep those that you need again.")
      return Iterator(body.makeAsyncIterator(), note)
    }

    /// Reads the pieces of a body.
    public struct Iterator: AsyncIteratorProtocol {
      private var body: ContentBody.Iterator
      private var count = 0
      private let note: @Sendable (Int) throws -> Void

      init(_ body: ContentBody.Iterator, _ note: @escaping @Sendable (Int) throws -> Void) {
        (self.body, self.note) = (body, note)
      }

      /// Waits for the next piece.
      ///
      /// - Returns: The next piece; nil at the end of the body.
      /// - Throws: ``RequestError``, or `CancellationError`.
      public mutating func next() async throws -> [UInt8]? {
        while let piece = try await body.next() {
          guard piece.readableBytes > 0 else { continue }
          count += piece.readableBytes
          try note(count)
          return Array(piece.readableBytesView)
        }
        return nil
      }
    }
  }
}
#endif
