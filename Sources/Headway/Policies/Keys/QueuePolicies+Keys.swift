/// Serves keys in turn and applies their limits.
///
/// A ready operation that has a key waits in its ``KeyLane``. The lane has at most one representative for each class of
/// workers among the ready operations of the first segment. As a result, all code that chooses among the ready
/// operations finds only operations that may start. Keys have no effect on operations behind a barrier, or in a queue
/// that starts its operations in insertion order.
///
/// See `Docs/decisions/0034-lanes.md`.
extension QueuePolicies {
  /// The lanes, created if needed.
  var lanesCreatedIfNeeded: KeyLanes {
    if let lanes { return lanes }
    let made = KeyLanes()
    lanes = made
    return made
  }

  // MARK: Ready operations

  func insertReady(
    _ operation: Operation, _ word: OperationWord, level: Int, turn: UInt64?, into admission: inout Admission
  ) -> Bool {
    guard let member = operation.laneMember, admission.order == .priority else { return false }
    guard admission.laterPosition(of: operation) == nil else {
      // The operation enters its lane when the barrier before it has finished: see `appendReady(_:to:)`.
      _ = lanesCreatedIfNeeded
      return false
    }
    let lane = lane(of: member)
    if member.use == .taken { lane.returnTurn(of: operation, member, to: &admission.first.ready) }
    member.isReady = true
    lane.insert(
      operation, level: level, urgency: admission.placement.urgency(of: word), turn: turn,
      into: &admission.first.ready, &admission.nextSequence)
    raiseStarted(in: lane, &admission)
    noteTime(of: lane)
    return true
  }

  // The lane keeps its turn.
  func moveReady(_ operation: Operation, _ word: OperationWord, level: Int, in admission: inout Admission) -> Bool {
    guard let member = operation.laneMember, member.isReady, let lane = member.lane else { return false }
    lane.take(operation, from: &admission.first.ready)
    operation.admission.workerClass = admission.workerClass(of: operation)
    lane.insert(
      operation, level: level, urgency: admission.placement.urgency(of: word), into: &admission.first.ready,
      &admission.nextSequence)
    raiseStarted(in: lane, &admission)
    return true
  }

  /// Raises the running operations of a key, because an urgent operation waits for the limits until one of them ends.
  private func raiseStarted(in lane: KeyLane, _ admission: inout Admission) {
    let urgency = lane.urgency
    guard urgency.isMoreUrgent(than: lane.startedClass), lane.limits.waitsForEnd else { return }
    lane.startedClass = urgency
    for reference in lane.started { reference._withUnsafeGuaranteedRef { admission.raise($0, to: urgency) } }
    // They were taken before the lane had limits. Raising operations of other keys as well does no harm.
    if lane.takenCount > 0 { admission.raiseBatches(to: urgency) }
  }

  private func lane(of member: KeyGate) -> KeyLane {
    if let lane = member.lane { return lane }
    let lane = lanesCreatedIfNeeded.lane(of: member.key!)
    lane.memberCount += 1
    member.lane = lane
    return lane
  }

  func removeReady(_ operation: Operation, from admission: inout Admission) -> Bool {
    guard let member = operation.laneMember, member.isReady, let lane = member.lane else { return false }
    member.isReady = false
    lane.remove(operation, from: &admission.first.ready, &admission.nextSequence)
    return true
  }

  /// Chooses the representatives of a lane again, after a change of its limits.
  func represent(_ lane: KeyLane, in admission: inout Admission) {
    lane.represent(among: &admission.first.ready, &admission.nextSequence)
    raiseStarted(in: lane, &admission)
    noteTime(of: lane)
  }

  private func noteTime(of lane: KeyLane) { if lane.waitsForTime { lanes?.noteTimed(lane) } }

