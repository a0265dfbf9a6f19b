#if HTTP
import AsyncHTTPClient
import NIOCore
import NIOPosix

/// AsyncHTTPClient as in its documentation, with the timeouts and the decompression of `HeadwayHTTP`.
enum ClientRequests {
  private static func makeClient(connections: Int) -> HTTPClient {
    var configuration = HTTPClient.Configuration(
      timeout: .init(connect: .seconds(10), read: .seconds(60), write: .seconds(60)),
      decompression: .enabled(limit: .ratio(100)))
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  static func file(_ url: String, to path: String) async throws {
    let client = makeClient(connections: 1)
    let delegate = try FileDownloadDelegate(path: path)
    _ = try await client.execute(request: HTTPClient.Request(url: url), delegate: delegate).get()
    try await client.shutdown()
  }

  static func small(_ url: String, count: Int, jobs: Int) async throws {
    let client = makeClient(connections: jobs)
    try await withThrowingTaskGroup(of: Int.self) { group in
      var sizes: Set<Int> = []
      for number in 1...count {
        if number > jobs, let size = try await group.next() { sizes.insert(size) }
        group.addTask {
          let response = try await client.execute(HTTPClientRequest(url: "\(url)?\(number)"), timeout: .seconds(60))
          return try await response.body.collect(upTo: 1 << 20).readableBytes
        }
      }
      for try await size in group { sizes.insert(size) }
      guard sizes.count == 1 else { fail("the answers differ") }
    }
    try await client.shutdown()
  }
}
#endif
