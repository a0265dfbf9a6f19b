/// Wakes a queue when the next operation of a key may start.
final class KeyLaneAlarm: QueueAlarm, @unchecked Sendable {  // Like its superclass.
  private let key: String

  init(_ key: String, of queue: OperationQueue) {
    self.key = key
    super.init(of: queue)
  }

  override func ring(at now: ClockTime, in state: inout QueueState) {
    // Otherwise, the time might be from an earlier clock of the queue.
    guard let policies = state.admission.policies, let lane = policies.lanes?[key], lane.alarm === self else { return }
    lane.limits.noteTime(now)
    policies.represent(lane, in: &state.admission)
  }
}
