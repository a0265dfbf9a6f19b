import Headway
import Synchronization

extension WorkerSession {
  /// Advances the store when the worker is idle, or stops the worker when the following claims have returned no jobs.
  ///
  /// It does nothing unless the worker was started by ``JobWorker/drain()``.
  func continueDrain() async {
    switch state.withLock(\.idleStep) {
    case .wait: return
    case .advance: await tryRepeatedly { try await self.advanceCompletely() }
    case .stop(let worker): await tryRepeatedly { try await self.stop(ifKnown: worker) }
    }
  }

  private func advanceCompletely() async throws {
    // If more jobs are due than one transaction processes, the store returns the current time.
    while let next = try await store.advance(), next <= store.now {}
    var place: String?
    try await findQueues(after: &place, isComplete: true)
    state.withLock { $0.noteAdvanced() }
    exchangeBell.ring()
  }

  /// Stops the worker if it is still registered.
  ///
  /// Otherwise, the claims have returned no jobs because the worker has lost its lease. The next beat registers the
  /// worker again and rings the bell.
  private func stop(ifKnown worker: WorkerID) async throws {
    guard try await store.beat(worker, running: []).isRegistered else {
      state.withLock { $0.restartDrain() }
      beatBell.ring()
      return
    }
    let isDrained = state.withLock { state in
      guard case .stop(worker) = state.idleStep else { return false }
      return true
    }
    if isDrained { stop(isImmediate: false) } else { exchangeBell.ring() }
  }

  /// Makes a request and repeats it after pauses while the store fails, unless the worker must stop.
  private func tryRepeatedly(_ request: () async throws -> Void) async {
    var failures = 0
    while !state.withLock(\.isStopping) {
      do {
        try await request()
        return reports.succeeded(.exchange)
      } catch {
        note(error, .exchange)
        failures += 1
        await giveUp.wait(atMost: Self.pause(after: failures), clock.sleep)
      }
    }
  }
}
