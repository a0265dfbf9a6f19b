import FoundationEssentials
import Headway
import Synchronization

extension WorkerSession {
  private static let beatInterval = Duration.seconds(1)
  private static let shortestBeatInterval = Duration.milliseconds(20)
  private static let pruneInterval = Duration.seconds(60)
  private static let mergeInterval = Duration.seconds(10)

  func beatUntilCancelled() async {
    var (pruned, merged) = (clock.elapsed(), clock.elapsed())
    var watch = WorkerWatch(reports)
    var (lastQueue, hasSearched) = (String?.none, false)
    while !Task.isCancelled {
      let start = clock.elapsed()
      var pause = Self.beatInterval
      let next = await Self.result { try await beat() }
      do {
        // Even if a job prevents the store from being advanced.
        try await findQueues(after: &lastQueue, isComplete: !hasSearched)
        hasSearched = true
        if let next = try next.get() { pause = max(.milliseconds(1), min(pause, next - store.now)) }
        reports.succeeded(.beat)
      } catch {
        // The next beat tries again.
        note(error, .beat)
      }
      if reports.isObserved {
        await watch.look(at: state.withLock { Array($0.attempts.values) }, store, at: clock.elapsed())
      }
      if clock.elapsed() - pruned >= Self.pruneInterval {
        // If there are more expired jobs, the next beat continues.
        if await prune() { pruned = clock.elapsed() }
      }
      if clock.elapsed() - merged >= Self.mergeInterval {
        // If this fails, the numbers wait for the next time.
        try? await store.mergeStatistics()
        merged = clock.elapsed()
      }
      await beatBell.wait(atMost: pause, clock.sleep)
      // Limits the rate of beats, because hints can arrive with every commit.
      let rest = Self.shortestBeatInterval - (clock.elapsed() - start)
      if rest > .zero { try? await clock.sleep(rest) }
    }
  }

  /// Deletes expired jobs in a few transactions.
  ///
  /// - Returns: False if there might be more.
  private func prune() async -> Bool {
    for _ in 0..<10 {
      let count = try? await store.perform(.prune)
      guard count == JobCommand.maxChangedCount else { return true }
    }
    return false
  }

  /// Reports to the store, advances it, and rescues the jobs of dead workers.
  ///
  /// - Returns: When the store must be advanced again; nil if nothing is due.
  private func beat() async throws -> StoreTime? {
    let (worker, held) = state.withLock { ($0.worker, Array($0.attempts.keys)) }
    let beat = if let worker { try await store.beat(worker, running: held) } else { WorkerBeat(isRegistered: false) }
    if beat.isRegistered {
      cancel(.requested) { beat.cancellations.contains($0.context.fence) }
      let lost = await lost(of: beat)
      loseLease { lost.contains($0.context.fence) && !$0.context.isFinished }
    } else {
      // The worker's jobs might already run elsewhere, including those that have not started here.
      state.withLock { $0.worker = nil }
      loseLease { _ in true }
      try await register()
      // The old identity has no jobs left, but possibly a lock.
      if let worker { try? await store.unregister(worker, isRunningCode: false) }
    }
    let withoutSlots = state.withLock { $0.attemptsWithoutSlots(at: clock.elapsed()) }
    cancel(.givenBack) { withoutSlots.contains($0.context.fence) && $0.context.withdraw() }
    // This step is the first, so jobs are claimed even if the other steps fail.
    state.withLock { _ = $0.claimer.noteClaimable(nil) }
    exchangeBell.ring()
    let next = await Self.result { try await store.advance() }
    // Even if a job prevents the store from being advanced.
    await reports.rescued(try await store.rescue(), in: store)
    return try next.get()
  }

  /// Returns the attempts that no longer run their jobs, except those whose endings could not be read from the store.
  ///
  /// Notes the endings that another client of the database has recorded.
  private func lost(of beat: WorkerBeat) async -> Set<JobFence> {
    var lost = beat.lost
    for attempt in state.withLock({ state in lost.compactMap { state.attempts[$0] } }) {
      // If the store can't be read, the next beat determines it.
      do { try await attempt.context.findEnding() } catch { lost.remove(attempt.context.fence) }
    }
    return lost
  }

  /// Calls a function and returns its result or its error, so that the beat continues.
  private static func result<Value>(_ body: () async throws -> Value) async -> Result<Value, any Error> {
    do {
      return .success(try await body())
    } catch {
      return .failure(error)
    }
  }

  func note(_ hint: JobHint) {
    switch hint {
    case .claimable(let queue):
      let (isNoted, isServed) = state.withLock { state in
        (state.claimer.noteClaimable(queue), state.claimer.isServing(queue))
      }
      let isNew = !isServed && matches(queue) && state.withLock { $0.noteQueues([queue]) }
      if isNoted || isNew { exchangeBell.ring() }
    case .scheduled, .cancellationRequested: beatBell.ring()
    case .leaseLost(let worker):
      // Immediately, because others can run the jobs when the lease has ended. The next beat registers again.
      guard state.withLock({ $0.worker == worker }) else { return }
      loseLease { _ in true }
      beatBell.ring()
    case .finished, .room: break
    }
  }

  private func loseLease(where isMeant: (WorkerState.Attempt) -> Bool) {
    for attempt in cancel(.leaseLost, where: isMeant) {
      reports.post(.leaseLost(JobAttempt(attempt.context.job, attempt.context.fence)))
    }
  }

  @discardableResult
  func cancel(
    _ cause: WorkerState.CancellationCause, where isMeant: (WorkerState.Attempt) -> Bool
  ) -> [WorkerState.Attempt] {
    let cancelled = state.withLock { $0.cancel(cause, where: isMeant) }
    for attempt in cancelled { attempt.cancel() }
    return cancelled
  }
}
