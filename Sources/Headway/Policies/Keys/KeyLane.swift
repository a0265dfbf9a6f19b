/// The operations of a queue that have the same key.
///
/// The operations wait in the lane. Its first operation of each class of workers is its *representative* among the
/// ready operations of the queue, unless the limits of the lane allow no start now. A representative has the *turn* of
/// its lane, a number from the same sequence as the operation numbers. After as many starts as the weight allows, the
/// lane gets a new turn, behind all others. This is deficit round robin (Shreedhar and Varghese, “Efficient fair
/// queuing using deficit round robin”, 1995) for operations of equal cost.
///
/// Protected by the queue's lock.
final class KeyLane {
  // The queue's lock guarantees exclusive access, so it is not checked again at each access.

  let key: String
  @exclusivity(unchecked) var limits: KeyLaneLimits
  /// Wakes the queue when the next operation may start, if that depends only on time.
  ///
  /// Created when the lane first waits for a time.
  @exclusivity(unchecked) var alarm: KeyLaneAlarm?
  /// How many operations of the queue refer to the lane.
  @exclusivity(unchecked) var memberCount = 0

  /// The ready operations, except the representatives.
  @exclusivity(unchecked) private var waiting = ReadyByClass()
  @exclusivity(unchecked) private var representatives = PerClass<OperationReference?>(nil)
  /// The operations that count toward the limits: they are running or about to run.
  @exclusivity(unchecked) private(set) var started: [OperationReference] = []
  @exclusivity(unchecked) private var startedMembers: [KeyGate] = []
  /// How many operations also count, because batches took them while the lane had no limits.
  @exclusivity(unchecked) private(set) var takenCount = 0
  /// The class that all of these have been raised to.
  @exclusivity(unchecked) var startedClass = WorkerClass.background
  @exclusivity(unchecked) private var turn: UInt64 = 0
  /// How many operations may start before the lane gets a new turn; 0 if it has none.
  @exclusivity(unchecked) private var remainingCount = 0

  init(_ key: String, _ policy: KeyPolicy) { (self.key, limits) = (key, KeyLaneLimits(policy)) }

  private var hasRepresentative: Bool {
    WorkerClass.allCases.contains { representatives[$0] != nil }
  }

  // MARK: The ready operations

  /// Adds a ready operation.
  ///
  /// - Parameters:
  ///   - operation: The operation to add. Its class is the class in its record.
  ///   - level: Its priority level.
  ///   - urgency: Its class, if it is more urgent than the queue.
  ///   - turn: The turn that the lane gets if it has none. If this is nil, the lane gets a new turn.
  ///   - ready: The ready operations of the queue.
  ///   - numbers: The numbers of the queue, for a new turn.
  func insert(
    _ operation: Operation, level: Int, urgency: WorkerClass, turn: UInt64? = nil, into ready: inout ReadyByClass,
    _ numbers: inout UInt64
  ) {
    if waiting.isEmpty, !hasRepresentative, !limits.areSet {
      // Usually, it is the only one.
      beginTurn(firstTurn: turn, &numbers)
      return appoint(OperationReference(operation), level: level, urgency: urgency, among: &ready)
    }
    let workerClass = operation.admission.workerClass
    if let representative = representatives[workerClass],
      representative._withUnsafeGuaranteedRef({ operation.precedes($0, level: level) })
    {
      withdraw(workerClass, from: &ready)
    }
    waiting.insert(operation, level: level)
    waiting.count(operation, asUrgent: urgency)
    represent(among: &ready, &numbers, turn: turn)
  }

  /// Removes a ready operation.
  func remove(_ operation: Operation, from ready: inout ReadyByClass, _ numbers: inout UInt64) {
    take(operation, from: &ready)
    represent(among: &ready, &numbers)
  }

  /// Removes a ready operation, which is about to be inserted again.
  func take(_ operation: Operation, from ready: inout ReadyByClass) {
    guard operation.admission.isRepresentative else { return waiting.remove(operation) }
    ready.remove(operation)
    noteRemoved(operation)
  }

