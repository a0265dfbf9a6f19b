#if HTTP
  import AsyncHTTPClient
  import Headway
  import NIOCore
  import NIOHTTP1

  /// An operation that downloads to a file.
  ///
  /// ```swift
  /// let download = DownloadOperation("https://example.org/feed.zip", to: "feed.zip")
  /// queue.addOperation(download)
  /// try await download.finishedSuccessfully()
  /// ```
  ///
  /// What comes is written to `PATH.part` beside the file, which gets its name when it is complete and on the disk:
  /// under that name nothing half-written is ever seen. Memory does not depend on the size.
  ///
  /// After a broken connection it goes on where it was, if the server can do so and the content is still the same
  /// (`Range` with `If-Range`, RFC 9110, 13.1.5); with ``keepsPartialFile`` also in a later process. `progress` counts
  /// bytes; its `totalUnitCount` is 0 where the length is not known.
  open class DownloadOperation: HTTPOperation, @unchecked Sendable {
    /// Where the file is to be.
    public let path: String
    /// The checksum that the content must have.
    public let checksum: SHA256Checksum?
    /// Whether what has come stays, with what is needed to go on with it, if the operation is cancelled or fails.
    public let keepsPartialFile: Bool

    // Used by the operation's task alone.
    private var file: PartialFile?

    /// Creates a download.
    ///
    /// - Parameters:
    ///   - request: What to ask.
    ///   - path: Where the file is to be; a file that is there is replaced at the end.
    ///   - checksum: The checksum that the content must have.
    ///   - keepsPartialFile: Whether what has come stays if the operation is cancelled or fails.
    ///   - limits: What it may take. The body may have any size, if it says nothing of that.
    ///   - connections: The connections to use.
    public init(
      _ request: HTTPRequest, to path: String, checksum: SHA256Checksum? = nil, keepsPartialFile: Bool = false,
      limits: HTTPLimits = HTTPLimits(), connections: HTTPConnections = .shared
    ) {
      self.path = path
      self.checksum = checksum
      self.keepsPartialFile = keepsPartialFile
      super.init(request, limits: limits, connections: connections)
    }

    /// Creates a download from an address.
    ///
    /// - Parameters:
    ///   - url: An address of http or https.
    ///   - path: Where the file is to be.
    ///   - checksum: The checksum that the content must have.
    ///   - keepsPartialFile: Whether what has come stays if the operation is cancelled or fails.
    ///   - limits: What it may take.
    ///   - connections: The connections to use.
    public convenience init(
      _ url: String, to path: String, checksum: SHA256Checksum? = nil, keepsPartialFile: Bool = false,
      limits: HTTPLimits = HTTPLimits(), connections: HTTPConnections = .shared
    ) {
      self.init(
        HTTPRequest(url: url), to: path, checksum: checksum, keepsPartialFile: keepsPartialFile, limits: limits,
        connections: connections)
    }

    override func attempt() async throws {
      let file = try await openFile()
      try Task.checkCancellation()
      // What can't be gone on with is asked for again as a whole.
      while try await !completes(file) {}
    }

    /// Asks for what the file does not have.
    ///
    /// - Returns: Whether that is there now; false if the server had something else, after which the file is empty.
    private func completes(_ file: PartialFile) async throws -> Bool {
      var request = request
      request.headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
      if let validator = file.validator, file.count > 0 {
        request.headers.replaceOrAdd(name: "Range", value: "bytes=\(file.count)-")
        request.headers.replaceOrAdd(name: "If-Range", value: validator)
      }
      let exchange = HTTPExchange(connections: connections, limits: limits)
      let answer = try await exchange.answer(to: request) { $0 == .rangeNotSatisfiable && file.count > 0 }
      // There is nothing new, and what is at the place of the file is right.
      if answer.status == .notModified { return true }
      let part = answer.status == .partialContent ? ContentRange(answer.headers) : nil
      guard answer.status != .rangeNotSatisfiable,
        answer.status != .partialContent || (file.count > 0 && file.isContinued(by: part, answer.headers))
      else {
        // Not the rest of what is here.
        guard file.count > 0 else {
          throw HTTPError(
            .unexpectedStatus, url: answer.url, status: answer.status, message: "The server sent a part of the content."
          )
        }
        try await file.restart(validator: nil)
        return false
      }
      if answer.status != .partialContent {
        // Ranges are those of the compressed content, and what is here is decompressed.
        try await file.restart(validator: answer.isEncoded ? nil : Validator.of(answer.headers))
      }
      let size = part.map(\.total) ?? answer.announcedLength
      try requireRoom(for: size ?? 0, answer)
      // In this order, since what had come before may be more than there is now.
      progress.completedUnitCount = Int64(file.count)
      progress.totalUnitCount = Int64(size ?? 0)
      try await HTTPExchange.translating(answer.url) {
        for try await piece in answer.response.body {
          try requireRoom(for: file.count + piece.readableBytes, answer)
          try await file.append(piece)
          progress.completedUnitCount = Int64(file.count)
        }
      }
      if let size, file.count != size {
        throw HTTPError(
          .connectionBroken, url: answer.url, message: "\(file.count) bytes came of \(size).")
      }
      try Task.checkCancellation()
      try await file.complete()
      self.file = nil
      return true
    }

    override func clean(after result: Result<Void, any Error>) async {
      guard let file else { return }
      self.file = nil
      await file.close(keeps: keepsPartialFile)
    }

    private func openFile() async throws -> PartialFile {
      if let file { return file }
      let opened = try await PartialFile.open(path, for: request.url, checksum)
      file = opened
      try await opened.hashEarlierBytes()
      return opened
    }

    private func requireRoom(for count: Int, _ answer: HTTPExchange.Answer) throws {
      guard let most = limits.maximumBodyBytes, count > most else { return }
      throw HTTPError(
        .bodyTooLarge, url: answer.url, status: answer.status, message: "The content has more than \(most) bytes.")
    }
  }
#endif
