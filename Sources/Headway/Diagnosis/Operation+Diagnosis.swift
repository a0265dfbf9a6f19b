import Synchronization

extension OperationProtocol {
  /// A sentence that explains why the operation is not running, for example `“save” waits for “parse”, which is
  /// suspended in queue “import”`.
  ///
  /// Use it to find operations that are stuck, and in logs. The sentence describes the current state and has no full
  /// stop.
  ///
  /// - Complexity: O(*n*) in the number of operations that it waits for, and in the number of operations in its queue
  ///   if that has barriers.
  @_disfavoredOverload
  public var diagnosis: String { "\(label) \(obstacle)" }
}

extension Operation {
  /// The reason why the operation is not running, as the rest of a sentence that begins with its name.
  fileprivate final var obstacle: String {
    let word = state.current
    switch word.phase {
    case .finished:
      if case .failure(let error)? = outcome {
        let member = labelOfFailedMember.map { " in \($0)" } ?? ""
        return "\(word.isCancelled ? "was cancelled" : "has failed")\(member): \(error)"
      }
      return word.isCancelled ? "was cancelled and has finished" : "has finished"
    case .executing:
      if let obstacle = obstacleBetweenAttempts { return "waits for its next attempt\(obstacle)" }
      guard let waitedFor = waitedForWhileExecuting else { return "is executing\(missingStepsOfEnd)" }
      let cycle = firstDependencyCycle().map { ", in a cycle: \($0.waitingCycle)" } ?? ""
      return "is executing\(endsWithMain ? ", and blocked" : ""): it waits for \(waitedFor)\(cycle)"
    case .starting:
      return overridesIsFinished
        ? "has been started and has not posted that its isFinished is true" : "has been started"
    case .pending: break
    }
    if word.isCancelled { return ownObstacle }
    if let cycle = firstDependencyCycle() {
      let chain = (cycle + cycle.prefix(1)).map(\.label).joined(separator: ", which waits for ")
      return cycle.contains(self)
        ? "never runs, since it is part of a cycle: \(chain)" : "never runs, since it waits for a cycle: \(chain)"
    }
    let waitedFor = unfinishedDependencies
    if let first = waitedFor.first {
      let others = waitedFor.count > 1 ? "; it also waits for \((waitedFor.count - 1).otherOperations)" : ""
      return "waits for \(first.label), which \(first.obstacleInChain)\(others)"
    }
    return ownObstacle
  }

  /// The reason why an operation that pauses between two attempts does not continue; nil if it does not pause.
  private var obstacleBetweenAttempts: String? {
    guard gateKind == .other, let gate = timedGate, gate.pause.isActive else { return nil }
    if let delay = gate.remainingDelay { return ", for another \(delay.inMilliseconds)" }
    guard let queue else { return "" }
    let cycle = firstDependencyCycle().map { ", in a cycle: \($0.waitingCycle)" } ?? ""
    return ": it \(obstacle(in: queue))\(cycle)"
  }

  /// The condition for the end of an operation that continues after `main()`: operations that hang often lack it.
  private var missingStepsOfEnd: String {
    if endsWithMain { return "" }
    if overridesIsFinished { return ": it has not posted that its isFinished is true" }
    return missingCall.map { ": its \($0) has not been called" } ?? ""
  }

  private var waitedForWhileExecuting: String? {
    var labels: [String] = []
    for label in waits.map(\.label) where !labels.contains(label) { labels.append(label) }
    if labels.isEmpty { return queueOfParts.map { "all operations of \($0.label)" } }
    return labels.prefix(3).joined(separator: " and ") + (labels.count > 3 ? " (other waits: \(labels.count - 3))" : "")
  }

  /// The ``obstacle`` of an operation that another operation waits for.
  ///
  /// Skips the middle of a chain.
  private var obstacleInChain: String {
    var (last, passed) = (self, 0)
    // A previous check found no cycle. If one has been created in the meantime, this limit ends the loop.
    while passed < 1_000_000, last.state.current.phase == .pending, !last.isCancelled,
      let next = last.unfinishedDependencies.first
    {
      last = next
      passed += 1
    }
    let end = last.state.current.phase == .pending ? last.ownObstacle : last.obstacle
    let between = passed > 1 ? " (through \((passed - 1).otherOperations))" : ""
    return passed == 0 ? end : "waits\(between) for \(last.label), which \(end)"
  }

  /// The obstacle of an operation that waits for no dependency.
  private var ownObstacle: String {
    let isCancelled = state.current.isCancelled
    if isCancelled, !hasCodeForCancelled { return "was cancelled and is about to leave" }
    let prefix = isCancelled ? "was cancelled, " : ""
    guard let queue else { return prefix + "is in no queue and has not been started" }
    return prefix + obstacle(in: queue) + (queue.isClosed ? "; the queue is closed" : "")
  }

