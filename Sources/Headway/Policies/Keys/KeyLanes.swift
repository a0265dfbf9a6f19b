/// The lanes of a queue: one for each key that its operations have.
///
/// Protected by the queue's lock.
final class KeyLanes {
  // The lock guarantees exclusive access, so it is not checked again at each access.

  @exclusivity(unchecked) private(set) var defaultPolicy = KeyPolicy()
  @exclusivity(unchecked) private var policies: [String: KeyPolicy] = [:]
  @exclusivity(unchecked) private var lanesByKey: [String: KeyLane] = [:]
  /// The lanes that might have to wait for a time.
  ///
  /// Emptied when the owner sets their alarms.
  @exclusivity(unchecked) private var timed: [KeyLane] = []
  /// The latest time that is known.
  @exclusivity(unchecked) private var lastTime = ClockTime.min
  /// How many lanes remained after the last sweep.
  @exclusivity(unchecked) private var remainingCount = 0

  /// The lowest number of lanes that triggers a sweep.
  private static let minSweepCount = 64

  subscript(key: String) -> KeyLane? { lanesByKey[key] }

  var lanes: some Collection<KeyLane> { lanesByKey.values }

  /// The policy of a key.
  func policy(of key: String) -> KeyPolicy { policies[key] ?? defaultPolicy }

  /// Whether a policy depends on time.
  var needsTime: Bool { defaultPolicy.needsTime || timedPolicyCount > 0 }
  /// How many keys have their own policies that depend on time.
  @exclusivity(unchecked) private var timedPolicyCount = 0

  /// The lane of a key, created if needed.
  func lane(of key: String) -> KeyLane {
    if let lane = lanesByKey[key] { return lane }
    if lanesByKey.count >= max(2 * remainingCount, Self.minSweepCount) { sweep() }
    let lane = KeyLane(key, policy(of: key))
    lanesByKey[key] = lane
    return lane
  }

  /// Notes that an operation no longer refers to its lane.
  func leave(_ lane: KeyLane) {
    lane.memberCount -= 1
    // Otherwise, a sweep removes it later.
    if lane.memberCount == 0, !lane.limits.policy.needsTime { lanesByKey[lane.key] = nil }
  }

  /// Removes the lanes that are no longer needed.
  ///
  /// Called only when the number of lanes has doubled, so this takes amortized constant time per lane.
  private func sweep() {
    for lane in lanes { lastTime = max(lastTime, lane.limits.lastTime) }
    lanesByKey = lanesByKey.filter { _, lane in
      // A lane whose alarm is set must stay, so that the alarm is found when the queue is freed.
      lane.memberCount > 0 || lane.alarm?.isWaiting == true || !lane.limits.isForgettable(at: lastTime)
    }
    remainingCount = lanesByKey.count
  }

  // MARK: Policies

  /// Sets the policy of a key, or the default policy if the key is nil.
  ///
  /// - Returns: The lanes whose policy has changed, and the alarms that the caller must retire after the lock.
  func setPolicy(_ policy: KeyPolicy?, forKey key: String?) -> (changed: [KeyLane], retired: [KeyLaneAlarm]) {
    if let key {
      if policies[key]?.needsTime == true { timedPolicyCount -= 1 }
      policies[key] = policy
      if policy?.needsTime == true { timedPolicyCount += 1 }
    } else {
      defaultPolicy = policy ?? KeyPolicy()
    }
    let candidates = key.map { lanesByKey[$0].map { [$0] } ?? [] } ?? Array(lanes)
    let changed = candidates.filter { self.policy(of: $0.key) != $0.limits.policy }
    for lane in changed {
      lane.limits.setPolicy(self.policy(of: lane.key))
      if lane.memberCount == 0 { lanesByKey[lane.key] = nil }
    }
    return (changed, changed.compactMap { $0.alarm.take() })
  }

  /// Removes all lanes.
  ///
  /// Called when the clock has changed, while the queue is empty.
  ///
  /// - Returns: The alarms, which the caller must retire after the lock.
  func removeAll() -> [KeyLaneAlarm] {
    defer { (lanesByKey, timed, lastTime, remainingCount) = ([:], [], .min, 0) }
    return alarms
  }

  // MARK: Time

  /// The alarms of all lanes.
  var alarms: [KeyLaneAlarm] { lanes.compactMap(\.alarm) }

  /// Notes that a lane might have to wait for a time.
  func noteTimed(_ lane: KeyLane) { timed.append(lane) }

  /// Returns the alarms that the caller must set after the lock.
  func takeAlarms(of queue: OperationQueue) -> [KeyLaneAlarm] {
    guard !timed.isEmpty else { return [] }
    defer { timed = [] }
    return timed.compactMap { lane in
      guard lane.waitsForTime, let time = lane.limits.nextStart else { return nil }
      let alarm = lane.alarm ?? KeyLaneAlarm(lane.key, of: queue)
      lane.alarm = alarm
      return alarm.beginWaiting(until: time) ? alarm : nil
    }
  }
}
