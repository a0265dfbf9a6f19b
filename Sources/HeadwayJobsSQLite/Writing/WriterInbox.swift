#if Jobs
import Dispatch
@_spi(JobStore) import HeadwayJobs
import Synchronization

/// The requests that the writer of a store has not started to execute.
final class WriterInbox: Sendable {
  private struct State {
    var requests: [WriteRequest] = []
    var isWriterWaiting = false
    var isClosed = false
  }

  private let state = Mutex(State())
  private let arrival = DispatchSemaphore(value: 0)

  /// The maximum number of requests in a transaction.
  static let maxRequestCount = 1_000
  /// The maximum size of a transaction's requests; a larger request has its own transaction.
  static let maxSize = 1_024 * 1_024

  /// Adds a request.
  ///
  /// - Returns: Whether the writer will execute it. If not, the store is closed.
  func add(_ request: WriteRequest) -> Bool {
    let (isAccepted, mustSignal) = state.withLock { state in
      guard !state.isClosed else { return (false, false) }
      state.requests.append(request)
      defer { state.isWriterWaiting = false }
      return (true, state.isWriterWaiting)
    }
    if mustSignal { arrival.signal() }
    return isAccepted
  }

  /// Closes the inbox: further requests are refused.
  ///
  /// The writer executes the remaining requests, and then ends.
  func close() {
    let mustSignal = state.withLock { state in
      state.isClosed = true
      defer { state.isWriterWaiting = false }
      return state.isWriterWaiting
    }
    if mustSignal { arrival.signal() }
  }

  /// Waits for requests, and removes those of one transaction; returns nil if the inbox is closed and empty.
  ///
  /// Only the writer calls it.
  func next() -> [WriteRequest]? {
    while true {
      let (batch, isClosed) = state.withLock { state -> ([WriteRequest], Bool) in
        let batch = Self.removeBatch(from: &state.requests)
        state.isWriterWaiting = batch.isEmpty && !state.isClosed
        return (batch, state.isClosed)
      }
      if !batch.isEmpty { return batch }
      if isClosed { return nil }
      arrival.wait()
    }
  }

  private static func removeBatch(from requests: inout [WriteRequest]) -> [WriteRequest] {
    var (count, size) = (0, 0)
    for request in requests.prefix(maxRequestCount) {
      if count > 0, size + request.size > maxSize { break }
      count += 1
      size += request.size
    }
    defer { requests.removeFirst(count) }
    return Array(requests.prefix(count))
  }
}
#endif
