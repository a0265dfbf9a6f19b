#if HTTP
import Foundation
import Headway
import HeadwayHTTP
import HeadwayHTTPTestSupport
import HeadwayTestKit
import HeadwayTestSupport
import NIOHTTP1
import Synchronization
import Testing

@Suite("HTTP: handling a response", .hangLimit) struct ResponseHandlingTests {
  /// Calls a closure with the response.
  private final class Receiver: RequestOperation, @unchecked Sendable {
    let calls = Atomic(0)
    private let body: Mutex<@Sendable (Receiver) async throws -> Void>

    init(
      _ url: String, limits: HTTPLimits = HTTPLimits(), _ body: @escaping @Sendable (Receiver) async throws -> Void
    ) {
      self.body = Mutex(body)
      super.init(Request(url: url), limits: limits)
    }

    override func handleResponse(_ response: Response) async throws {
      calls.add(1, ordering: .relaxed)
      try await body.withLock { $0 }(self)
    }
  }

  @Test("H1: a subclass processes the response once, even if it throws an error that can be retried")
  func once() async throws {
    try await withServer { _ in
      Server.answer(.ok, [:], [7])
    } _: { server in
      let request = Receiver(server.url(), limits: .attempts(3)) { request in
        throw RequestError(.timedOut, url: request.request.url, context: "Another request of its own.")
      }
      try await request.run()
      #expect(request.calls.load(ordering: .relaxed) == 1 && server.questions.count == 1)
      #expect(request.httpError?.code == .timedOut && request.response == nil)
    }
  }

  @Test("H1: a request that is cancelled while a subclass handles the response has no response") func cancelled()
    async throws
  {
    try await withServer { _ in
      Server.answer(.ok, [:], [7])
    } _: { server in
      let request = Receiver(server.url()) { request in
        #expect(request.response == nil)
        request.cancel()
      }
      try await request.run()
      #expect(request.isCancelled && request.error == nil && request.response == nil)
      await #expect(throws: CancellationError.self) { try await request.value }
    }
  }

  @Test("H2: a request that times out while a subclass handles the response has no response") func late() async throws {
    try await withServer { _ in
      Server.answer(.ok, [:], [7])
    } _: { server in
      let clock = ManualClock()
      var limits = HTTPLimits.once
      limits.totalTimeout = .seconds(1)
      let request = Receiver(server.url(), limits: limits) { _ in
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        // Waits until its task is cancelled.
        while !Task.isCancelled { await Task.yield() }
      }
      request.clock = clock
      try await request.run()
      #expect(request.httpError?.code == .timedOut && request.response == nil)
    }
  }
}
#endif
