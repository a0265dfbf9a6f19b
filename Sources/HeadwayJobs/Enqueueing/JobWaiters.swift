import Headway
import Synchronization

/// The callers that wait for jobs to end.
///
/// A hint from the store makes a waiter continue. Because hints can be lost, and other processes might send none, each
/// waiter also reads the store once per second.
final class JobWaiters: Sendable {
  private let store: any JobStoreBackend
  let sleep: @Sendable (Duration) async throws -> Void
  private let state = Mutex(State())
  private let interval = Duration.seconds(1)

  private struct State {
    var waiting: [JobID: [Int: Doorbell]] = [:]
    var lastNumber = 0
    var token: (any AnyObject & Sendable)?
  }

  init(_ store: any JobStoreBackend, clock: some Clock<Duration>) {
    self.store = store
    sleep = { try await clock.sleep(for: $0) }
  }

  /// Suspends the task until a job has ended.
  ///
  /// - Returns: The job, or nil if the store has no job with this number.
  func finished(_ id: JobID) async throws -> JobRecord? {
    let bell = Doorbell()
    observeIfNeeded()
    let number = state.withLock { state in
      state.lastNumber += 1
      state.waiting[id, default: [:]][state.lastNumber] = bell
      return state.lastNumber
    }
    defer {
      state.withLock { state in
        state.waiting[id]?[number] = nil
        if state.waiting[id]?.isEmpty == true { state.waiting[id] = nil }
      }
    }
    // The store is read after the waiter was added, so that it doesn't miss a job that ends in between.
    while true {
      guard let job = try await store.jobs(.id(id), after: nil, limit: 1).first else { return nil }
      if job.state.isFinished { return job }
      await bell.wait(atMost: interval, sleep)
      try Task.checkCancellation()
    }
  }

  private func observeIfNeeded() {
    guard state.withLock({ $0.token == nil }) else { return }
    let token = store.observeHints { [weak self] hint in
      if case .finished(let ids) = hint { self?.wake(ids) }
    }
    // Another thread might have added an observer at the same time. One of the two is released.
    state.withLock { if $0.token == nil { $0.token = token } }
  }

  private func wake(_ ids: [JobID]) {
    let bells = state.withLock { state in
      state.waiting.isEmpty ? [] : ids.flatMap { state.waiting[$0, default: [:]].values }
    }
    for bell in bells { bell.ring() }
  }
}
