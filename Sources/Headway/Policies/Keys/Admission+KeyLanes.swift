/// Serves keys in turn, and applies their limits.
///
/// A ready operation that has a key waits in its ``KeyLane``. The lane has at most one representative for each class of
/// workers among the ready operations of the first segment. So all code that chooses among the ready operations finds
/// only operations that may start. Keys have no effect on operations behind a barrier, or in a queue that starts its
/// operations in the order of adding.
///
/// See `Docs/decisions/0034-lanes.md`.
extension Admission {
  /// The lanes, created if needed.
  var lanesCreatedIfNeeded: KeyLanes {
    mutating get {
      if let lanes { return lanes }
      let made = KeyLanes()
      lanes = made
      return made
    }
  }

  // MARK: Ready operations

  /// Adds a ready operation to its lane.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - word: Its state word.
  ///   - level: Its priority level.
  ///   - turn: The turn for a lane that has none; by default, a new one.
  /// - Returns: False if the operation has no key, or its key has no effect.
  mutating func insertIntoLane(
    _ operation: Operation, _ word: OperationWord, level: Int, turn: UInt64? = nil
  ) -> Bool {
    guard let member = operation.laneMember, order == .priority else { return false }
    guard laterPosition(of: operation) == nil else {
      // The operation enters its lane when the barrier before it has finished: see `append(_:)`.
      _ = lanesCreatedIfNeeded
      return false
    }
    let lane = lane(of: member)
    member.isReady = true
    lane.insert(
      operation, level: level, urgency: placement.urgency(of: word), turn: turn, into: &first.ready, &nextSequence)
    raiseStarted(in: lane)
    noteTime(of: lane)
    return true
  }

  /// Moves a ready operation to its new position in its lane.
  ///
  /// The lane keeps its turn.
  ///
  /// - Returns: False if the operation is in no lane.
  mutating func moveInLane(_ operation: Operation, _ word: OperationWord, level: Int) -> Bool {
    guard let member = operation.laneMember, member.isReady, let lane = member.lane else { return false }
    lane.take(operation, from: &first.ready)
    operation.admission.workerClass = workerClass(of: operation)
    lane.insert(operation, level: level, urgency: placement.urgency(of: word), into: &first.ready, &nextSequence)
    raiseStarted(in: lane)
    return true
  }

  /// Raises the running operations of a key, because an urgent operation that waits for the limits needs one of them to
  /// end.
  private mutating func raiseStarted(in lane: KeyLane) {
    let urgency = lane.urgency
    guard urgency.isMoreUrgent(than: lane.startedClass), lane.limits.waitsForEnd else { return }
    lane.startedClass = urgency
    for reference in lane.started { reference._withUnsafeGuaranteedRef { raise($0, to: urgency) } }
  }

  private mutating func lane(of member: KeyLaneMember) -> KeyLane {
    if let lane = member.lane { return lane }
    let lane = lanesCreatedIfNeeded.lane(of: member.key)
    lane.memberCount += 1
    member.lane = lane
    return lane
  }

  /// Removes a ready operation from its lane.
  ///
  /// - Returns: False if the operation is not in a lane.
  mutating func removeFromLane(_ operation: Operation) -> Bool {
    guard let member = operation.laneMember, member.isReady, let lane = member.lane else { return false }
    member.isReady = false
    lane.remove(operation, from: &first.ready, &nextSequence)
    return true
  }

  /// Chooses the representatives of a lane again, after a change of its limits.
  mutating func represent(_ lane: KeyLane) {
    lane.represent(among: &first.ready, &nextSequence)
    raiseStarted(in: lane)
    noteTime(of: lane)
  }

  private func noteTime(of lane: KeyLane) { if lane.waitsForTime { lanes?.noteTimed(lane) } }