  /// Notes that a representative was removed from the ready operations.
  func noteRemoved(_ operation: Operation) {
    operation.admission.isRepresentative = false
    representatives[operation.admission.workerClass] = nil
  }

  /// Notes that an operation of the lane starts, or is about to.
  func noteTurn() { remainingCount = max(0, remainingCount - 1) }

  // MARK: The operations that count toward the limits

  /// Changes how an operation counts.
  func setUse(_ use: KeyGate.Use, of operation: Operation, _ member: KeyGate) {
    takenCount += (use == .taken ? 1 : 0) - (member.use == .taken ? 1 : 0)
    switch (member.use.isListed, use.isListed) {
    case (false, true):
      member.startedPosition = started.count
      started.append(OperationReference(operation))
      startedMembers.append(member)
      startedClass = .background
    case (true, false):
      let position = member.startedPosition
      started.swapAt(position, started.count - 1)
      startedMembers.swapAt(position, started.count - 1)
      startedMembers[position].startedPosition = position
      started.removeLast()
      startedMembers.removeLast()
    default: break
    }
    member.use = use
  }

  // MARK: Batches

  /// Moves a representative into a batch.
  func take(_ operation: Operation, _ member: KeyGate) {
    noteRemoved(operation)
    noteTurn()
    setUse(.taken, of: operation, member)
    limits.noteTaken()
  }

  /// Notes that an operation has ended in its batch.
  func endTaken() {
    takenCount -= 1
    limits.noteEnd()
  }

  /// Returns the turn of an operation that has not started in its batch and is about to be inserted again.
  func returnTurn(of operation: Operation, _ member: KeyGate, to ready: inout ReadyByClass) {
    setUse(.none, of: operation, member)
    limits.noteEnd()
    if member.turn == turn { return remainingCount += 1 }
    guard remainingCount == 0 || member.turn < turn else { return }
    // The lane has got a new turn in the meantime, which is later.
    withdraw(from: &ready)
    (turn, remainingCount) = (member.turn, 1)
  }

  // MARK: The representatives

  /// Makes the first operations the representatives.
  ///
  /// Called after each change of the lane.
  func represent(among ready: inout ReadyByClass, _ numbers: inout UInt64, turn firstTurn: UInt64? = nil) {
    let mayStart = limits.mayStart()
    // The weight may have changed.
    remainingCount = min(remainingCount, limits.policy.weight)
    if remainingCount == 0 || !mayStart { withdraw(from: &ready) }
    guard !waiting.isEmpty || hasRepresentative else { return remainingCount = 0 }
    guard mayStart, limits.areSet || !waiting.isEmpty else { return }
    let floor = raiseFirst(among: &ready)
    beginTurn(firstTurn: firstTurn, &numbers)
    PerClass<Int>.forEachClass { workerClass in
      guard representatives[workerClass] == nil, !floor.isMoreUrgent(than: workerClass), waiting.count(workerClass) > 0
      else { return }
      // Only if there are any urgent operations, because reading the first one copies the list.
      let urgency = waiting.urgent.isZero ? nil : waiting.first(workerClass)?.0.operation.admission.urgency
      guard let reference = waiting.popFirst(workerClass) else { return }
      let level = reference._withUnsafeGuaranteedRef { Int($0.admission.readyLevel) }
      appoint(reference, level: level, urgency: urgency ?? .background, among: &ready)
    }
  }

  /// Begins a turn, unless the lane has a turn that allows further starts.
  private func beginTurn(firstTurn: UInt64?, _ numbers: inout UInt64) {
    guard remainingCount == 0 else { return }
    (turn, remainingCount) = (firstTurn ?? numbers, limits.policy.weight)
    if firstTurn == nil { numbers += 1 }
  }

