/// The policies of a queue: the lanes of its keys, its rate, and the operations that have been granted resources.
///
/// Protected by the queue's lock, so exclusive access is not checked again.
final class QueuePolicies {
  /// The clock of the policies.
  @exclusivity(unchecked) var clock = PolicyClock.continuous
  /// Whether the queue has ever had an operation that must not start after a certain time.
  @exclusivity(unchecked) var limitsStarts = false
  /// Limits the rate of starts, if a limit is set.
  @exclusivity(unchecked) var rate: QueueRate?
  /// The lanes of keys; nil until the queue needs one, or a key policy is set.
  @exclusivity(unchecked) var lanes: KeyLanes?
  /// The coalescing keys; nil until the first one is used.
  @exclusivity(unchecked) var coalescingKeys: CoalescingKeys?

  /// The operations that have their resources and a slot but wait for a worker.
  @exclusivity(unchecked) var grantedOperations = ReadyByClass()
  /// The operations, of any queue, that may get resources that an operation of this queue has released.
  @exclusivity(unchecked) var offered: [Operation] = []
  /// The operations of this queue that resources were offered to.
  ///
  /// Keeps them alive until the lock has been released.
  @exclusivity(unchecked) var kept: [Operation] = []

  /// Whether the queue needs the time to start operations.
  var needsTime: Bool { limitsStarts || rate != nil || lanes?.needsTime == true }

  /// The alarms that may be set.
  private var alarms: [QueueAlarm] { (rate.map { [$0] } ?? []) + (lanes?.alarms ?? []) }
}

extension QueuePolicies: AdmissionPolicy {
  func setTime(_ time: StartTime, of admission: inout Admission) -> Bool {
    guard time.clock === clock else { return false }
    refreshAllowance(of: &admission, at: time.now)
    return true
  }

  func noteStart(of operation: Operation, at now: ClockTime, in admission: inout Admission) {
    if operation.hasGate { startInLane(operation, at: now, &admission) }
    // A cancelled operation that leaves does not count as a start.
    guard let rate, !operation.state.current.isCancelled else { return }
    rate.noteStart(at: now)
    refreshAllowance(of: &admission, at: now)
  }

  func mayStart(_ operation: Operation, at now: ClockTime, in admission: inout Admission) -> Bool {
    let member = operation.laneMember
    if let member, member.isReady {
      member.isReady = false
      member.lane?.noteRemoved(operation)
    } else if let member, member.use == .taken, let lane = member.lane {
      // It leaves a batch and starts separately.
      lane.setUse(.running, of: operation, member)
    }
    if operation.isOverdue(at: now) {
      // It is about to end.
      operation.admission.place = .gated
    } else if acquireResources(of: operation, &admission) {
      return true
    }
    if let lane = member?.lane { represent(lane, in: &admission) }
    return false
  }

  func failToStart(_ operation: Operation, in admission: inout Admission) {
    releaseResources(of: operation)
    guard let member = operation.laneMember, let lane = member.lane else { return }
    endUse(of: lane, by: operation, member, .neither)
    represent(lane, in: &admission)
  }

  func leave(_ operation: Operation, from admission: inout Admission) {
    releaseResources(of: operation)
    leaveLane(operation, &admission)
  }

  func takeSteps(for queue: OperationQueue, _ admission: inout Admission) -> (any AdmissionPolicySteps)? {
    guard needsTime || !offered.isEmpty || !kept.isEmpty else { return nil }
    var alarms: [QueueAlarm] = lanes?.takeAlarms(of: queue) ?? []
    // While operations are about to start, the time of the next start is not known yet.
    if let rate, admission.waitsForAllowance, admission.grantedCount == 0, rate.beginWaiting(until: rate.nextStart) {
      alarms.append(rate)
    }
    guard !alarms.isEmpty || !offered.isEmpty || !kept.isEmpty else { return nil }
    defer { (offered, kept) = ([], []) }
    return QueuePolicySteps(offered: offered, kept: kept, alarms: alarms, clock: clock)
  }

  func end() {
    for alarm in alarms { alarm.retire(from: clock) }
    coalescingKeys?.removeAll()
  }

  #if DEBUG
  func checkInvariants(readyCount: inout Int, urgent: inout UrgentCounts) {
    for lane in lanes.map({ Array($0.lanes) }) ?? [] {
      lane.checkInvariants()
      readyCount += lane.waitingCount
      urgent.add(lane.urgent)
    }
  }
  #endif
}

/// Offers resources to operations of other queues and sets alarms.
private final class QueuePolicySteps: AdmissionPolicySteps {
  private let offered: [Operation]
  private let kept: [Operation]
  private let alarms: [QueueAlarm]
  private let clock: PolicyClock

  init(offered: [Operation], kept: [Operation], alarms: [QueueAlarm], clock: PolicyClock) {
    (self.offered, self.kept, self.alarms, self.clock) = (offered, kept, alarms, clock)
  }

  func perform(leaving effects: inout Effects) {
    alarms.forEach { clock.set($0) }
    if !offered.isEmpty { OperationQueue.offerResources(to: offered, leaving: &effects) }
  }
}

extension Admission {
  /// The policies; nil in most queues.
  var policies: QueuePolicies? { policy.map { unsafeDowncast($0, to: QueuePolicies.self) } }
}

extension QueueState {
  /// The policies, created if needed.
  var policiesCreatedIfNeeded: QueuePolicies {
    mutating get { unsafeDowncast(admission.policyCreatedIfNeeded, to: QueuePolicies.self) }
  }

  /// The clock of the policies.
  var policyClock: PolicyClock {
    get { admission.policies?.clock ?? .continuous }
    set { policiesCreatedIfNeeded.clock = newValue }
  }

  /// Notes whether the queue needs the time to start operations.
  mutating func noteNeedOfTime(of queue: OperationQueue) {
    setFollowing(.time, admission.policies?.needsTime == true, of: queue)
  }
}
