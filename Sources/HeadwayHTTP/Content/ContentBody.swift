#if HTTP
import AsyncHTTPClient
import NIOCore

/// The decompressed content of a response, in pieces as they arrive.
///
/// You can read it once. The next piece is read from the network only when the reader requests it, so unread content
/// waits at the server.
struct ContentBody: AsyncSequence, Sendable {
  typealias Element = ByteBuffer

  let url: String
  let base: HTTPClientResponse.Body
  /// The codings of the content, outermost first.
  let codings: [ContentCoding]
  /// The largest allowed ratio of the decompressed size to the received size.
  let maxDecompressionRatio: Int
  /// Whether the body ends with the connection.
  ///
  /// Such a body might be incomplete.
  let endsWithConnection: Bool

  /// Whether the pieces differ from the bytes that the server sent.
  var isDecoded: Bool { !codings.isEmpty }

  /// Content up to this size may expand at any ratio: repetitive text expands a thousand times.
  static let freeExpansionBytes = 4 << 20

  func makeAsyncIterator() -> Iterator { Iterator(self) }

  struct Iterator: AsyncIteratorProtocol {
    private let url: String
    private let maxDecompressionRatio: Int
    private var base: HTTPClientResponse.Body.AsyncIterator
    private let decoders: [ContentDecoder]
    /// The number of bytes that each decoder has returned.
    private var decoded: [Int]
    private let endsWithConnection: Bool
    private var received = 0

    init(_ body: ContentBody) {
      (url, maxDecompressionRatio) = (body.url, Swift.max(1, body.maxDecompressionRatio))
      (base, endsWithConnection) = (body.base.makeAsyncIterator(), body.endsWithConnection)
      decoders = body.codings.map { ContentDecoder($0) }
      decoded = body.codings.map { _ in 0 }
    }

    /// - Throws: ``RequestError``, or `CancellationError`.
    mutating func next() async throws -> ByteBuffer? {
      do {
        while true {
          if let piece = try piece(of: decoders.count - 1) { return piece }
          guard let piece = try await base.next(isolation: #isolation) else { break }
          if let reason = BrokenResponse(lastPiece: piece) { throw reason }
          guard let first = decoders.first else { return piece }
          received += piece.readableBytes
          first.add(piece)
        }
        for decoder in decoders { try decoder.end() }
        return nil
      } catch ContentDecodingError.truncated where endsWithConnection {
        throw HTTPExchange.translated(BrokenResponse.closed, url)
      } catch {
        throw HTTPExchange.translated(error, url)
      }
    }

    /// Returns the next piece of a decoder, which receives the pieces of the decoder before it.
    private mutating func piece(of number: Int) throws(ContentDecodingError) -> ByteBuffer? {
      guard number >= 0 else { return nil }
      while true {
        if let piece = try decoders[number].next() {
          decoded[number] += piece.readableBytes
          guard decoded[number] <= ContentBody.freeExpansionBytes || decoded[number] / maxDecompressionRatio <= received
          else { throw .expandsTooFar }
          return piece
        }
        guard let piece = try piece(of: number - 1) else { return nil }
        decoders[number].add(piece)
      }
    }
  }
}
#endif
