#if HTTP
import Headway
import HeadwayHTTP
import Synchronization

enum HeadwayRequests {
  static func file(_ url: String, to path: String) async throws {
    let download = DownloadOperation(url, to: path)
    let queue = OperationQueue()
    queue.addOperation(download)
    try await download.untilSucceeded()
  }

  static func small(_ url: String, count: Int, jobs: Int) async throws {
    var configuration = HTTPConnectionPool.Configuration()
    configuration.maxConnectionsPerHost = jobs
    let connectionPool = try HTTPConnectionPool(configuration)
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = jobs
    let sizes = AnswerSizes()
    for number in 1...count {
      queue.addOperation(SizeRequest("\(url)?\(number)", connectionPool, sizes))
    }
    try await queue.untilAllOperationsAreFinished()
    guard sizes.areEqual(count: count) else { fail("the answers differ") }
  }
}

/// The number of responses of each size.
private final class AnswerSizes: Sendable {
  private let counts = Mutex<[Int: Int]>([:])

  func add(_ size: Int) { counts.withLock { $0[size, default: 0] += 1 } }
  func areEqual(count: Int) -> Bool { counts.withLock { Array($0.values) } == [count] }
}

/// A request that records the size of its response.
///
/// The request and the response are freed when the request has finished.
private final class SizeRequest: RequestOperation, @unchecked Sendable {
  private let sizes: AnswerSizes

  init(_ url: String, _ connectionPool: HTTPConnectionPool, _ sizes: AnswerSizes) {
    self.sizes = sizes
    super.init(Request(url: url), connectionPool: connectionPool)
  }

  override func handleResponse(_ response: Response) async throws { sizes.add(response.body.count) }
}
#endif
