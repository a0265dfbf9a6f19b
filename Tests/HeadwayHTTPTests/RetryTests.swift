#if HTTP
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestKit
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing

@Suite("HTTP: retries", .hangLimit) struct RetryTests {
  @Test("H3: transient failures are retried, as often as configured", arguments: [500, 503, 429, 0])
  func again(status: Int) async throws {
    let failures = Mutex(2)
    try await withServer { _ in
      let fails = failures.withLock { left in
        defer { left -= 1 }
        return left > 0
      }
      guard fails else { return Server.answer(.ok, [:], [1]) }
      return status == 0 ? [.closeConnection] : Server.answer(HTTPResponseStatus(statusCode: status))
    } _: { server in
      let failing = RequestOperation(server.url(), limits: .attempts(2))
      try await failing.run()
      #expect(failing.httpError != nil && server.questions.count == 2)
      failures.withLock { $0 = 2 }
      let request = RequestOperation(server.url(), limits: .attempts(3))
      try await request.run()
      #expect(request.error == nil && request.response?.body == [1] && server.questions.count == 5)
    }
  }

  @Test("H3: permanent failures, and requests that must not be repeated, are not retried") func once() async throws {
    try await withServer { question in
      Server.answer(question.head.method == .POST ? .internalServerError : .notFound)
    } _: { server in
      let lost = RequestOperation(server.url(), limits: .attempts(3))
      try await lost.run()
      #expect(server.questions.count == 1)
      let post = RequestOperation(Request(url: server.url(), method: .post), limits: .attempts(3))
      try await post.run()
      #expect(post.httpError?.status == .internalServerError && server.questions.count == 2)
    }
  }

  @Test("H3: a request is retried at the time that the server specifies, unless the delay is too long")
  func retryAfter() async throws {
    for (delay, isAskedAgain) in [("7", true), ("31", false), ("99999999999999999999", false)] {
      let isFirst = Atomic(true)
      try await withServer { _ in
        isFirst.exchange(false, ordering: .relaxed)
          ? Server.answer(.serviceUnavailable, ["Retry-After": delay]) : Server.answer()
      } _: { server in
        let clock = ManualClock()
        let request = RequestOperation(server.url(), limits: .attempts(2))
        request.clock = clock
        let queue = OperationQueue()
        queue.addOperation(request)
        if isAskedAgain {
          await until { clock.sleeperCount == 1 }
          clock.advance(by: .seconds(6))
          #expect(server.questions.count == 1 && !request.isFinished)
          clock.advance(by: .seconds(1))
        }
        try await request.untilFinished()
        #expect(server.questions.count == (isAskedAgain ? 2 : 1))
        #expect((request.error == nil) == isAskedAgain)
      }
    }
  }
}
#endif
