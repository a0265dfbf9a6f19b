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

@Suite("HTTP: cancelling", .hangLimit) struct HTTPCancellationTests {
  /// How far a request has progressed when it is cancelled.
  enum Moment: CaseIterable, Sendable {
    case beforeAdding, beforeStart, waitingForHead, inHead, inBody, afterRedirect, atTheEnd
  }

  @Test(
    "H1: a request that is cancelled at any moment finishes once and leaves no connection or file",
    arguments: Moment.allCases, [true, false])
  func moments(moment: Moment, isDownload: Bool) async throws {
    try await withFolder { folder in
      let operation = Mutex<HTTPOperation?>(nil)
      let cancel = Server.Step.call { operation.withLock { $0 }?.cancel() }
      try await withServer { question in
        if moment == .afterRedirect, question.path == "/" {
          return Server.answer(.found, ["Location": "/next"])
        }
        return switch moment {
        case .beforeAdding, .beforeStart: Server.answer()
        case .waitingForHead, .afterRedirect: [cancel, .hang]
        case .inHead: [.head(.ok, ["Content-Length": "5"]), cancel, .hang]
        case .inBody: [.head(.ok, ["Content-Length": "5"]), .bytes([1, 2]), cancel, .hang]
        case .atTheEnd: [.head(.ok, ["Content-Length": "2"]), .bytes([1, 2]), cancel, .end]
        }
      } _: { server in
        let tested: HTTPOperation =
          isDownload ? DownloadOperation(server.url(), to: "\(folder)/file") : RequestOperation(server.url())
        operation.withLock { $0 = tested }
        let ends = Atomic(0)
        let token = tested.observe(\.isFinished) { _, _ in ends.add(1, ordering: .relaxed) }
        let queue = OperationQueue()
        if moment == .beforeAdding { tested.cancel() }
        if moment == .beforeStart {
          queue.isSuspended = true
          queue.addOperation(tested)
          tested.cancel()
        } else if moment != .beforeAdding {
          queue.addOperation(tested)
        }
        try await tested.untilFinished()
        #expect(tested.isCancelled && tested.isFinished)
        #expect(ends.load(ordering: .relaxed) == 1)
        if moment != .atTheEnd {
          // The connection of a request that has finished is kept for reuse.
          await until { server.openConnectionCount == 0 }
          #expect(tested.error == nil && files(folder) == [])
          #expect((tested as? RequestOperation)?.response == nil)
        }
        withExtendedLifetime(token) {}
      }
    }
  }

  @Test("H1: a request that waits for a connection stops waiting when it is cancelled") func waiting() async throws {
    try await withServer { question in
      question.path == "/hangs" ? [.hang] : Server.answer()
    } _: { server in
      var configuration = HTTPConnectionPool.Configuration.patient
      configuration.maxConnectionsPerHost = 1
      let connectionPool = try HTTPConnectionPool(configuration)
      let queue = OperationQueue()
      let first = RequestOperation(server.url("/hangs"), connectionPool: connectionPool)
      queue.addOperation(first)
      await until { server.questions.count == 1 }
      let second = RequestOperation(server.url("/second"), connectionPool: connectionPool)
      let third = RequestOperation(server.url("/third"), connectionPool: connectionPool)
      queue.addOperations([second, third], waitUntilFinished: false)
      await until { second.isExecuting && third.isExecuting }
      second.cancel()
      try await second.untilFinished()
      #expect(server.questions.count == 1)
      first.cancel()
      try await third.untilFinished()
      #expect(third.error == nil && server.questions.map(\.path) == ["/hangs", "/third"])
    }
  }

  @Test("H1: a pause before another attempt ends when it is cancelled") func pause() async throws {
    try await withServer { _ in
      Server.answer(.serviceUnavailable, ["Retry-After": "20"])
    } _: { server in
      let clock = ManualClock()
      let request = RequestOperation(server.url())
      request.clock = clock
      OperationQueue().addOperation(request)
      await until { clock.sleeperCount == 1 }
      request.cancel()
      try await request.untilFinished()
      #expect(server.questions.count == 1 && request.error == nil)
    }
  }

  /// The number of requests: 10,000 if the heavy suites run long.
  private static let count = ProcessInfo.processInfo.environment["HEADWAY_STRESS_ROUNDS"].flatMap { Int($0) } ?? 400

  @Test("H1: many requests that are cancelled at random times leave no errors, partial files, or connections in use")
  func storm() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    try await withFolder { folder in
      try await withServer { question in
        switch Int(question.path.dropFirst()).map({ $0 % 4 }) {
        case 0: Server.answer(.ok, [:], content(3_000))
        case 1: Server.answer(.found, ["Location": "/\(Int.max / 4 * 4)"])
        case 2: [.head(.ok, ["Content-Length": "3000"]), .bytes(content(1_000)), .hang]
        default: [.hang]  // Also for the requests that occupy all connections.
        }
      } _: { server in
        var random = SeededGenerator(seed: seed)
        let queue = OperationQueue()
        let ends = Atomic(0)
        let connectionPool = try HTTPConnectionPool(.patient)
        var operations: [HTTPOperation] = []
        for number in 0..<Self.count {
          let url = server.url("/\(number)")
          let operation: HTTPOperation =
            number % 3 == 0
            ? DownloadOperation(url, to: "\(folder)/\(number)", connectionPool: connectionPool)
            : RequestOperation(url, connectionPool: connectionPool)
          operation.completionBlock = { ends.add(1, ordering: .relaxed) }
          operations.append(operation)
          queue.addOperation(operation)
          // Cancels a random request, which might be in any state.
          operations[Int(random.next() % UInt64(operations.count))].cancel()
        }
        for operation in operations { operation.cancel() }
        try await queue.untilAllOperationsAreFinished()
        await until { ends.load(ordering: .relaxed) == Self.count }
        #expect(operations.allSatisfy { $0.isFinished && $0.error == nil }, "seed \(seed)")
        #expect(files(folder).allSatisfy { Int($0) != nil }, "seed \(seed): \(files(folder))")
        try await waitForFreeConnections(of: connectionPool, to: server, "seed \(seed)")
      }
    }
  }
}
#endif
