#if HTTP
import HTTPTypes
import Synchronization

/// Running attempts at requests, whose responses equal requests share.
///
/// Each participant waits separately. A cancelled participant leaves immediately, and the attempt ends when the last
/// participant has left.
final class CoalescedRequests: Sendable {
  /// The properties that must be equal for requests to share a response.
  struct Key: Hashable {
    let url: String
    let headers: HTTPFields
    let maxBodyBytes: Int?
    let maxErrorBodyBytes: Int
    let maxRedirectCount: Int
    let acceptedStatuses: Set<HTTPResponse.Status>

    init(_ request: Request, _ limits: HTTPLimits) {
      url = request.url
      headers = request.headers
      maxBodyBytes = limits.maxBodyBytes
      maxErrorBodyBytes = limits.maxErrorBodyBytes
      maxRedirectCount = limits.maxRedirectCount
      acceptedStatuses = limits.acceptedStatuses
    }
  }

  /// An event of an attempt that is sent to each participant.
  private enum Event: Sendable {
    case received(HTTPBodyCount)
    case ended(Result<Response, any Error>)
  }

  typealias Attempt = @Sendable (_ report: @escaping @Sendable (HTTPBodyCount) -> Void) async throws -> Response

  private struct Exchange {
    let number: Int
    var participants: [Int: AsyncStream<Event>.Continuation]
    var task: Task<Void, Never>?
  }

  private struct State {
    var exchanges: [Key: Exchange] = [:]
    private var lastNumber = 0

    mutating func number() -> Int {
      lastNumber += 1
      return lastNumber
    }
  }

  private let state = Mutex(State())

  /// The number of requests that take part in an attempt.
  var participantCount: Int { state.withLock { $0.exchanges.values.reduce(0) { $0 + $1.participants.count } } }

  /// Waits for the response of the running attempt for `key`, or starts an attempt.
  ///
  /// - Parameters:
  ///   - key: Identifies equal requests.
  ///   - report: Called in the calling task as bytes arrive.
  ///   - attempt: Sends the request and returns its response.
  /// - Returns: The response, which several callers can share.
  /// - Throws: The error of `attempt`; `CancellationError` if the calling task is cancelled.
  func response(
    for key: Key, report: (HTTPBodyCount) -> Void, attempt: @escaping Attempt
  ) async throws -> Response {
    // Only the newest count and the end matter, and nothing follows the end.
    let (events, participant) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(2))
    let id = join(key, participant, attempt)
    defer { leave(key, id) }
    for await event in events {
      switch event {
      case .received(let count): report(count)
      case .ended(let result): return try result.get()
      }
    }
    throw CancellationError()
  }

  private func join(
    _ key: Key, _ participant: AsyncStream<Event>.Continuation, _ attempt: @escaping Attempt
  ) -> Int {
    let (id, started) = state.withLock { state -> (Int, Int?) in
      let id = state.number()
      guard state.exchanges[key] == nil else {
        state.exchanges[key]?.participants[id] = participant
        return (id, nil)
      }
      let number = state.number()
      state.exchanges[key] = Exchange(number: number, participants: [id: participant])
      return (id, number)
    }
    if let started { start(started, key, attempt) }
    return id
  }

  private func start(_ number: Int, _ key: Key, _ attempt: @escaping Attempt) {
    let task = Task { [self] in
      let result: Result<Response, any Error>
      do {
        result = .success(try await attempt { self.report(.received($0), number, key) })
      } catch {
        result = .failure(error)
      }
      report(.ended(result), number, key)
    }
    let isWanted = state.withLock { state in
      guard state.exchanges[key]?.number == number else { return false }
      state.exchanges[key]?.task = task
      return true
    }
    // The attempt has ended, or all participants have left.
    if !isWanted { task.cancel() }
  }

  private func report(_ event: Event, _ number: Int, _ key: Key) {
    let participants = state.withLock { state -> [AsyncStream<Event>.Continuation] in
      guard let exchange = state.exchanges[key], exchange.number == number else { return [] }
      if case .ended = event { state.exchanges[key] = nil }
      return Array(exchange.participants.values)
    }
    for participant in participants { participant.yield(event) }
  }

  private func leave(_ key: Key, _ id: Int) {
    let abandoned = state.withLock { state -> Exchange? in
      guard state.exchanges[key]?.participants.removeValue(forKey: id) != nil,
        state.exchanges[key]?.participants.isEmpty == true
      else { return nil }
      return state.exchanges.removeValue(forKey: key)
    }
    abandoned?.task?.cancel()
  }
}
#endif
