#if Dashboard
import HTTPTypes
@_spi(JobStore) import HeadwayJobs
import HeadwayWeb
import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization

/// A stream of server-sent events: each one makes the browser read its page again.
///
/// The events contain nothing about jobs. Hints of the store can be lost, so there is an event every few seconds even
/// without one. A stream ends after some time, and the browser opens another one, which is authorized again.
struct LiveEvents: AsyncSequence, Sendable {
  typealias Element = ByteBuffer

  private let jobs: Jobs
  private let slot: Slot

  /// The maximum time between two events.
  private static let longestPause = Duration.seconds(5)
  /// The minimum time between two events.
  private static let shortestPause = Duration.seconds(1)
  private static let maxEventCount = 300
  private static let maxStreamCount = 100

  static func response(for jobs: Jobs) throws -> Response {
    guard let slot = Slot.take(of: maxStreamCount) else {
      throw Refusal(.serviceUnavailable, "Too many pages are open.")
    }
    // Otherwise, a server would wait for its open pages before it shuts down.
    let events = LiveEvents(jobs: jobs, slot: slot).cancelOnGracefulShutdown()
    return Response(
      status: .ok, headers: .eventStream, body: ResponseBody(asyncSequence: events))
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(jobs: jobs, slot: slot) }

  struct AsyncIterator: AsyncIteratorProtocol {
    private let slot: Slot
    private let token: any AnyObject & Sendable
    private var hints: AsyncStream<Void>.AsyncIterator
    private let timer: Timer
    private var count = 0

    fileprivate init(jobs: Jobs, slot: Slot) {
      let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      self.slot = slot
      token = jobs.backend.observeHints { _ in continuation.yield() }
      timer = Timer(every: LiveEvents.longestPause) { continuation.yield() }
      hints = stream.makeAsyncIterator()
    }

    /// Returns the next event, at the earliest a second after the last one.
    mutating func next() async throws -> ByteBuffer? {
      defer { withExtendedLifetime((slot, token, timer)) {} }
      count += 1
      if count == 1 { return ByteBuffer(string: "retry: 2000\n\n") }
      guard count <= LiveEvents.maxEventCount, await hints.next(isolation: #isolation) != nil else { return nil }
      if count > 2 { try await Task.sleep(for: LiveEvents.shortestPause) }
      return ByteBuffer(string: "event: change\ndata: \(count)\n\n")
    }
  }

  /// Calls a function again and again, until it is released.
  private final class Timer: Sendable {
    private let task: Task<Void, Never>

    init(every pause: Duration, _ body: @escaping @Sendable () -> Void) {
      task = Task {
        while (try? await Task.sleep(for: pause)) != nil { body() }
      }
    }

    deinit { task.cancel() }
  }

  /// One of a limited number of streams.
  fileprivate final class Slot: Sendable {
    private static let count = Atomic(0)

    private init() {}

    static func take(of maxCount: Int) -> Slot? {
      guard count.add(1, ordering: .relaxed).newValue <= maxCount else {
        count.subtract(1, ordering: .relaxed)
        return nil
      }
      return Slot()
    }

    deinit { Self.count.subtract(1, ordering: .relaxed) }
  }
}
#endif
