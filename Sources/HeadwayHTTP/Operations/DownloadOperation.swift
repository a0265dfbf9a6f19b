#if HTTP
import HTTPTypes
import Headway
import NIOCore
import Synchronization

/// An operation that downloads content to a file.
///
/// ```swift
/// let download = DownloadOperation("https://example.org/feed.zip", to: "feed.zip")
/// queue.addOperation(download)
/// try await download.untilSucceeded()
/// ```
///
/// The content is written to `PATH.headway-part` next to the file. When it is complete and on disk, the file is
/// renamed, so a partial file never has the final name. Memory use does not depend on the size. If the path is a link,
/// the operation replaces the file that the link leads to. The path `-` is standard output. Standard output, a pipe, or
/// a device is written directly, as the content arrives. An operation that writes to a pipe waits for the pipe's
/// reader.
///
/// After a broken connection, the operation requests the rest, if the server supports this and the content is still the
/// same (`Range` with `If-Range`, RFC 9110, 13.1.5). With ``keepsPartialFile``, a download in a later process can also
/// request the rest. `progress` counts bytes; its `totalUnitCount` is 0 while the length is unknown. A download uses
/// HTTP/2 only if the server does not support HTTP/1.1, because received bytes can be lost when an HTTP/2 connection
/// ends.
///
/// The file contains the bytes that the server sends, as with curl and wget. The operation requests content that is not
/// compressed for transfer. If a server labels an archive as compressed content, the archive is still stored unchanged.
open class DownloadOperation: HTTPOperation, @unchecked Sendable {
  /// The destination of the file; `-` for standard output.
  public let path: String
  /// The checksum that the content must have.
  public let checksum: SHA256Checksum?
  /// Whether the partial file is kept if the operation is cancelled or fails, with the note that a later download needs
  /// to continue it.
  public let keepsPartialFile: Bool

  /// Whether content that the server compressed for transfer is decompressed; false by default.
  ///
  /// Set this property to store the content instead of the transferred bytes. An archive that is labeled as compressed
  /// content is decompressed, too. A download with this property set can't be continued. Set the property before the
  /// operation starts.
  public final var decodesContent: Bool {
    get { options.withLock { $0.decodesContent } }
    set { options.withLock { $0.decodesContent = newValue } }
  }
  /// Whether a file that is up to date is left as it is; false by default.
  ///
  /// Set this property for the first download, too: a download with this property stores the `ETag` and `Last-Modified`
  /// of the response in an extended attribute of the file. The next download from the same URL to the same path, with
  /// this property set, requests the content only if it has changed (`If-None-Match`, `If-Modified-Since`). A file that
  /// has been changed locally, or that does not match the ``checksum``, is downloaded again. Set the property before
  /// the operation starts.
  public final var skipsUnchanged: Bool {
    get { options.withLock { $0.skipsUnchanged } }
    set { options.withLock { $0.skipsUnchanged = newValue } }
  }
  /// Whether the operation has finished because the file was up to date.
  public final var isUpToDate: Bool { options.withLock { $0.isUpToDate } }

  /// The suffixes that the partial file and its note add to the file's name.
  package static let partialEndings = [".headway-part", ".headway-part.json"]

  /// Returns whether a path is standard output.
  package static func isStandardOutput(_ path: String) -> Bool { path == "-" }

  private struct Options {
    var decodesContent = false
    var skipsUnchanged = false
    var isUpToDate = false
  }

  private let options = Mutex(Options())

  // Used only by the operation's task.
  private var file: PartialFile?
  /// Whether a response has shown that the record of the existing file describes different content.
  private var ignoresRecord = false

  /// Creates a download.
  ///
  /// - Parameters:
  ///   - request: The request to send.
  ///   - path: The destination of the file, or `-`. An existing file is replaced at the end.
  ///   - checksum: The checksum that the content must have.
  ///   - keepsPartialFile: Whether the partial file is kept if the operation is cancelled or fails.
  ///   - limits: The limits of the request. By default, the body can have any size.
  ///   - connectionPool: The pool of the connections to use.
  public init(
    _ request: Request, to path: String, checksum: SHA256Checksum? = nil, keepsPartialFile: Bool = false,
    limits: HTTPLimits = HTTPLimits(), connectionPool: HTTPConnectionPool = .shared
  ) {
    self.path = path
    self.checksum = checksum
    self.keepsPartialFile = keepsPartialFile
    super.init(request, limits: limits, connectionPool: connectionPool)
  }

  /// Creates a download from a URL.
  ///
  /// - Parameters:
  ///   - url: A URL with the scheme `http` or `https`.
  ///   - path: The destination of the file, or `-`.
  ///   - checksum: The checksum that the content must have.
  ///   - keepsPartialFile: Whether the partial file is kept if the operation is cancelled or fails.
  ///   - limits: The limits of the request. By default, the body can have any size.
  ///   - connectionPool: The pool of the connections to use.
  public convenience init(
    _ url: String, to path: String, checksum: SHA256Checksum? = nil, keepsPartialFile: Bool = false,
    limits: HTTPLimits = HTTPLimits(), connectionPool: HTTPConnectionPool = .shared
  ) {
    self.init(
      Request(url: url), to: path, checksum: checksum, keepsPartialFile: keepsPartialFile, limits: limits,
      connectionPool: connectionPool)
  }

