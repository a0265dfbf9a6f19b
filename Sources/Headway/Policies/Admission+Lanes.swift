/// How operations with keys are served in turn, and within the limits of their keys.
///
/// A ready operation that has a key waits in its ``Lane``, which has at most one representative for each class of
/// workers among the ready operations of the first segment. So everything that chooses among the ready operations finds
/// only operations that may start. Behind a barrier, and in a queue that starts its operations in the order of adding,
/// keys have no effect.
///
/// See `Docs/decisions/0034-lanes.md`.
extension Admission {
  /// The lanes, created if needed.
  var lanesCreatedIfNeeded: Lanes {
    mutating get {
      if let lanes { return lanes }
      let made = Lanes()
      lanes = made
      return made
    }
  }

  // MARK: Ready operations

  /// Adds a ready operation to its lane.
  ///
  /// - Returns: False if the operation has no key, or its key has no effect.
  mutating func insertIntoLane(_ operation: Operation, _ word: OperationWord, level: Int) -> Bool {
    guard let member = operation.laneMember, order == .priority else { return false }
    guard laterPosition(of: operation) == nil else {
      // It enters its lane when the barrier before it has finished: see `append(_:)`.
      _ = lanesCreatedIfNeeded
      return false
    }
    let lane = lane(of: member)
    member.isReady = true
    lane.insert(operation, level: level, into: &first.ready, &nextSequence)
    let urgency = placement.urgency(of: word)
    if operation.admission.isRepresentative {
      first.ready.count(operation, asUrgent: urgency)
    } else {
      lane.count(operation, asUrgent: urgency)
    }
    noteTime(of: lane)
    return true
  }

  private mutating func lane(of member: LaneMember) -> Lane {
    if let lane = member.lane { return lane }
    let lane = lanesCreatedIfNeeded.lane(of: member.key)
    lane.memberCount += 1
    member.lane = lane
    return lane
  }

  /// Removes a ready operation from its lane.
  ///
  /// - Returns: False if it is in no lane.
  mutating func removeFromLane(_ operation: Operation) -> Bool {
    guard let member = operation.laneMember, member.isReady, let lane = member.lane else { return false }
    member.isReady = false
    lane.remove(operation, from: &first.ready, &nextSequence)
    return true
  }

  /// Chooses the representatives of a lane again, after a change of its limits.
  mutating func represent(_ lane: Lane) {
    lane.represent(among: &first.ready, &nextSequence)
    noteTime(of: lane)
  }

  private func noteTime(of lane: Lane) { if lane.waitsForTime { lanes?.noteTimed(lane) } }

  /// Adds the ready operations of a segment to those of the first one.
  ///
  /// O(1) if there are no lanes.
  mutating func append(_ ready: ReadyByClass) {
    guard lanes != nil else { return first.ready.append(ready) }
    var ready = ready
    for workerClass in WorkerClass.allCases {
      while let (reference, level) = ready.first(workerClass) {
        _ = ready.popFirst(workerClass)
        reference._withUnsafeGuaranteedRef { insertReady($0, $0.state.current, level: level) }
      }
    }
  }

  /// Moves the ready operations of the first segment into the lists of the classes that they belong to now.
  mutating func sortReady() {
    guard let lanes else { return first.ready.sort(by: placement) }
    for lane in lanes.lanes { lane.withdraw(from: &first.ready) }
    first.ready.sort(by: placement)
    for lane in lanes.lanes {
      lane.sort(by: placement)
      represent(lane)
    }
  }

  // MARK: Starts

  /// Checks the policy of an operation that was removed from the ready ones to start it.
  ///
  /// - Returns: False if the operation waits for its resources.
  mutating func passPolicies(of operation: Operation) -> Bool {
    let member = operation.laneMember
    if let member, member.isReady {
      member.isReady = false
      member.lane?.noteRemoved(operation)
    }
    if acquireResources(of: operation) { return true }
    if let lane = member?.lane { represent(lane) }
    return false
  }

  /// Releases the resources of an operation that was removed from the ready ones and can't start.
  mutating func failToStart(_ operation: Operation) {
    releaseResources(of: operation)
    if let lane = operation.laneMember?.lane { represent(lane) }
  }

  /// Whether the limits of its key allow an operation to start.
  func laneMayStart(_ operation: Operation) -> Bool { operation.laneMember?.lane?.limits.mayStart() != false }

  /// The limit of its key that keeps a ready operation from starting.
  func obstacleInLane(of operation: Operation) -> (LaneLimits.Obstacle?, nextStart: PolicyTime?)? {
    guard let member = operation.laneMember, member.isReady else { return nil }
    return member.lane?.limits.obstacle().map { ($0.obstacle, $0.end) }
  }

  /// Counts an operation that has its resources and a slot, and is about to start.
  mutating func grantInLane(_ operation: Operation) {
    guard let member = operation.laneMember, let lane = member.lane else { return }
    member.use = .granted
    lane.limits.noteGrant()
    represent(lane)
  }

  /// Counts an operation that was about to start, but does not.
  mutating func endGrantInLane(of operation: Operation) {
    guard let member = operation.laneMember, member.use == .granted, let lane = member.lane else { return }
    member.use = .none
    lane.limits.endGrant()
    represent(lane)
  }

  /// Counts an operation that starts, or continues after a pause.
  mutating func startInLane(_ operation: Operation, at now: PolicyTime) {
    guard let member = operation.laneMember, let lane = member.lane else { return }
    if member.use == .granted { lane.limits.endGrant() }
    member.use = .running
    member.isProbe = lane.limits.noteStart(at: now)
    lane.noteTurn()
    represent(lane)
  }

  // MARK: Ends

  /// Counts an operation that pauses between two attempts.
  mutating func pauseInLane(_ operation: Operation) {
    guard let member = operation.laneMember, let lane = member.lane else { return }
    endUse(of: lane, by: member, .neither)
    represent(lane)
  }

  /// Notes that an attempt of an operation has failed.
  mutating func noteFailedAttempt(of operation: Operation, hasWrongRequest: Bool, at now: PolicyTime) {
    guard let member = operation.laneMember, let lane = member.lane, member.use == .running else { return }
    lane.limits.noteResult(hasWrongRequest ? .neither : .failure, isProbe: member.isProbe, at: now)
    member.isProbe = false
    represent(lane)
  }

  /// Ends all uses of what the policy of an operation needs, because the operation leaves or is cancelled.
  mutating func leavePolicies(of operation: Operation) {
    releaseResources(of: operation)
    guard let member = operation.laneMember, let lane = member.lane else { return }
    let word = operation.state.current
    let result: BreakerState.Result =
      word.hasFailed ? (member.hasWrongRequest ? .neither : .failure) : word.isCancelled ? .neither : .success
    endUse(of: lane, by: member, result)
    member.lane = nil
    lanes?.leave(lane)
    represent(lane)
  }

  private func endUse(of lane: Lane, by member: LaneMember, _ result: BreakerState.Result) {
    switch member.use {
    case .none: break
    case .granted: lane.limits.endGrant()
    case .running:
      lane.limits.noteEnd()
      lane.limits.noteResult(result, isProbe: member.isProbe, at: member.endTime)
    }
    (member.use, member.isProbe) = (.none, false)
  }
}

extension Operation {
  /// The operation's part of its lane, if it has a key.
  final var laneMember: LaneMember? { hasGate ? policyGate?.laneMember : nil }

  /// The turn of the lane that the operation represents.
  final var laneTurn: UInt64 {
    @inline(never) get { laneMember?.turn ?? queueLinks.sequence }
  }
}