  // O(1) if there are no lanes, otherwise O(*n* log *n*).
  func appendReady(_ ready: ReadyByClass, to admission: inout Admission) {
    guard lanes != nil else { return admission.first.ready.append(ready) }
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
        admission.insertReady(operation, operation.state.current, level: level, turn: operation.queueLinks.sequence)
      }
    }
  }

  func sortReady(in admission: inout Admission) {
    for lane in lanes.map({ Array($0.lanes) }) ?? [] { lane.withdraw(from: &admission.first.ready) }
    admission.first.ready.sort(by: admission.placement)
    for lane in lanes.map({ Array($0.lanes) }) ?? [] {
      lane.sort(by: admission.placement)
      represent(lane, in: &admission)
    }
  }

  // MARK: Starts

  /// Whether the limits of an operation's key allow it to start.
  func laneMayStart(_ operation: Operation) -> Bool { operation.laneMember?.lane?.limits.mayStart() != false }

  /// The limit of the key that keeps a ready operation from starting, or nil.
  func obstacleInLane(of operation: Operation) -> (obstacle: KeyLaneLimits.Obstacle, end: ClockTime?)? {
    guard let member = operation.laneMember, member.isReady else { return nil }
    return member.lane?.limits.obstacle()
  }

  /// Counts an operation that has its resources and a slot and is about to start.
  func grantInLane(_ operation: Operation, _ admission: inout Admission) {
    guard let member = operation.laneMember, let lane = member.lane else { return }
    lane.setUse(.granted, of: operation, member)
    lane.limits.noteGrant()
    represent(lane, in: &admission)
  }

  /// Counts an operation that was about to start but does not.
  func endGrantInLane(of operation: Operation, _ admission: inout Admission) {
    guard let member = operation.laneMember, member.use == .granted, let lane = member.lane else { return }
    lane.setUse(.none, of: operation, member)
    lane.limits.endGrant()
    represent(lane, in: &admission)
  }

  /// Counts an operation that starts, or continues after a pause.
  func startInLane(_ operation: Operation, at now: ClockTime, _ admission: inout Admission) {
    guard let member = operation.laneMember, let lane = member.lane else { return }
    if member.use == .granted { lane.limits.endGrant() }
    // A cancelled operation only ends.
    guard !operation.state.current.isCancelled else {
      lane.setUse(.none, of: operation, member)
      return represent(lane, in: &admission)
    }
    lane.setUse(.running, of: operation, member)
    member.start = lane.limits.noteStart(at: now)
    lane.noteTurn()
    represent(lane, in: &admission)
  }

  // MARK: Batches

  // Only keys without limits, because the threads of batches start and end their operations without the lock.
  func mayTake(_ operation: Operation, before turn: UInt64) -> Bool {
    guard operation.admission.isRepresentative else { return true }
    guard let member = operation.laneMember, let lane = member.lane else { return false }
    return !lane.limits.areSet && member.turn < turn
  }

  func take(_ operation: Operation, into batch: Batch, _ admission: inout Admission) {
    guard let member = operation.laneMember, let lane = member.lane else { return }
    member.isReady = false
    lane.take(operation, member)
    batch.shares.append((batch.count, .passUnretained(lane)))
    represent(lane, in: &admission)
  }

  // The operations may have been freed. Their lanes count them as members until now.
  func collectShares(of batch: Batch, in admission: inout Admission) {
    let end = min(batch.collectedFinished, batch.count)
    var count = 0
    while count < batch.shares.count, batch.shares[count].position < end {
      let lane = unsafeDowncast(batch.shares[count].object.takeUnretainedValue(), to: KeyLane.self)
      count += 1
      lane.endTaken()
      lanes?.leave(lane)
      if lane.limits.areSet { represent(lane, in: &admission) }
    }
    batch.shares.removeFirst(count)
  }

  // MARK: Ends

  /// Counts an operation that pauses between two attempts.
  func pauseInLane(_ operation: Operation, _ admission: inout Admission) {
    guard let member = operation.laneMember, let lane = member.lane else { return }
    endUse(of: lane, by: operation, member, .neither)
    represent(lane, in: &admission)
  }

  /// Notes that an attempt of an operation has failed.
  func noteFailedAttempt(
    of operation: Operation, _ result: BreakerState.Result, at now: ClockTime, _ admission: inout Admission
  ) {
    guard let member = operation.laneMember, let lane = member.lane, member.use == .running else { return }
    lane.limits.noteResult(result, of: &member.start, at: now)
    represent(lane, in: &admission)
  }

  /// Ends the membership of an operation in its lane, because it leaves or was cancelled.
  func leaveLane(_ operation: Operation, _ admission: inout Admission) {
    guard let member = operation.laneMember, let lane = member.lane else { return }
    endUse(of: lane, by: operation, member, member.result)
    member.lane = nil
    lanes?.leave(lane)
    represent(lane, in: &admission)
  }

  func endUse(
    of lane: KeyLane, by operation: Operation, _ member: KeyGate, _ result: BreakerState.Result
  ) {
    switch member.use {
    case .none: break
    case .granted: lane.limits.endGrant()
    case .taken: lane.limits.noteEnd()
    case .running:
      lane.limits.noteEnd()
      lane.limits.noteResult(result, of: &member.start, at: member.endTime)
    }
    lane.setUse(.none, of: operation, member)
  }
}

extension Operation {
  /// The state of the operation in its lane, if it has a key.
  final var laneMember: KeyGate? {
    switch gateKind {
    case .none, .ofBatches: nil
    case .key: policyGate.map { unsafeDowncast($0, to: KeyGate.self) }
    case .other: policyGate?.laneMember
    }
  }

  /// The turn of the lane that the operation represents.
  final var laneTurn: UInt64 {
    @inline(never) get { laneMember?.turn ?? queueLinks.sequence }
  }
}
