#if HTTP
  import AsyncHTTPClient
  import NIOCore

  /// The content of an answer, decompressed, piece by piece as it comes; read once.
  ///
  /// A piece is asked for when the one before it has been taken, so what is not read waits on the network.
  struct ContentBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let url: String
    let base: HTTPClientResponse.Body
    /// In the order in which they are undone.
    let codings: [ContentCoding]
    /// How many times its size the content may have, decompressed.
    let maximumExpansion: Int

    /// Whether what comes here is not what the server sent.
    var isDecoded: Bool { !codings.isEmpty }

    /// Content may expand to this size however small it was: repetitive text expands a thousand times.
    static let freeExpansionBytes = 4 << 20

    func makeAsyncIterator() -> Iterator { Iterator(self) }

    struct Iterator: AsyncIteratorProtocol {
      private let url: String
      private let maximumExpansion: Int
      private var base: HTTPClientResponse.Body.AsyncIterator
      private let decoders: [ContentDecoder]
      /// How many bytes have come of each decoder.
      private var decoded: [Int]
      private var received = 0

      init(_ body: ContentBody) {
        (url, maximumExpansion) = (body.url, Swift.max(1, body.maximumExpansion))
        base = body.base.makeAsyncIterator()
        decoders = body.codings.map { ContentDecoder($0) }
        decoded = body.codings.map { _ in 0 }
      }

      /// - Throws: ``HTTPError``, or `CancellationError`.
      mutating func next() async throws -> ByteBuffer? {
        do {
          while true {
            if let piece = try piece(of: decoders.count - 1) { return piece }
            guard let piece = try await base.next(isolation: #isolation) else { break }
            guard let first = decoders.first else { return piece }
            received += piece.readableBytes
            first.add(piece)
          }
          for decoder in decoders { try decoder.end() }
          return nil
        } catch {
          throw HTTPExchange.translated(error, url)
        }
      }

      /// What has come of a decoder, and of those before it.
      private mutating func piece(of number: Int) throws(ContentDecodingError) -> ByteBuffer? {
        guard number >= 0 else { return nil }
        while true {
          if let piece = try decoders[number].next() {
            decoded[number] += piece.readableBytes
            guard decoded[number] <= ContentBody.freeExpansionBytes || decoded[number] / maximumExpansion <= received
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