  /// Makes an operation the representative of its class.
  private func appoint(
    _ reference: OperationReference, level: Int, urgency: WorkerClass, among ready: inout ReadyByClass
  ) {
    reference._withUnsafeGuaranteedRef { operation in
      representatives[operation.admission.workerClass] = reference
      operation.admission.isRepresentative = true
      operation.laneMember?.turn = turn
      ready.insert(operation, level: level)
      ready.count(operation, asUrgent: urgency)
    }
  }

  /// While an urgent operation waits for the limits, raises the operation that starts next.
  ///
  /// - Returns: The lowest class of representatives.
  private func raiseFirst(among ready: inout ReadyByClass) -> WorkerClass {
    guard limits.policy.hasLimits, isUrgent else { return .background }
    withdraw(from: &ready)
    let floor = urgency
    guard let first = waiting.firstClass, floor.isMoreUrgent(than: first), let (reference, level) = waiting.first(first)
    else { return floor }
    reference._withUnsafeGuaranteedRef { operation in
      waiting.remove(operation)
      _ = operation.state.raiseQuality(level: floor.raisingLevel)
      operation.admission.workerClass = floor
      waiting.insert(operation, level: level)
      waiting.count(operation, asUrgent: floor)
    }
    return floor
  }

  /// Whether an operation of the lane is more urgent than the queue.
  private var isUrgent: Bool {
    !waiting.urgent.isZero
      || WorkerClass.allCases.contains { representatives[$0]?.operation.admission.isUrgent == true }
  }

  /// The class of the most urgent operation that waits in the lane; the lowest class if none is more urgent than the
  /// queue.
  var urgency: WorkerClass { waiting.urgent.highest }

  /// Returns the representatives to the lane.
  func withdraw(from ready: inout ReadyByClass) {
    PerClass<Int>.forEachClass { withdraw($0, from: &ready) }
  }

  private func withdraw(_ workerClass: WorkerClass, from ready: inout ReadyByClass) {
    guard let reference = representatives[workerClass] else { return }
    reference._withUnsafeGuaranteedRef { operation in
      let (level, urgency) = (Int(operation.admission.readyLevel), operation.admission.urgency)
      ready.remove(operation)
      noteRemoved(operation)
      waiting.insert(operation, level: level)
      waiting.count(operation, asUrgent: urgency)
    }
  }

  /// Moves all waiting operations into the lists of the classes that they belong to now.
  ///
  /// The lane has no representatives.
  func sort(by placement: Placement) { waiting.sort(by: placement) }

  /// Whether operations wait because of the limits, and the next start depends only on time.
  var waitsForTime: Bool { !waiting.isEmpty && !hasRepresentative && limits.nextStart != nil }
}

#if DEBUG
extension KeyLane {
  /// How many ready operations wait here.
  var waitingCount: Int { WorkerClass.allCases.reduce(0) { $0 + waiting.count($1) } }
  /// How many of them are more urgent than the queue.
  var urgent: UrgentCounts { waiting.urgent }

  /// Checks that the lane has representatives exactly if its operations may start.
  func checkInvariants() {
    let mayStart = limits.mayStart()
    for workerClass in WorkerClass.allCases {
      let representative = representatives[workerClass]?.operation
      require(representative?.admission.isRepresentative != false, "a representative of “\(key)” is not marked")
      require(representative == nil || mayStart, "“\(key)” has a representative, and may not start")
    }
    require(!mayStart || waiting.isEmpty || hasRepresentative, "“\(key)” has no representative")
    require(memberCount > 0 || waitingCount == 0, "“\(key)” has operations and no members")
  }
}
#endif

extension Operation {
  /// Whether the operation, at a priority level, starts before another operation of its lane.
  fileprivate final func precedes(_ other: Operation, level: Int) -> Bool {
    let otherLevel = Int(other.admission.readyLevel)
    return level == otherLevel ? queueLinks.sequence < other.queueLinks.sequence : level > otherLevel
  }
}
