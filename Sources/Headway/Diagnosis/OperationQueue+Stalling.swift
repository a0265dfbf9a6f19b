import Dispatch
import Synchronization

extension OperationQueue {
  /// How long a queue must make no progress before it is checked, in milliseconds.
  ///
  /// The interval doubles after each check.
  private static let firstLook = 50
  private static let longestPause = 5_000

  /// Schedules a check of the queue if it has listeners to events and makes no progress.
  ///
  /// A queue that waits for operations of another queue often makes no progress for a while but continues soon.
  /// Therefore, there is no check while there is progress.
  final func lookForStallIfIdle() {
    if state.withLock({ $0.beginToLookForStall() }) { lookForStall() }
  }

  /// Schedules a check of the queue after ``QueueState/beginToLookForStall()`` has returned true.
  final func lookForStall() { lookForStall(after: Self.firstLook) }

  private func lookForStall(after milliseconds: Int) {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
      guard let self, self.reportStall() else { return }
      self.lookForStall(after: min(milliseconds * 2, Self.longestPause))
    }
  }

  /// Reports a stall, if there is one.
  ///
  /// - Returns: Whether to check again later: the queue makes no progress, but waits for something that can still
  ///   happen.
  final func reportStall() -> Bool {
    let held = state.withLock { state -> [Operation]? in
      if state.followers.contains(.events), state.admission.isIdle { return state.admission.operations }
      // Under the lock that was used for the check. The next thread that makes the queue idle schedules another check.
      state.followers.observation.isLookingForStall = false
      return nil
    }
    guard let held else { return false }
    let graph = WaitGraph(of: held)
    let cycle = held.allSatisfy { graph.isStuck($0) } ? held.first.flatMap { graph.cycle(from: $0) } : nil
    let (looksAgain, observers, awakened) = state.withLock { state -> (Bool, ObserverList?, [Waiter]) in
      guard state.admission.isIdle else {
        state.followers.observation.isLookingForStall = false
        return (false, nil, [])
      }
      guard let cycle else { return (true, nil, []) }
      state.followers.observation.isLookingForStall = false
      state.followers.observation.hasReportedStall = true
      state.record { .stalled(by: cycle) }
      return (false, state.followers.observers, state.followers.eventLog?.takeWaiters() ?? [])
    }
    for waiter in awakened { waiter.wake() }
    if let observers { notify(observers) }
    return looksAgain
  }

  /// Returns the operations of this queue that must finish before this one can start.
  final func obstacles(of operation: Operation) -> AdmissionObstacles {
    update(collectingBatches: true) { $0.admission.obstacles(of: operation) }
  }
}

extension QueueState {
  /// Returns true, once, if the queue has listeners to events and makes no progress, so it must be checked.
  mutating func beginToLookForStall() -> Bool {
    guard followers.contains(.events) else { return false }
    guard admission.isIdle else {
      followers.observation.hasReportedStall = false
      return false
    }
    guard !followers.observation.isLookingForStall, !followers.observation.hasReportedStall else { return false }
    followers.observation.isLookingForStall = true
    return true
  }
}
