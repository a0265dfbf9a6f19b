/// The reasons why an operation has not started, according to the queue's state.
struct AdmissionSituation {
  var isBarrier: Bool
  var isSuspended: Bool
  var limit: Int
  var started: Int
  var waitsForRate: Bool
  /// The limit of the operation's key that allows no start, or nil.
  var keyObstacle: KeyLaneLimits.Obstacle?
  /// The operations of the key that count toward its limit.
  ///
  /// All of them, although the diagnosis names only the first, because they must not be released under the lock.
  var keyHolders: [Operation] = []
  /// When the next operation of the key or of the queue may start, if that depends only on time.
  var nextStart: ClockTime?
  /// How many operations a barrier waits for.
  ///
  /// For other operations, 1 if they wait for a barrier, or for the operation before them.
  var predecessorCount: Int
  /// The operation before it, if operations start in insertion order.
  var predecessor: Operation?
}

/// The operations of one queue that keep an operation from starting.
struct AdmissionObstacles {
  /// All of these must finish first.
  var all: [Operation] = []
  /// In each of these sets, one operation must finish first.
  ///
  /// For example, its operations occupy all concurrency slots of a queue with a limit. An empty set is not an obstacle.
  var any: [[Operation]] = []
  /// Operations of incomplete sets, which are released with this value, after the lock.
  var others: [[Operation]] = []
  /// How often the queue's limit had been set, and how often the operation had finished waiting for its resources.
  var changes = 0

  /// Adds a set of operations; if the set is complete, one of its operations must finish first.
  mutating func add(_ operations: [Operation], areAll: Bool) {
    if areAll { any.append(operations) } else { others.append(operations) }
  }
}

extension Admission {
  /// Whether the queue contains operations, but according to its state, none of them runs or can start.
  var isIdle: Bool {
    started == 0 && count > 0 && !startsNone && limit > 0 && !hasStartable
      && WorkerClass.allCases.allSatisfy { tickets[$0] == 0 }
  }

  /// The situation of an operation that the queue holds.
  ///
  /// O(*n*) for barriers.
  func situation(of operation: Operation) -> AdmissionSituation {
    let predecessors = operation.admission.place == .cancelledWithinLimit ? [] : predecessors(of: operation)
    let inLane = policies?.obstacleInLane(of: operation)
    return AdmissionSituation(
      isBarrier: operation.isBarrier, isSuspended: isSuspended, limit: limit, started: started,
      waitsForRate: waitsForAllowance, keyObstacle: inLane?.obstacle,
      keyHolders: inLane.flatMap { _ in operation.laneMember?.lane.map { holders(of: $0) } } ?? [],
      nextStart: inLane?.end,
      predecessorCount: predecessors.count, predecessor: order == .fifo ? predecessors.first : nil)
  }

  /// Returns the operations that must finish before this operation can start.
  ///
  /// - A barrier waits for the operations that were added since the barrier before it, and for that barrier.
  /// - Any other operation waits for the barrier before it.
  /// - If operations start in insertion order, each waits for the one before it.
  /// - If its policy keeps it from starting, it waits for operations that use its resources or its key.
  /// - If all concurrency slots are occupied, it waits for one of the running operations.
  ///
  /// O(*n*) for barriers, in the number of operations between it and the barrier before it. Otherwise O(log
  /// *barriers*), and O(*limit*) if all slots are occupied.
  func obstacles(of operation: Operation) -> AdmissionObstacles {
    var obstacles = AdmissionObstacles(changes: limitChanges)
    switch operation.admission.place {
    // An operation that pauses between two attempts has begun.
    case .waiting, .heldBack, .gated, .ready, .taken:
      if !operation.hasPause { obstacles.all = predecessors(of: operation) }
    case .cancelledWithinLimit: break
    case .none, .granted, .cancelled, .running, .leaving: return obstacles
    }
    if operation.hasGate { addObstacles(of: operation, to: &obstacles) }
    let hasBegun = operation.state.current.phase != .pending && !operation.hasPause
    if limit > 0, started >= limit, !hasBegun, obstacles.any.isEmpty {
      var holders: [Operation] = []
      running.forEach { holders.append($0.operation) }
      batches.forEach { $0.withRunning { holders.append($0) } }
      // If not all are found, a thread is between two operations of its batch, so its slot is not lost. If this
      // operation is among them, it has a slot itself, and is about to begin.
      obstacles.add(holders, areAll: holders.count >= started && !holders.contains(operation))
    }
    return obstacles
  }

  private func predecessors(of operation: Operation) -> [Operation] {
    if order == .fifo { return predecessorInOrder(of: operation).map { [$0] } ?? [] }
    let position = laterPosition(of: operation)
    if operation.isBarrier {
      // Walks toward the front, up to the previous barrier, which waits for everything in front of it. Operations that
      // are or were in batches are in the first segment.
      var found: [Operation] = []
      var isInFirstSegment = true
      var other = OperationReference(operation).memberPrevious
      while let reference = other {
        let member = reference.operation
        if !isLeaving(member) {
          found.append(member)
          if member.isBarrier {
            isInFirstSegment = false
            break
          }
        }
        other = reference.memberPrevious
      }
      if isInFirstSegment {
        members.returned.forEach { if !isLeaving($0.operation) { found.append($0.operation) } }
        batches.forEach { $0.forEachUnfinished { found.append($0) } }
      }
      return found.reversed()
    }
    // A barrier that was cancelled before its turn holds back no operation.
    for earlier in stride(from: (position ?? -1) - 1, through: -1, by: -1) {
      guard let barrier = earlier < 0 ? first.barrier : later[earlier].barrier, !isLeaving(barrier.operation) else {
        continue
      }
      return [barrier.operation]
    }
    return []
  }

  /// The last operation that was added before this one and was not cancelled.
  ///
  /// A cancelled operation does not wait for earlier operations, but this operation also waits for those.
  private func predecessorInOrder(of operation: Operation) -> Operation? {
    if operation.admission.place != .taken {
      var lists = [OperationReference(operation).memberPrevious]
      // Operations that were put back were added before the operations that have been in no batch.
      if !operation.admission.wasReturned { lists.append(members.returned.last) }
      for last in lists {
        var position = last
        while let reference = position {
          let isCancelled = reference.operation.admission.place == .cancelledWithinLimit
          if !isCancelled, !isLeaving(reference.operation) { return reference.operation }
          position = reference.memberPrevious
        }
      }
    }
    var predecessor: Operation?
    batches.forEach { batch in
      batch.forEachUnfinished { if $0.queueLinks.sequence < operation.queueLinks.sequence { predecessor = $0 } }
    }
    return predecessor
  }

  private func isLeaving(_ operation: Operation) -> Bool { [.cancelled, .leaving].contains(operation.admission.place) }
}
