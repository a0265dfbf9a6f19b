import Dispatch
import Synchronization

extension OperationQueue {
  /// For how long nothing must have gone on in a queue before it is looked at, in milliseconds; then twice as long each
  /// time.
  private static let firstLook = 50
  private static let longestPause = 5_000

  /// If somebody listens to events and nothing in the queue goes on, has it looked at a little later.
  ///
  /// A queue that waits for another's operations is still often, and goes on soon; so nothing is looked at while there
  /// is progress.
  final func lookForStallIfIdle() {
    if state.withLock({ $0.beginToLookForStall() }) { lookForStall() }
  }

  /// Has the queue looked at a little later, which ``QueueState/beginToLookForStall()`` has called for.
  final func lookForStall() { lookForStall(after: Self.firstLook) }

  private func lookForStall(after milliseconds: Int) {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
      guard let self, self.reportStall() else { return }
      self.lookForStall(after: min(milliseconds * 2, Self.longestPause))
    }
  }

  /// Reports a stall, if there is one.
  ///
  /// - Returns: Whether to look again later: nothing goes on, and the queue waits for something that may happen.
  final func reportStall() -> Bool {
    let held = state.withLock { state -> [Operation]? in
      if state.observation.listeners > 0, state.admission.isIdle { return state.admission.operations }
      // Under the lock that saw it: who makes the queue idle next has it looked at again.
      state.observation.isLookingForStall = false
      return nil
    }
    guard let held else { return false }
    let graph = WaitGraph(of: held)
    let cycle = held.allSatisfy { graph.isStuck($0) } ? held.first.flatMap { graph.cycle(from: $0) } : nil
    let (looksAgain, observers, awakened) = state.withLock { state -> (Bool, ObserverList?, [Waiter]) in
      guard state.admission.isIdle else {
        state.observation.isLookingForStall = false
        return (false, nil, [])
      }
      guard let cycle else { return (true, nil, []) }
      state.observation.isLookingForStall = false
      state.observation.hasReportedStall = true
      state.record { .stalled(cycle: cycle) }
      return (false, state.observers, state.eventBuffers?.takeAwakened() ?? [])
    }
    for waiter in awakened { waiter.wake() }
    if let observers { notify(observers) }
    return looksAgain
  }

  /// The operations of this queue that must finish before this one can start.
  final func obstacles(of operation: Operation) -> AdmissionObstacles {
    update(collectingBatches: true) { $0.admission.obstacles(of: operation) }
  }
}

extension QueueState {
  /// Whether somebody listens to events and nothing in the queue goes on, so that it is to be looked at; once.
  mutating func beginToLookForStall() -> Bool {
    guard observation.listeners > 0 else { return false }
    guard admission.isIdle else {
      observation.hasReportedStall = false
      return false
    }
    guard !observation.isLookingForStall, !observation.hasReportedStall else { return false }
    observation.isLookingForStall = true
    return true
  }
}
