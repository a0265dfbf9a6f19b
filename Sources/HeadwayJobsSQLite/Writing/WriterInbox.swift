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
  /// The number of requests that were added.
  ///
  /// It changes after the request was added.
  private let addedCount = Atomic(0)
  private let spinning = Mutex(WriterSpinning())

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
    addedCount.add(1, ordering: .releasing)
    if mustSignal { arrival.signal() }
    return isAccepted
  }

  /// Closes the inbox: further requests are rejected.
  ///
  /// The writer executes the remaining requests and then ends.
  func close() {
    let mustSignal = state.withLock { state in
      state.isClosed = true
      defer { state.isWriterWaiting = false }
      return state.isWriterWaiting
    }
    if mustSignal { arrival.signal() }
  }

  /// Waits for requests and removes those of one transaction; returns nil if the inbox is closed and empty.
  ///
  /// A single producer that waits for each of its requests adds the next one a moment after the commit. Waking the
  /// writer would take longer than the producer needs. Therefore, the writer spins before it sleeps, unless that is
  /// usually in vain. It does not spin after it has executed several requests together, because the requests of several
  /// producers must have time to accumulate.
  ///
  /// Only the writer calls it.
  func next() -> [WriteRequest]? {
    var canSpin = spinning.withLock { $0.mayBegin() }
    while true {
      let count = addedCount.load(ordering: .acquiring)
      let (batch, isClosed) = state.withLock { state -> ([WriteRequest], Bool) in
        let batch = Self.removeBatch(from: &state.requests)
        state.isWriterWaiting = batch.isEmpty && !state.isClosed && !canSpin
        return (batch, state.isClosed)
      }
      if !batch.isEmpty {
        spinning.withLock { $0.isAlone = batch.count == 1 }
        return batch
      }
      if isClosed { return nil }
      if canSpin {
        spin(while: count)
        canSpin = false
      } else {
        arrival.wait()
      }
    }
  }

  private func spin(while count: Int) {
    let end = ContinuousClock.now + WriterSpinning.length
    var isInVain = false
    while addedCount.load(ordering: .acquiring) == count, !isInVain { isInVain = ContinuousClock.now >= end }
    spinning.withLock { $0.end(isInVain: isInVain) }
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