  /// Adds the ready operations of a segment to those of the first one.
  ///
  /// O(1) if there are no lanes, otherwise O(*n* log *n*).
  mutating func append(_ ready: ReadyByClass) {
    guard lanes != nil else { return first.ready.append(ready) }
    var ready = ready
    var added: [(reference: OperationReference, level: Int)] = []
    for workerClass in WorkerClass.allCases {
      while let (reference, level) = ready.first(workerClass) {
        _ = ready.popFirst(workerClass)
        added.append((reference, level))
      }
    }
    // All of them have waited for the same barrier, so the first operation of each key determines the turn of the key.
    for (reference, level) in added.sorted(by: { $0.reference.sequence < $1.reference.sequence }) {
      reference._withUnsafeGuaranteedRef { operation in
        insertReady(operation, operation.state.current, level: level, turn: operation.queueLinks.sequence)
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

  /// Acquires the resources of an operation that was removed from the ready operations in order to start.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - now: The time of the queue's clock, if starts depend on it.
  /// - Returns: False if the operation waits for its resources, or if its time limit has passed, so that it is about to
  ///   end.
  mutating func passPolicies(of operation: Operation, at now: PolicyTime) -> Bool {
    let member = operation.laneMember
    if let member, member.isReady {
      member.isReady = false
      member.lane?.noteRemoved(operation)
    }
    if operation.isOverdue(at: now) {
      operation.admission.place = .gated
    } else if acquireResources(of: operation) {
      return true
    }
    if let lane = member?.lane { represent(lane) }
    return false
  }

  /// Releases the resources of an operation that was removed from the ready operations and can't start.
  mutating func failToStart(_ operation: Operation) {
    releaseResources(of: operation)
    if let lane = operation.laneMember?.lane { represent(lane) }
  }

  /// Whether the limits of an operation's key allow it to start.
  func laneMayStart(_ operation: Operation) -> Bool { operation.laneMember?.lane?.limits.mayStart() != false }

  /// The limit of the key that keeps a ready operation from starting, or nil.
  func obstacleInLane(of operation: Operation) -> (obstacle: KeyLaneLimits.Obstacle, end: PolicyTime?)? {
    guard let member = operation.laneMember, member.isReady else { return nil }
    return member.lane?.limits.obstacle()
  }

  /// Counts an operation that has its resources and a slot, and is about to start.
  mutating func grantInLane(_ operation: Operation) {
    guard let member = operation.laneMember, let lane = member.lane else { return }
    lane.setUse(.granted, of: operation, member)
    lane.limits.noteGrant()
    represent(lane)
  }

  /// Counts an operation that was about to start, but does not.
  mutating func endGrantInLane(of operation: Operation) {
    guard let member = operation.laneMember, member.use == .granted, let lane = member.lane else { return }
    lane.setUse(.none, of: operation, member)
    lane.limits.endGrant()
    represent(lane)
  }

  /// Counts an operation that starts, or continues after a pause.
  mutating func startInLane(_ operation: Operation, at now: PolicyTime) {
    guard let member = operation.laneMember, let lane = member.lane else { return }
    if member.use == .granted { lane.limits.endGrant() }
    // A cancelled operation only ends.
    guard !operation.state.current.isCancelled else {
      lane.setUse(.none, of: operation, member)
      return represent(lane)
    }
    lane.setUse(.running, of: operation, member)
    member.start = lane.limits.noteStart(at: now)
    lane.noteTurn()
    represent(lane)
  }

  // MARK: Ends

  /// Counts an operation that pauses between two attempts.
  mutating func pauseInLane(_ operation: Operation) {
    guard let member = operation.laneMember, let lane = member.lane else { return }
    endUse(of: lane, by: operation, member, .neither)
    represent(lane)
  }

  /// Notes that an attempt of an operation has failed.
  mutating func noteFailedAttempt(of operation: Operation, _ result: BreakerState.Result, at now: PolicyTime) {
    guard let member = operation.laneMember, let lane = member.lane, member.use == .running else { return }
    lane.limits.noteResult(result, of: &member.start, at: now)
    represent(lane)
  }

  /// Releases everything that the policy of an operation uses.
  ///
  /// Called when the operation leaves or is cancelled.
  mutating func leavePolicies(of operation: Operation) {
    releaseResources(of: operation)
    guard let member = operation.laneMember, let lane = member.lane else { return }
    endUse(of: lane, by: operation, member, member.result)
    member.lane = nil
    lanes?.leave(lane)
    represent(lane)
  }

  private func endUse(
    of lane: KeyLane, by operation: Operation, _ member: KeyLaneMember, _ result: BreakerState.Result
  ) {
    switch member.use {
    case .none: break
    case .granted: lane.limits.endGrant()
    case .running:
      lane.limits.noteEnd()
      lane.limits.noteResult(result, of: &member.start, at: member.endTime)
    }
    lane.setUse(.none, of: operation, member)
  }
}

extension Operation {
  /// The state of the operation in its lane, if it has a key.
  final var laneMember: KeyLaneMember? { gateKind == .other ? policyGate?.laneMember : nil }

  /// The turn of the lane that the operation represents.
  final var laneTurn: UInt64 {
    @inline(never) get { laneMember?.turn ?? queueLinks.sequence }
  }
}
