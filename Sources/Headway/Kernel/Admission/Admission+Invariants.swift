#if DEBUG
// Invariants that hold after each change of an ``Admission``, for tests and debug builds. A violation stops the
// process.

extension Admission {
  /// Checks that the lists, the places and the counts agree.
  ///
  /// O(*n* log *barriers*).
  func checkInvariants() {
    var found = Findings()
    var previous: OperationReference?
    members.list.forEach { reference in
      checkMember(reference, after: previous, &found)
      check(previous.map { $0.sequence < reference.sequence } ?? true, reference.operation)
      check(!reference.operation.admission.wasReturned, reference.operation)
      previous = reference
    }
    previous = nil
    members.returned.forEach { reference in
      checkMember(reference, after: previous, &found)
      check(reference.operation.admission.wasReturned, reference.operation)
      check(laterPosition(of: reference.operation) == nil, reference.operation)
      previous = reference
    }
    // Operations in batches can't be read: their threads may have released them.
    found.unfinished[-1, default: 0] += members.takenCount + waitingBlocks.count
    let listedCount = members.count - members.takenCount
    precondition(found.memberCount == listedCount, "\(found.memberCount) members are listed, not \(listedCount)")
    checkLists(found)
    checkSegments(found)
    var activeCount = 0
    batches.forEach { batch in
      precondition(batch.isActive, "a batch is listed that is not active")
      activeCount += 1
    }
    precondition(activeCount == batches.count, "\(activeCount) batches are active, not \(batches.count)")
    precondition(members.takenCount >= 0, "more operations of batches have finished than were taken")
    precondition(members.takenCount == 0 || !batches.isEmpty, "operations are in a batch, and there is none")
    checkPositionOfBlocks()
    precondition(waitingBlocks.isEmpty || later.isEmpty, "a block without an operation is before a barrier")
    PerClass<Int>.forEachClass { precondition(tickets[$0] >= 0, "more tickets were redeemed than issued") }
  }

  /// Checks that the operation of the first block without one would be listed in insertion order.
  private func checkPositionOfBlocks() {
    guard let sequence = waitingBlocks.firstSequence else { return precondition(members.lastBeforeBlocks == nil) }
    let last = members.lastBeforeBlocks
    let next = if let last { last.memberNext } else { members.list.first }
    precondition(last.map { $0.sequence < sequence } ?? true, "an operation is listed before an earlier block")
    precondition(next.map { $0.sequence > sequence } ?? true, "an operation is listed behind a later block")
  }

  private func checkMember(
    _ reference: OperationReference, after previous: OperationReference?, _ found: inout Findings
  ) {
    let operation = reference.operation
    check(previous.map { $0.isSame(as: reference.memberPrevious) } ?? (reference.memberPrevious == nil), operation)
    check(operation.state.current.isListed, operation)
    found.note(operation, inLaterSegment: laterPosition(of: operation))
    checkPlace(of: operation)
  }

  /// Checks that workers are on their way for the operations that can start.
  ///
  /// This holds after ``issueTickets()``, until a thread with a batch continues, or finishes an operation that a
  /// barrier waits for.
  func checkTickets() {
    let startable = startable
    PerClass<Int>.forEachClass { workerClass in
      precondition(
        tickets[workerClass] >= min(startable[workerClass], Self.mostTickets),
        "\(startable[workerClass]) operations could start, and \(tickets[workerClass]) workers are on their way")
    }
  }

  /// Checks the invariants that hold after each update of a queue, independent of other threads.
  ///
  /// Does so only if the queue holds so few operations that checking all of them is cheap.
  func checkIfSmall() {
    guard count <= 16 else { return }
    checkInvariants()
    if batches.isEmpty, first.barrier == nil { checkTickets() }
  }

  /// The members, counted by their own records.
  private struct Findings {
    var memberCount = 0
    var runningCount = 0
    var cancelledCount = 0
    var cancelledWithinLimitCount = 0
    var heldBackCount = 0
    var grantedCount = 0
    /// The operations except the barrier, and the ready operations, in the first segment (under -1) and in the later
    /// segments.
    var unfinished: [Int: Int] = [:]
    var ready: [Int: Int] = [:]
    /// The urgent operations among the ready operations.
    var urgent: [Int: UrgentCounts] = [:]