  /// The part of its policy that holds the operation back.
  private var obstacleInPolicy: String? {
    guard let gate = policyGate else { return nil }
    if let delay = gate.remainingDelay { return "is delayed for another \(delay.inMilliseconds)" }
    guard let needing = gate.needingResources,
      let obstacle = ResourceTable.shared.withLock({ $0.obstacle(of: needing) })
    else { return nil }
    let first = obstacle.operations.first.map(\.label) ?? ""
    let others = obstacle.operations.count > 1 ? " and \((obstacle.operations.count - 1).otherOperations)" : ""
    let resource = "waits for the resource “\(obstacle.name)”"
    return obstacle.isInUse ? "\(resource), which is used by \(first)\(others)" : "\(resource) behind \(first)\(others)"
  }

  /// Describes the remaining time, if the start of an operation depends only on time.
  private static func wait(from now: ClockTime?, until nextStart: ClockTime?) -> String {
    guard let now, let nextStart, nextStart < .max else { return "" }
    return ", for another \(Duration.nanoseconds(max(0, nextStart.addedClamped(-now))).inMilliseconds)"
  }

  /// The obstacle in its queue of an operation that waits for no dependency.
  private func obstacle(in queue: OperationQueue) -> String {
    let word = state.current
    if hasGate, !word.isCancelled, let obstacle = obstacleInPolicy { return obstacle }
    if word.isHeldBack, !word.isCancelled { return "is held back by its own isReady, which returns false" }
    let time = queue.startTime
    let (situation, isElsewhere) = queue.update(collectingBatches: true) { state in
      var situation = state.admission.situation(of: self)
      if situation.keyObstacle == nil { situation.nextStart = state.admission.policies?.rate?.nextStart }
      return (situation, state.underlyingQueue != nil || state.executor != nil)
    }
    let wait = Self.wait(from: time?.now, until: situation.nextStart)
    if situation.isSuspended { return "is suspended in \(queue.label)" }
    if let predecessor = situation.predecessor { return "waits behind \(predecessor.label) in \(queue.label)" }
    if situation.isBarrier, situation.predecessorCount > 0 {
      return "is a barrier in \(queue.label) and waits for operations added before it: \(situation.predecessorCount)"
    }
    if situation.predecessorCount > 0 { return "waits behind a barrier in \(queue.label)" }
    if let obstacle = situation.keyObstacle, let key = laneMember?.key {
      let place = "of the key “\(key)” in \(queue.label)"
      return switch obstacle {
      case .breaker: "waits for the circuit breaker \(place)\(wait)"
      case .rate: "waits for the rate limit \(place)\(wait)"
      case .count(let running, let limit):
        """
        waits for another operation with the key “\(key)” in \(queue.label), which runs \(running) of at most \(limit)\
        \(situation.keyHolders.first.map { ": \($0.label)" } ?? "")
        """
      }
    }
    if situation.waitsForRate { return "waits for the rate limit of \(queue.label)\(wait)" }
    if situation.limit == 0 { return "is held in \(queue.label), whose maxConcurrentOperationCount is 0" }
    if situation.started >= situation.limit {
      return
        "waits for a concurrency slot in \(queue.label), which runs \(situation.started) of at most \(situation.limit)"
    }
    return isElsewhere
      ? "is ready in \(queue.label) and waits for that queue's dispatch queue or executor"
      : "is ready in \(queue.label) and waits for a thread"
  }
}

extension Int {
  /// This number of operations that a message doesn't name.
  var otherOperations: String { self == 1 ? "1 other operation" : "\(self) other operations" }
}

extension Operation {
  /// Implements ``debugDescription``.
  final var longDescription: String {
    let progress = links.withLock { $0.details?.pointee.rareDetails?.progress }
    var parts = ["\(type(of: self)) \(description)"]
    if let queue { parts.append("in \(queue.label)") }
    if queuePriority != .normal { parts.append("priority \(queuePriority)") }
    if qualityOfService != .default { parts.append("quality of service \(qualityOfService)") }
    if let progress, progress.totalUnitCount > 0 { parts.append("\(Int(progress.fractionCompleted * 100))% done") }
    let waitedFor = dependencies.filter { !$0.isFinished }.map(\.label)
    if !waitedFor.isEmpty { parts.append("waits for \(waitedFor.joined(separator: ", "))") }
    return parts.joined(separator: "; ")
  }
}
