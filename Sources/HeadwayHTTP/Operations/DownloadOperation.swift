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
/// What comes is written to `PATH.headway-part` beside the file, which gets its name when it is complete and on the
/// disk: under that name nothing half-written is ever seen. Memory does not depend on the size. If the path is a link,
/// the file that it leads to is replaced. The path `-` is standard output, which is written as the content comes, as is
/// a pipe or a device. An operation that waits for the reader of a pipe finishes after that has read.
///
/// After a broken connection it goes on where it was, if the server can do so and the content is still the same
/// (`Range` with `If-Range`, RFC 9110, 13.1.5); with ``keepsPartialFile`` also in a later process. `progress` counts
/// bytes; its `totalUnitCount` is 0 where the length is not known.
///
/// The file has the bytes that the server sends, as with curl and wget. The operation asks for content that is not
/// compressed on its way, and a server that labels an archive as compressed content does not change it.
open class DownloadOperation: HTTPOperation, @unchecked Sendable {
  /// Where the file is to be; `-` for standard output.
  public let path: String
  /// The checksum that the content must have.
  public let checksum: SHA256Checksum?
  /// Whether the partial file is kept, with what is needed to continue it, if the operation is cancelled or fails.
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
  /// Set this property for the first download, too: a download with this property stores the `ETag` and `Last-Modified`
  /// of the answer in an extended attribute of the file. The next one from the same address to the same path, with this
  /// property set, requests the content only if it has changed (`If-None-Match`, `If-Modified-Since`). A file that has
  /// been changed locally, or that does not match the ``checksum``, is downloaded again. Set this property before the
  /// operation starts.
  public final var skipsUnchanged: Bool {
    get { options.withLock { $0.skipsUnchanged } }
    set { options.withLock { $0.skipsUnchanged = newValue } }
  }
  /// Whether the operation has finished because the file was up to date.
  public final var isUpToDate: Bool { options.withLock { $0.isUpToDate } }

  /// What the names of a partial file and of its note have more than that of the file.
  package static let partialEndings = [".headway-part", ".headway-part.json"]

  /// Whether a path is standard output.
  package static func isStandardOutput(_ path: String) -> Bool { path == "-" }

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
  ///   - path: Where the file is to be, or `-`; a file that is there is replaced at the end.
  ///   - checksum: The checksum that the content must have.
  ///   - keepsPartialFile: Whether the partial file is kept if the operation is cancelled or fails.
  ///   - limits: The limits of the request. By default, the body may have any size.
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
  ///   - keepsPartialFile: Whether the partial file is kept if the operation is cancelled or fails.
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
    // If the answer does not complete the file, ask for the rest, or for the whole content.
    while try await !completes(file) {}
  }

  /// Asks for what the file does not have.
  ///
  /// - Returns: Whether the file is complete. If it is not, it has a part more, or is empty because the content is
  ///   another.
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
      // The existing file is up to date.
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
            message: "The server sent only part of the content.")
        }
        try await file.empty()
        return false
      }
      let size = part.total ?? file.size
      try await receive(answer, until: part.end + 1, size: size, file)
      // A server may send less than the request wants.
      if let size, file.count < size { return false }
    default:
      try await file.restart(answer.headers, size: answer.announcedLength, isDecoded: answer.body.isDecoded)
      try await receive(answer, until: answer.announcedLength, size: answer.announcedLength, file)
    }
    try Task.checkCancellation()
    try await file.complete(
      recording: skipsUnchanged
        ? DownloadRecord(url: self.request.url, answer.headers, isDecoded: decodesContent) : nil)
    self.file = nil
    return true
  }

  /// Writes what comes.
  ///
  /// - Parameters:
  ///   - answer: The answer.
  ///   - end: How many bytes the file has after it, if that is known.
  ///   - size: How many bytes the whole content has, if that is known.
  ///   - file: The file.
  /// - Throws: ``HTTPError``, or `CancellationError`.
  private func receive(
    _ answer: HTTPExchange.Answer, until end: Int?, size: Int?, _ file: PartialFile
  ) async throws {
    try requireRoom(for: size ?? 0, answer)
    note(completed: Int64(file.count), total: size.map { Int64($0) })
    for try await piece in answer.body {
      try requireRoom(for: file.count + piece.readableBytes, answer)
      try await file.append(piece)
      progress.completedUnitCount = Int64(file.count)
    }
    guard let end, file.count != end else { return }
    let count = file.count
    if count > end { try await file.empty() }
    throw HTTPError(.connectionBroken, url: answer.url, message: "Received \(count) of \(size ?? end) bytes.")
  }

  private func note(completed: Int64, total: Int64?) {
    // In this order, since what had come before may be more than there is now.
    progress.completedUnitCount = completed
    progress.totalUnitCount = total ?? 0
  }

  /// Returns the record of the existing file, if that is unchanged.
  private func unchangedRecord() async throws -> DownloadRecord? {
    guard skipsUnchanged, !Self.isStandardOutput(path),
      let record = try await PartialFile.record(of: path, url: request.url, isDecoded: decodesContent)
    else { return nil }
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
    let opened = try await PartialFile.open(path, for: request.url, checksum, isDecoded: decodesContent)
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
