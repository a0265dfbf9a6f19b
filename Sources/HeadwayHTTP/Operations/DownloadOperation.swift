#if HTTP
  import Headway
  import NIOCore
  import NIOHTTP1
  import Synchronization

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
  ///
  /// The file has the bytes that the server sends, as with curl and wget. The operation asks for content that is not
  /// compressed on its way, and a server that labels an archive as compressed content does not change it.
  open class DownloadOperation: HTTPOperation, @unchecked Sendable {
    /// Where the file is to be.
    public let path: String
    /// The checksum that the content must have.
    public let checksum: SHA256Checksum?
    /// Whether what has come stays, with what is needed to go on with it, if the operation is cancelled or fails.
    public let keepsPartialFile: Bool

    /// Whether content that the server compressed on its way is decompressed; false by default.
    ///
    /// Set it if you want the content rather than the bytes: an archive that is labelled as compressed content is
    /// decompressed, too. Such a download can't be continued. Set it before the operation starts.
    public final var decodesContent: Bool {
      get { options.withLock { $0.decodesContent } }
      set { options.withLock { $0.decodesContent = newValue } }
    }
    /// Whether a file that is up to date is left as it is; false by default.
    ///
    /// The download keeps the `ETag` and `Last-Modified` of the answer with the file, in an extended attribute. The next
    /// one of the same address to the same path, with this set, too, asks for the content only if it has changed
    /// (`If-None-Match`, `If-Modified-Since`). A file that has been changed here, or that lacks the ``checksum``, is
    /// downloaded again. Set it before the operation starts.
    public final var skipsUnchanged: Bool {
      get { options.withLock { $0.skipsUnchanged } }
      set { options.withLock { $0.skipsUnchanged = newValue } }
    }
    /// Whether the operation has finished because the file was up to date.
    public final var isUpToDate: Bool { options.withLock { $0.isUpToDate } }

    private struct Options {
      var decodesContent = false
      var skipsUnchanged = false
      var isUpToDate = false
    }

    private let options = Mutex(Options())

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
      if !request.headers.contains(name: "Accept-Encoding") {
        request.headers.add(name: "Accept-Encoding", value: "identity")
      }
      var record: DownloadRecord?
      if let validator = file.validator, file.count > 0 {
        request.headers.replaceOrAdd(name: "Range", value: "bytes=\(file.count)-")
        request.headers.replaceOrAdd(name: "If-Range", value: validator)
      } else {
        record = try await unchangedRecord()
        record?.addConditions(to: &request)
      }
      var exchange = exchange
      exchange.decodesContent = decodesContent
      let answer = try await exchange.answer(to: request) {
        $0 == .rangeNotSatisfiable && file.count > 0 || $0 == .notModified && record != nil
      }
      switch answer.status {
      case .notModified:
        // There is nothing new, and what is at the place of the file is right.
        note(completed: record?.fileSize ?? 0, total: record?.fileSize)
        options.withLock { $0.isUpToDate = true }
        return true
      case .rangeNotSatisfiable where file.count > 0:
        await exchange.discardBody(of: answer)
        guard file.isWhole(by: answer.headers) else {
          try await file.empty()
          return false
        }
        note(completed: Int64(file.count), total: Int64(file.count))
      case .partialContent:
        guard let part = ContentRange(answer.headers), file.isContinued(by: part, answer.headers) else {
          // Not the rest of what is here.
          guard file.count > 0 else {
            throw HTTPError(
              .unexpectedStatus, url: answer.url, status: answer.status,
              message: "The server sent a part of the content.")
          }
          try await file.empty()
          return false
        }
        try await receive(answer, size: part.total ?? file.size, file)
      default:
        try await file.restart(answer.headers, size: answer.announcedLength, isDecoded: answer.body.isDecoded)
        try await receive(answer, size: answer.announcedLength, file)
      }
      try Task.checkCancellation()
      try await file.complete(
        recording: skipsUnchanged ? DownloadRecord(url: self.request.url, answer.headers) : nil)
      self.file = nil
      return true
    }

    /// Writes what comes.
    private func receive(_ answer: HTTPExchange.Answer, size: Int?, _ file: PartialFile) async throws {
      try requireRoom(for: size ?? 0, answer)
      note(completed: Int64(file.count), total: size.map { Int64($0) })
      for try await piece in answer.body {
        try requireRoom(for: file.count + piece.readableBytes, answer)
        try await file.append(piece)
        progress.completedUnitCount = Int64(file.count)
      }
      guard let size, file.count != size else { return }
      let count = file.count
      if count > size { try await file.empty() }
      throw HTTPError(.connectionBroken, url: answer.url, message: "\(count) bytes came of \(size).")
    }

    private func note(completed: Int64, total: Int64?) {
      // In this order, since what had come before may be more than there is now.
      progress.completedUnitCount = completed
      progress.totalUnitCount = total ?? 0
    }

    /// What the server said of the file that is there, if that is still what it sent.
    private func unchangedRecord() async throws -> DownloadRecord? {
      guard skipsUnchanged, let record = DownloadRecord.of(path, url: request.url) else { return nil }
      guard let checksum else { return record }
      return try await PartialFile.checksum(of: path) == checksum ? record : nil
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
