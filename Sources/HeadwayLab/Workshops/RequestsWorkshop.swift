#if Lab
import Foundation
import HTTPTypes
import Headway
import HeadwayHTTP
import Hummingbird
import NIOCore
import Synchronization

/// Downloads from a slow server, which is the lab itself: cancelled, resumed, and retried after a lost connection.
final class RequestsWorkshop: Sendable {
  struct Event: Encodable {
    struct Download: Encodable {
      var number: Int
      var title: String
      var state: String
      var received: Int64
      var total: Int64
      /// For each request that the server received, the offset in bytes where it began.
      var requests: [Int]
      var message: String
    }

    var type = "requests"
    var downloads: [Download]
  }

  private struct NumberRequest: Decodable {
    var number: Int
  }

  private struct Download {
    let title: String
    var operation: DownloadOperation?
    /// True until its completion block has run.
    var isRunning = false
    var requests: [Int] = []
    var isBrokenOff = false
  }

  private struct State {
    var downloads = [
      Download(title: "A file in one go"), Download(title: "A file whose connection breaks off"),
      Download(title: "A larger file"),
    ]
    var origin: (address: String, cookie: String?) = ("", nil)
    var isPublishing = false
    var isClosed = false
  }

  private static let chunk = 16_384
  private static let sizes = [1_000_000, 1_000_000, 3_000_000]

  private let journal: Journal
  private let folder: String
  private let queue = Headway.OperationQueue(name: "downloads", maxConcurrentOperationCount: 3)
  // Protected by its lock. No operation is called or released under it.
  private let state = Mutex(State())

  init(_ journal: Journal, folder: String) {
    self.journal = journal
    self.folder = folder + "/downloads"
  }

  /// Sets the address that the lab listens on, and the cookie that gives a request access.
  func setOrigin(_ address: String, cookie: String?) { state.withLock { $0.origin = (address, cookie) } }

  func addRoutes(to router: Router<BasicRequestContext>) {
    router.post("api/requests/start") { [self] request, context in
      let number = try await number(request, context)
      return try start(number) ? HTTPResponse.Status.accepted : .conflict
    }
    router.post("api/requests/cancel") { [self] request, context in
      let number = try await number(request, context)
      state.withLock { $0.downloads[number].operation }?.cancel()
      return HTTPResponse.Status.accepted
    }
    router.get("slow/:number") { [self] request, context in
      guard let number = context.parameters.get("number", as: Int.self), Self.sizes.indices ~= number else {
        throw HTTPError(.notFound)
      }
      return try serve(number, request)
    }
  }

  /// Cancels all downloads and prevents new ones.
  func stop() {
    state.withLock { $0.isClosed = true }
    queue.cancelAllOperations()
  }

  /// Whether a download is running.
  var isRunning: Bool { state.withLock { $0.downloads.contains(where: \.isRunning) } }

  private func number(_ request: Request, _ context: BasicRequestContext) async throws -> Int {
    let number = try await request.decode(as: NumberRequest.self, context: context).number
    guard Self.sizes.indices ~= number else { throw HTTPError(.unprocessableContent) }
    return number
  }

  // MARK: The client

  /// Starts a download, or resumes it.
  private func start(_ number: Int) throws -> Bool {
    guard !state.withLock({ $0.isClosed }) else { return false }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = "\(folder)/file-\(number)"
    let origin = state.withLock { $0.origin }
    var request = HeadwayHTTP.Request(url: "\(origin.address)slow/\(number)")
    if let cookie = origin.cookie { request.headers[.cookie] = cookie }
    let operation = DownloadOperation(request, to: path, keepsPartialFile: true)
    operation.completionBlock = { [weak self] in
      self?.state.withLock { $0.downloads[number].isRunning = false }
    }
    let isGoingOn = FileManager.default.fileExists(atPath: path + DownloadOperation.partialEndings[0])
    let (isNew, last) = state.withLock { state -> (Bool, DownloadOperation?) in
      guard !state.downloads[number].isRunning, !state.isClosed else { return (false, nil) }
      if !isGoingOn { (state.downloads[number].requests, state.downloads[number].isBrokenOff) = ([], false) }
      state.downloads[number].isRunning = true
      defer { state.downloads[number].operation = operation }
      return (true, state.downloads[number].operation)
    }
    guard isNew else { return false }
    withExtendedLifetime(last) {}  // Released after the lock.
    queue.addOperation(operation)
    // A cancellation before this might not have found the operation in the queue.
    if state.withLock({ $0.isClosed }) { operation.cancel() }
    publishWhileRunning()
    return true
  }

  /// Publishes the progress of the downloads ten times per second, as long as there are any.
  private func publishWhileRunning() {
    let isFirst = state.withLock { state in
      defer { state.isPublishing = true }
      return !state.isPublishing
    }
    guard isFirst else { return }
    Task(executorPreference: queue) { [self] in
      while true {
        let isRunning = state.withLock { state in
          state.isPublishing = state.downloads.contains(where: \.isRunning)
          return state.isPublishing
        }
        publish()
        guard isRunning else { return }
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  private func publish() {
    let downloads = state.withLock { $0.downloads }
    journal.append(
      Event(
        downloads: downloads.enumerated().map { number, download in
          let operation = download.operation
          return Event.Download(
            number: number, title: download.title, state: Self.stateText(download),
            received: operation?.progress.completedUnitCount ?? 0, total: Int64(Self.sizes[number]),
            requests: download.requests, message: operation?.error.map { "\($0)" } ?? "")
        }), key: "requests")
  }

  private static func stateText(_ download: Download) -> String {
    guard let operation = download.operation else { return "idle" }
    guard !download.isRunning else { return "running" }
    return operation.isCancelled ? "cancelled" : operation.error == nil ? "finished" : "failed"
  }

  // MARK: The server

  private func serve(_ number: Int, _ request: Request) throws -> Response {
    let size = Self.sizes[number]
    let tag = "\"\(number)-\(size)\""
    var start = 0
    if let range = request.headers[.range], request.headers[.ifRange].map({ $0 == tag }) ?? true,
      let match = range.wholeMatch(of: /bytes=(\d+)-/), let wanted = Int(match.1)
    {
      guard wanted < size else {
        return Response(status: .rangeNotSatisfiable, headers: [.eTag: tag, .contentRange: "bytes */\(size)"])
      }
      start = wanted
    }
    let breaksOff = state.withLock { state in
      state.downloads[number].requests.append(start)
      guard number == 1, !state.downloads[number].isBrokenOff else { return false }
      state.downloads[number].isBrokenOff = true
      return true
    }
    var headers: HTTPFields = [
      .contentType: "application/octet-stream", .eTag: tag, .acceptRanges: "bytes",
    ]
    if start > 0 { headers[.contentRange] = "bytes \(start)-\(size - 1)/\(size)" }
    let begin = start
    let body = ResponseBody(contentLength: size - begin) { writer in
      var position = begin
      while position < size {
        // About 500 KB per second.
        try await Task.sleep(for: .milliseconds(32))
        if breaksOff, position > size / 2 { throw BrokenOff() }
        let count = min(Self.chunk, size - position)
        try await writer.write(ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: count))
        position += count
      }
      try await writer.finish(nil)
    }
    return Response(status: begin > 0 ? .partialContent : .ok, headers: headers, body: body)
  }

  private struct BrokenOff: Error {}
}
#endif