  override func attempt() async throws {
    let file = try await openFile()
    try Task.checkCancellation()
    // If a response does not complete the file, request the rest, or the whole content.
    while try await !completes(file) {}
  }

  /// Requests the part of the content that the file does not have.
  ///
  /// - Returns: Whether the file is complete. If it is not, the file has received another part, or has been emptied
  ///   because the content is different.
  private func completes(_ file: PartialFile) async throws -> Bool {
    var request = request
    if !request.headers.contains(.acceptEncoding) { request.headers[.acceptEncoding] = "identity" }
    var record: DownloadRecord?
    let validator = file.count > 0 ? file.content.validator : nil
    if let validator {
      request.headers[.range] = "bytes=\(file.count)-"
      request.headers[.ifRange] = validator
    } else if !ignoresRecord {
      record = try await unchangedRecord()
      record?.addConditions(to: &request)
    }
    var exchange = exchange
    (exchange.decodesContent, exchange.prefersHTTP1) = (decodesContent, true)
    let answer = try await exchange.answer(to: request) {
      $0 == .rangeNotSatisfiable && validator != nil || $0 == .notModified && record != nil
    }
    switch answer.status {
    case .notModified where record?.isContradicted(by: answer.headers) == true:
      // The response is for different content than the existing file.
      ignoresRecord = true
      return false
    case .notModified:
      // The existing file is up to date.
      note(completed: record?.fileSize ?? 0, total: record?.fileSize)
      options.withLock { $0.isUpToDate = true }
      return true
    case .rangeNotSatisfiable where validator != nil:
      await exchange.discardBody(of: answer)
      guard file.content.hasSize(file.count, by: answer.headers) else {
        try await file.empty()
        return false
      }
      note(completed: Int64(file.count), total: Int64(file.count))
    default:
      switch file.content.fit(of: answer, from: validator.map { _ in file.count }) {
      case .rest(let part):
        let size = part.total ?? file.content.size
        // Without an announced length, only the body shows whether it matches its range.
        guard try await receives(answer, until: part.end + 1, size: size, file) else {
          try await file.empty()
          return false
        }
        // A server might send less than the requested part.
        if let size, file.count < size { return false }
      case .whole:
        try await file.restart(answer.headers, size: answer.announcedLength, isDecoded: answer.body.isDecoded)
        let size = answer.announcedLength
        guard try await receives(answer, until: size, size: size, file) else {
          throw RequestError(.invalidResponse, url: answer.url, context: "The body is longer than announced.")
        }
      case .neither:
        guard validator != nil else {
          throw RequestError(
            .unexpectedStatus, url: answer.url, status: answer.status,
            context: "The server sent only part of the content.")
        }
        // Request the whole content.
        try await file.empty()
        return false
      }
    }
    try Task.checkCancellation()
    try await file.complete(
      recording: skipsUnchanged
        ? DownloadRecord(url: self.request.url, answer.headers, isDecoded: decodesContent) : nil)
    self.file = nil
    return true
  }

  /// Writes the body of a response to the file.
  ///
  /// - Parameters:
  ///   - answer: The response, whose body is read.
  ///   - end: The size of the file in bytes after this response; nil if unknown.
  ///   - size: The size of the whole content in bytes; nil if unknown.
  ///   - file: The partial file to write to.
  /// - Returns: False if the body is longer. The file then has wrong content.
  /// - Throws: ``RequestError``, or `CancellationError`.
  private func receives(
    _ answer: HTTPExchange.Answer, until end: Int?, size: Int?, _ file: PartialFile
  ) async throws -> Bool {
    try requireRoom(for: size ?? 0, answer)
    note(completed: Int64(file.count), total: size.map { Int64($0) })
    for try await piece in answer.body {
      try requireRoom(for: file.count + piece.readableBytes, answer)
      guard file.count + piece.readableBytes <= end ?? .max else { return false }
      try await file.append(piece)
      progress.completedUnitCount = Int64(file.count)
    }
    guard let end, file.count != end else { return true }
    throw RequestError(
      .connectionBroken, url: answer.url, context: "Only \(file.count) of \(size ?? end) bytes were received.")
  }

  private func note(completed: Int64, total: Int64?) {
    // In this order, because the count of an earlier attempt might exceed the new total.
    progress.completedUnitCount = completed
    progress.totalUnitCount = total ?? 0
  }

  /// Returns the record of the existing file if the file has not changed.
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
    guard let most = limits.maxBodyBytes, count > most else { return }
    throw RequestError.tooLarge(answer, maxByteCount: most)
  }
}
#endif
