/// What a queue knows of why an operation has not started.
struct AdmissionSituation {
  var isBarrier: Bool
  var isSuspended: Bool
  var limit: Int
  var started: Int
  /// How many operations a barrier waits for; for others, 1 when they wait for a barrier, or for the one before them.
  var predecessorCount: Int
  /// The one before it, where operations start in the order of adding.
  var predecessor: Operation?
}

/// The operations of one queue that keep an operation from starting.
struct AdmissionObstacles {
  /// All of these have to finish first.
  var all: [Operation] = []
  /// One of these has to finish first: they have all the places of a queue with a limit.
  var any: [Operation] = []
  /// How often the queue's limit had been set.
  var limitChanges = 0
}

extension Admission {
  /// Operations are held, and none of them runs or can start by what this queue knows.
  var isIdle: Bool {
    started == 0 && count > 0 && !isSuspended && limit > 0 && !hasStartable
      && WorkerClass.allCases.allSatisfy { tickets[$0] == 0 }
  }

  /// The situation of an operation that the queue holds.
  ///
  /// O(*n*) for barriers.
  func situation(of operation: Operation) -> AdmissionSituation {
    let predecessors = operation.admission.place == .cancelledWithinLimit ? [] : predecessors(of: operation)
    return AdmissionSituation(
      isBarrier: operation.isBarrier, isSuspended: isSuspended, limit: limit, started: started,
      predecessorCount: predecessors.count, predecessor: order == .fifo ? predecessors.first : nil)
  }

  /// What must finish before this operation can start: what was added before a barrier since the one before it; the
  /// barrier before any other operation; the one before it, where operations start in the order of adding; and, where
  /// all places are taken, one of those that run.
  ///
  /// O(*n*) for barriers, in the number of operations between it and the one before it; else O(log *barriers*), and
  /// O(*limit*) where all places are taken.
  func obstacles(of operation: Operation) -> AdmissionObstacles {
    var obstacles = AdmissionObstacles(limitChanges: limitChanges)
    switch operation.admission.place {
    case .waiting, .heldBack, .ready, .taken: obstacles.all = predecessors(of: operation)
    case .cancelledWithinLimit: break
    case .none, .cancelled, .running, .leaving: return obstacles
    }
    if limit > 0, started >= limit, operation.state.current.phase == .pending {
      running.forEach { obstacles.any.append($0.operation) }
      batches.forEach { $0.withRunning { obstacles.any.append($0) } }
      // A thread is between two operations of its batch: that place is not lost. Or this one has a place itself, and is
      // about to begin.
      if obstacles.any.count < started || obstacles.any.contains(operation) { obstacles.any = [] }
    }
    return obstacles
  }

  private func predecessors(of operation: Operation) -> [Operation] {
    if order == .fifo { return predecessorInOrder(of: operation).map { [$0] } ?? [] }
    let position = laterPosition(of: operation)
    if operation.isBarrier {
      // Walked towards the front, up to the barrier before it, which waits for what is before that. What is in batches,
      // or has been, is in the first segment.
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
    // One that was cancelled before its turn holds nothing back.
    for earlier in stride(from: (position ?? -1) - 1, through: -1, by: -1) {
      guard let barrier = earlier < 0 ? first.barrier : later[earlier].barrier, !isLeaving(barrier.operation) else {
        continue
      }
      return [barrier.operation]
    }
    return []
  }

  /// The one that was added before it and was not cancelled: one that was waits for none of those before it, for which
  /// the operation waits, too.
  private func predecessorInOrder(of operation: Operation) -> Operation? {
    if operation.admission.place != .taken {
      var lists = [OperationReference(operation).memberPrevious]
      // What was put back was added before what has been in no batch.
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