    mutating func note(_ operation: Operation, inLaterSegment position: Int?) {
      memberCount += 1
      if !operation.isBarrier { unfinished[position ?? -1, default: 0] += 1 }
      switch operation.admission.place {
      case .ready:
        ready[position ?? -1, default: 0] += 1
        urgent[position ?? -1, default: UrgentCounts()].change(operation.admission.urgency, by: 1)
      case .running: runningCount += 1
      case .cancelled: cancelledCount += 1
      case .cancelledWithinLimit: cancelledWithinLimitCount += 1
      case .heldBack: heldBackCount += 1
      case .granted: grantedCount += 1
      case .none, .waiting, .gated, .taken, .leaving: break
      }
    }
  }

  /// Checks what a single place implies.
  private func checkPlace(of operation: Operation) {
    let (place, phase) = (operation.admission.place, operation.state.current.phase)
    check(place != .none && place != .taken, operation)
    // Except for cancelled operations, only the operations before the first barrier, and then the barrier itself, may
    // have started.
    if place == .running {
      check(laterPosition(of: operation) == nil || operation.state.current.isCancelled, operation)
    }
    if [.running, .leaving].contains(place) { check(phase != .pending, operation) }
    if operation.isBarrier { check(![.heldBack, .gated, .ready].contains(place), operation) }
    if [.cancelled, .cancelledWithinLimit].contains(place) { check(operation.state.current.isCancelled, operation) }
  }

  private func checkLists(_ found: Findings) {
    var heldBackCount = 0
    heldBack.forEach { reference in
      check(reference.operation.admission.place == .heldBack, reference.operation)
      heldBackCount += 1
    }
    precondition(
      heldBackCount == found.heldBackCount,
      "\(found.heldBackCount) operations are marked as held back, and \(heldBackCount) are listed")
    var listed = 0
    for workerClass in WorkerClass.allCases {
      running[workerClass].forEach { reference in
        let record = reference.operation.admission
        check(record.place == .running && record.workerClass == workerClass, reference.operation)
        listed += 1
      }
    }
    precondition(
      listed == runningCount && found.runningCount == runningCount,
      "\(listed) operations are listed as running, \(found.runningCount) are marked, and \(runningCount) are counted")
    precondition(
      found.grantedCount == grantedCount,
      "\(found.grantedCount) operations are marked as granted, and \(grantedCount) are counted")
    precondition(
      found.cancelledCount == cancelled.count,
      "\(found.cancelledCount) operations are marked as cancelled, and \(cancelled.count) are listed")
    precondition(
      found.cancelledWithinLimitCount == cancelledWithinLimit.count,
      "\(found.cancelledWithinLimitCount) operations are marked as cancelled and waiting for a slot, and "
        + "\(cancelledWithinLimit.count) are listed")
  }

  private func checkSegments(_ found: Findings) {
    for position in -1..<later.count {
      let segment = position < 0 ? first : later[position]
      let unfinished = found.unfinished[position] ?? 0
      precondition(
        segment.unfinished == unfinished, "a segment has \(unfinished) operations, and counts \(segment.unfinished)")
      var (readyCount, urgent) = (WorkerClass.allCases.reduce(0) { $0 + segment.ready.count($1) }, segment.ready.urgent)
      // Behind a barrier, keys have no effect yet.
      if position < 0 { policy?.checkInvariants(readyCount: &readyCount, urgent: &urgent) }
      precondition(
        readyCount == found.ready[position] ?? 0,
        "\(found.ready[position] ?? 0) operations of a segment are marked as ready, and \(readyCount) are listed")
      precondition(
        urgent == found.urgent[position] ?? UrgentCounts(),
        "the urgent operations of a segment are counted wrongly")
      // Each segment except the last ends with a barrier. The first one does not end with a barrier that has finished.
      let isLast = position == later.count - 1
      precondition(isLast == (segment.barrier == nil && !segment.barrierHasFinished), "a segment has no end")
      precondition(position >= 0 || !segment.barrierHasFinished, "a barrier that has finished was not passed")
    }
  }

  private func check(_ condition: Bool, _ operation: Operation, line: UInt = #line) {
    // Not `description`, because it can be overridden and takes locks.
    precondition(condition, "\(operation.admission) \(operation.state.current)", line: line)
  }
}
#endif
