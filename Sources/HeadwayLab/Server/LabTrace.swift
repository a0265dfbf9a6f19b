#if Lab
import HTTPTypes
import Headway
import HeadwayTrace
import Hummingbird
import NIOCore
import Synchronization

/// Records what the process does while the lab or a workshop runs something, and serves the last recording as a page.
///
/// A process records at most one trace at a time, so a trace includes everything that runs at the same time. It begins
/// with the request that starts the first run and ends when nothing runs.
final class LabTrace: RouterMiddleware {
  typealias Context = BasicRequestContext

  private struct State {
    var trace: Trace?
    var last: TraceRecording?
    /// The number of requests that are being answered and might start a run.
    var requestCount = 0
  }

  /// The last parts of the paths of requests that start a run.
  private static let starts = ["/run", "/start"]
  private static let pollingInterval = Duration.milliseconds(50)

  // Not a dispatch queue, because techniques might occupy all of Dispatch's threads.
  private let queue = OperationQueue(name: "lab trace", qualityOfService: .userInteractive)
  private let isRunning: @Sendable () -> Bool
  // Protected by its lock.
  private let state = Mutex(State())

  /// Creates a recorder.
  ///
  /// - Parameter isRunning: Returns whether the lab or a workshop runs something.
  init(isRunning: @escaping @Sendable () -> Bool) { self.isRunning = isRunning }

  @concurrent func handle(
    _ request: Request, context: BasicRequestContext,
    next: @concurrent (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    guard request.method == .post, Self.starts.contains(where: request.uri.path.hasSuffix) else {
      return try await next(request, context)
    }
    begin()
    defer { state.withLock { $0.requestCount -= 1 } }
    return try await next(request, context)
  }

  private func begin() {
    let isFirst = state.withLock { state in
      state.requestCount += 1
      guard state.trace == nil else { return false }
      state.trace = Trace.start()
      return true
    }
    guard isFirst else { return }
    Task(executorPreference: queue) { [self] in
      while !end() { try? await Task.sleep(for: Self.pollingInterval) }
    }
  }

  /// Ends the recording if nothing runs.
  private func end() -> Bool {
    // A run begins before its request is answered, so nothing begins between the two checks.
    guard !isRunning() else { return false }
    let trace = state.withLock { state -> Trace? in
      guard state.requestCount == 0, !isRunning() else { return nil }
      return state.trace.take()
    }
    guard let trace else { return false }
    let recording = trace.stop().withoutJobs
    state.withLock { $0.last = recording }
    return true
  }

  func addRoutes(to router: Router<BasicRequestContext>) {
    router.get("trace.html") { [self] _, _ in
      guard let recording = state.withLock({ $0.last }) else {
        throw HTTPError(.notFound, message: "No run has finished yet. Run something, and reload this page.")
      }
      // The page contains its style and its script. Operation names are escaped, and in any case, the page has no
      // access to the lab.
      let policy =
        "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      return Response(
        status: .ok, headers: [.contentType: "text/html; charset=utf-8", .contentSecurityPolicy: policy],
        body: ResponseBody(byteBuffer: ByteBuffer(string: recording.render(as: .html))))
    }
  }
}

extension TraceRecording {
  /// The recording without jobs of tasks, such as the server's.
  fileprivate var withoutJobs: TraceRecording {
    var (recording, kept) = (self, [Operation]())
    let positions = operations.map { operation -> Int? in
      guard operation.name != "JobOperation" else { return nil }
      kept.append(operation)
      return kept.count - 1
    }
    for position in kept.indices {
      kept[position].dependencies = kept[position].dependencies.compactMap { positions[$0] }
      kept[position].parent = kept[position].parent.flatMap { positions[$0] }
    }
    recording.operations = kept
    return recording
  }
}
#endif
