import Foundation
import Headway
import HeadwayLines
import HeadwayTestKit
import HeadwayTestSupport
import Synchronization
import Testing

@Suite("Lines: how following a file ends", .hangLimit) struct FollowingEndTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("L7: a cancellation stops the wait immediately, and the file is closed") func cancellation() async throws {
    let follower = Follower(try folder.write("one\n", to: "log"))
    await follower.untilWaiting()
    follower.cancel()
    #expect(await follower.error() is CancellationError)
    #expect(follower.clock.sleeperCount == 0)
    #if os(Linux)
    #expect(try descriptorCount(of: follower.path) == 0)
    #endif
  }

  @Test("L7: a missing file is rejected, or awaited and then read from its start") func missing() async throws {
    let path = folder.path + "/log"
    let error = await Follower(path).error() as? LineReaderError
    #expect(error?.code == .fileNotFound)
    let follower = Follower(path, from: .end, mustExist: false)
    await follower.check(times: 3)
    try append("one\n", to: path)
    await follower.check()
    #expect(follower.texts == ["one"])
  }

  @Test("L7: a file without a size can't be followed: a FIFO, a device, a file in /proc") func notRegular() async throws
  {
    for path in [try folder.fifo(), "/dev/null"] {
      #expect((await Follower(path).error() as? LineReaderError)?.code == .cannotFollow)
    }
    #if os(Linux)
    // Its content is delivered before the end shows that it has no size.
    let version = Follower("/proc/version")
    #expect((await version.error() as? LineReaderError)?.code == .cannotFollow)
    #expect(version.lines.count == 1)
    #endif
  }

  @Test("L7: a line over the maximum length ends the iteration after the lines before it are delivered")
  func longLine() async throws {
    let follower = Follower(try folder.write("one\n", to: "log"), options: .init(maxLineLength: 10))
    await follower.untilWaiting()
    try append("two\n0123456789ab", to: follower.path)
    await follower.untilWaiting()
    follower.clock.advance(by: Follower.interval)
    let error = await follower.error() as? LineReaderError
    #expect(error?.code == .lineTooLong && error?.lineNumber == 3 && error?.byteOffset == 8)
    #expect(follower.texts == ["one", "two"])
  }

  @Test("L7: the callback form follows in an operation that ends when it is cancelled, and completes once")
  func callback() async throws {
    let (clock, queue) = (ManualClock(), Headway.OperationQueue(maxConcurrentOperationCount: 1))
    let path = try folder.write("one\n", to: "log")
    let (seen, end) = (Seen(), Gate())
    // The operation occupies the reader's own queue.
    let reader = LineReader(following: path, queue: queue, clock: clock)
    let operation = reader.enumerateLines { line in
      let text = try line.string
      seen.lines.withLock { $0.append(text) }
    } completion: { result in
      seen.results.withLock { $0.append(result) }
      end.open()
    }
    await clock.waitForSleepers(count: 1)
    try append("two\n", to: path)
    clock.advance(by: .seconds(1))
    await clock.waitForSleepers(count: 1)
    #expect(seen.lines.withLock { $0 } == ["one", "two"])
    #expect(queue.operationCount == 1 && !operation.isFinished)
    operation.cancel()
    await end.untilOpen()
    try await operation.untilFinished()
    #expect(seen.results.withLock { $0.count } == 1)
    #expect(throws: CancellationError.self) { try seen.results.withLock { $0 }[0].get() }
  }

  @Test("L7: the callback form ends with the error that its closure throws") func callbackError() async throws {
    struct Enough: Error {}
    let reader = LineReader(following: try folder.write("one\ntwo\n", to: "log"), clock: ManualClock())
    let result = await withCheckedContinuation { continuation in
      reader.enumerateLines { line in
        if line.number == 2 { throw Enough() }
      } completion: {
        continuation.resume(returning: $0)
      }
    }
    #expect(throws: Enough.self) { try result.get() }
  }

  @Test("L7: an operation of the callback form that is cancelled before it runs also completes once")
  func callbackBeforeStart() async throws {
    let queue = Headway.OperationQueue()
    queue.isSuspended = true
    let reader = LineReader(following: try folder.write("one\n", to: "log"), clock: ManualClock())
    let result = await withCheckedContinuation { continuation in
      let operation = reader.enumerateLines(on: queue) { _ in
        Issue.record("A line was delivered.")
      } completion: {
        continuation.resume(returning: $0)
      }
      operation.cancel()
      queue.isSuspended = false
    }
    #expect(throws: CancellationError.self) { try result.get() }
  }

  @Test("L7: following on the calling thread is a programming error") func synchronous() async {
    await #expect(processExitsWith: .failure) {
      try LineReader(following: "/etc/passwd").forEachLine { _ in }
    }
    await #expect(processExitsWith: .failure) {
      try LineReader(following: "/etc/passwd").forEachBatch { _, stop in stop = true }
    }
    await #expect(processExitsWith: .failure) { _ = LineReader(following: "log", checkInterval: .zero) }
    await #expect(processExitsWith: .failure) { _ = LineReader(following: "log", from: .lastLines(-1)) }
  }

  private final class Seen: Sendable {
    let lines = Mutex<[String]>([])
    let results = Mutex<[Result<Int, any Error>]>([])
  }
}
