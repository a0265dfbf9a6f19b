#if HTTP
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestKit
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing

@Suite("HTTP: coalescing", .hangLimit) struct CoalescingTests {
  private static func joining(_ url: String, _ headers: HTTPFields = [:]) -> Request {
    var request = Request(url: url, headers: headers)
    request.coalescesEqualRequests = true
    return request
  }

  /// Begins a request and returns when the server has received it.
  private static func first(_ server: LoopbackServer, _ connectionPool: HTTPConnectionPool) async -> RequestOperation {
    let count = server.questions.count
    let request = RequestOperation(joining(server.url()), connectionPool: connectionPool)
    request.start()
    await until { server.questions.count == count + 1 }
    return request
  }

  /// Begins requests that join a request in progress.
  private static func others(
    _ count: Int, _ server: LoopbackServer, _ connectionPool: HTTPConnectionPool
  ) async -> [RequestOperation] {
    let before = connectionPool.participantCount
    let requests = (0..<count).map { _ in RequestOperation(joining(server.url()), connectionPool: connectionPool) }
    for request in requests { request.start() }
    await until { connectionPool.participantCount == before + count }
    return requests
  }

  @Test("H3: equal GET requests are coalesced, and each gets the response and its progress")
  func joined() async throws {
    let isOpen = Atomic(false)
    try await withServer { _ in
      [.wait { isOpen.load(ordering: .acquiring) }] + Server.answer(.ok, ["X-Test": "1"], content(100_000))
    } _: { server in
      let connectionPool = try HTTPConnectionPool(.patient)
      let first = await Self.first(server, connectionPool)
      let requests = [first] + (await Self.others(4, server, connectionPool))
      isOpen.store(true, ordering: .releasing)
      for request in requests {
        let response = try await request.value
        #expect(response.body == content(100_000) && response.headers[.test] == "1")
        #expect(request.progress.completedUnitCount == 100_000 && request.progress.totalUnitCount == 100_000)
      }
      #expect(server.questions.count == 1 && connectionPool.participantCount == 0)
      // A later operation sends its own request.
      let later = RequestOperation(Self.joining(server.url()), connectionPool: connectionPool)
      try await later.run()
      #expect(later.error == nil && server.questions.count == 2)
    }
  }

  @Test("H3: coalesced requests are cancelled separately, and the last one closes the connection")
  func cancelling() async throws {
    let isOpen = Atomic(false)
    try await withServer { _ in
      [.wait { isOpen.load(ordering: .acquiring) }] + Server.answer(.ok, [:], [7])
    } _: { server in
      let connectionPool = try HTTPConnectionPool(.patient)
      let first = await Self.first(server, connectionPool)
      let others = await Self.others(2, server, connectionPool)
      // Cancelling the request that began the attempt does not end it.
      first.cancel()
      others[0].cancel()
      try await first.untilFinished()
      try await others[0].untilFinished()
      #expect(first.response == nil && first.error == nil && server.openConnectionCount == 1)
      isOpen.store(true, ordering: .releasing)
      let response = try await others[1].value
      #expect(response.body == [7] && server.questions.count == 1)

      isOpen.store(false, ordering: .releasing)
      let next = await Self.first(server, connectionPool)
      let last = await Self.others(1, server, connectionPool)
      next.cancel()
      last[0].cancel()
      try await last[0].untilFinished()
      await until { server.openConnectionCount == 0 }
      #expect(server.questions.count == 2 && connectionPool.participantCount == 0)
    }
  }

  @Test("H3: all coalesced requests receive a failure, and each is retried within its own limits")
  func failing() async throws {
    let isOpen = Atomic(false)
    try await withServer { _ in
      [.wait { isOpen.load(ordering: .acquiring) }] + Server.answer(.serviceUnavailable)
    } _: { server in
      let connectionPool = try HTTPConnectionPool(.patient)
      let once = RequestOperation(Self.joining(server.url()), limits: .once, connectionPool: connectionPool)
      let twice = RequestOperation(Self.joining(server.url()), limits: .attempts(2), connectionPool: connectionPool)
      once.start()
      twice.start()
      await until { connectionPool.participantCount == 2 && server.questions.count == 1 }
      isOpen.store(true, ordering: .releasing)
      for request in [once, twice] {
        try await request.untilFinished()
        #expect(request.httpError?.status == .serviceUnavailable)
      }
      #expect(server.questions.count == 2)
    }
  }

  @Test("H3: only equal requests that allow it are coalesced") func notJoined() async throws {
    let isOpen = Atomic(false)
    try await withServer { _ in
      [.wait { isOpen.load(ordering: .acquiring) }] + Server.answer(.ok, [:], [7])
    } _: { server in
      let connectionPool = try HTTPConnectionPool(.patient)
      var small = HTTPLimits()
      small.maxBodyBytes = 10
      var head = Self.joining(server.url())
      head.method = .head
      let requests = [
        RequestOperation(Self.joining(server.url()), connectionPool: connectionPool),
        RequestOperation(Self.joining(server.url("/other")), connectionPool: connectionPool),
        RequestOperation(Self.joining(server.url(), [.accept: "text/plain"]), connectionPool: connectionPool),
        RequestOperation(Self.joining(server.url()), limits: small, connectionPool: connectionPool),
        RequestOperation(head, connectionPool: connectionPool),
        RequestOperation(server.url(), connectionPool: connectionPool),
      ]
      for request in requests { request.start() }
      await until { server.questions.count == requests.count }
      isOpen.store(true, ordering: .releasing)
      for request in requests {
        try await request.untilFinished()
        #expect(request.error == nil)
      }
    }
  }

  @Test("H3: coalesced requests, some of them cancelled at random times, leave no errors or connections in use")
  func storm() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    try await withServer { question in
      switch question.path {
      case "/0": [.head(.ok, ["Content-Length": "9"]), .bytes([1]), .hang]
      case occupyingPath: [.hang]
      default: Server.answer(.ok, [:], [7])
      }
    } _: { server in
      var random = SeededGenerator(seed: seed)
      let connectionPool = try HTTPConnectionPool(.patient)
      let queue = OperationQueue()
      var requests: [RequestOperation] = []
      for _ in 0..<1_000 {
        let url = server.url("/\(random.next() % 5)")
        requests.append(RequestOperation(Self.joining(url), connectionPool: connectionPool))
        queue.addOperation(requests[requests.count - 1])
        if random.next() % 3 == 0 { requests[Int(random.next() % UInt64(requests.count))].cancel() }
      }
      for request in requests where request.request.url == server.url("/0") { request.cancel() }
      try await queue.untilAllOperationsAreFinished()
      #expect(
        requests.allSatisfy { $0.isFinished && $0.error == nil && ($0.isCancelled || $0.response?.body == [7]) },
        "seed \(seed)")
      #expect(connectionPool.participantCount == 0, "seed \(seed)")
      try await waitForFreeConnections(of: connectionPool, to: server, "seed \(seed)")
    }
  }
}
#endif
