/// How many operations there are that raise what they wait for, by the class to which they do.
struct UrgentCounts {
  private var normal = 0
  private var utility = 0

  var isZero: Bool { normal | utility == 0 }

  /// The most urgent class of which there is one; the lowest if there is none.
  var highest: WorkerClass { normal > 0 ? .normal : utility > 0 ? .utility : .background }

  mutating func change(_ workerClass: WorkerClass, by count: Int) {
    switch workerClass {
    case .normal: normal += count
    case .utility: utility += count
    case .background: break
    }
  }

  mutating func add(_ other: Self) {
    normal += other.normal
    utility += other.utility
  }

  mutating func remove(_ other: Self) {
    normal -= other.normal
    utility -= other.utility
  }
}

/// What an operation waits for without depending on it runs at no lower class than the operation.
///
/// It waits for what runs and for what starts before it where the number that may run is limited; for all that was
/// added before it where operations start in the order of adding; for all before the barrier that it is, or that is
/// before it; and whatever waits until the queue is empty, or holds less, waits for all. So the admission counts the
/// *urgent* operations: those whose own quality of service, or that of what waits for them, is higher than the queue's.
///
/// - What has not started takes constant time for each change: the counts give the ``floor``, below whose class nothing
///   starts while they last. Nothing moves from one list to another.
/// - What runs is in a list for each class. While others wait for it, the less urgent lists are emptied: each operation
///   moves twice at most, and each batch of a thread is reclaimed twice at most.
/// - What was added before, and may depend on others, is passed from the back to the front, up to what has been passed
///   for the same class: each operation twice at most.
extension Admission {
  /// An operation that the queue has raised, with the level of quality of service; what it waits for follows.
  struct Raised {
    let operation: Operation
    let level: Int
  }

  /// Whether anything in the queue may hold other things to its class; nearly always not.
  var hasUrgent: Bool { urgentCount > 0 || awaitedClass != .background }

  /// No operation of the first segment starts on a thread of a lower class.
  var floor: WorkerClass {
    guard hasUrgent else { return .background }
    return limit == .max ? floorOfAll : .moreUrgent(floorOfAll, first.urgentReady.highest)
  }

  /// The class to which everything of the first segment is raised, whatever the limit.
  private var floorOfAll: WorkerClass {
    let behind = WorkerClass.moreUrgent(awaitedClass, behindBarriers.highest)
    return order == .fifo ? .moreUrgent(behind, first.urgent.highest) : behind
  }

  // MARK: Counting

  /// An operation that waits is counted as urgent, if it is.
  ///
  /// - Parameters:
  ///   - operation: The operation, which is not counted, and is not in a list of ready ones.
  ///   - word: Its word.
  mutating func noteUrgency(of operation: Operation, _ word: OperationWord) {
    guard word.qualityLevel > QualityOfService.background.level else { return }
    countUrgent(operation, as: placement.urgency(of: word))
  }

  private mutating func countUrgent(_ operation: Operation, as urgency: WorkerClass) {
    guard urgency != .background else { return }
    operation.admission.urgency = urgency
    urgentCount += 1
    changeUrgent(operation, by: 1)
  }

  /// An operation waits no longer: it has started, or is about to leave.
  mutating func forgetUrgency(of operation: Operation) {
    guard urgentCount > 0, operation.admission.isUrgent else { return }
    urgentCount -= 1
    changeUrgent(operation, by: -1)
    operation.admission.urgency = .background
  }

  private mutating func changeUrgent(_ operation: Operation, by count: Int) {
    let urgency = operation.admission.urgency
    if operation.isBarrier { return behindBarriers.change(urgency, by: count) }
    if laterPosition(of: operation) != nil { behindBarriers.change(urgency, by: count) }
    withSegment(of: operation) { $0.urgent.change(urgency, by: count) }
  }

  /// Counts all anew, since the queue's quality of service has changed.
  ///
  /// O(*n*).
  mutating func recountUrgent() {
    var waiting: [OperationReference] = []
    let note: (OperationReference) -> Void = { reference in
      switch reference._withUnsafeGuaranteedRef({ $0.admission.place }) {
      case .waiting, .heldBack, .ready: waiting.append(reference)
      case .none, .taken, .cancelled, .cancelledWithinLimit, .running, .leaving: break
      }
    }
    members.list.forEach(note)
    members.returned.forEach(note)
    for reference in waiting {
      reference._withUnsafeGuaranteedRef { operation in
        let isReady = operation.admission.place == .ready
        if isReady { noteReadyUrgency(of: operation, by: -1) }
        forgetUrgency(of: operation)
        noteUrgency(of: operation, operation.state.current)
        if isReady { noteReadyUrgency(of: operation, by: 1) }
      }
    }
  }

  /// An operation comes into a list of ready ones, or goes out of it.
  mutating func noteReadyUrgency(of operation: Operation, by count: Int) {
    guard urgentCount > 0, operation.admission.isUrgent else { return }
    let urgency = operation.admission.urgency
    withSegment(of: operation) { $0.urgentReady.change(urgency, by: count) }
  }

  // MARK: What starts

  /// From which list of ready operations a worker of a class takes the next, if from any.
  @inline(__always)
  mutating func nextList(for workerClass: WorkerClass) -> WorkerClass? {
    if limit == .max, !hasUrgent { return workerClass }
    return nextListAmongSeveral(for: workerClass)
  }

  private mutating func nextListAmongSeveral(for workerClass: WorkerClass) -> WorkerClass? {
    if limit != .max {
      guard let list = firstReadyList else { return nil }
      return .moreUrgent(list, floor) == workerClass ? list : nil
    }
    let floor = floor
    if floor.isMoreUrgent(than: workerClass) { return nil }
    return workerClass == floor ? first.ready.firstClass(downFrom: floor) : workerClass
  }

  /// An operation starts: at no lower class than the floor.
  mutating func raiseToFloor(_ operation: Operation, _ floor: WorkerClass) {
    guard floor.isMoreUrgent(than: placement.quality(of: operation).workerClass) else { return }
    _ = operation.state.raiseQuality(level: floor.raisingLevel)
  }

  // MARK: What runs, and what was added before

  /// Raises what operations of the queue wait for, and others wait for in the queue.
  ///
  /// - Returns: What is to be raised further, once no lock is held: it runs, or waits for others itself.
  mutating func takeRaised() -> [Raised] {
    if hasUrgent {
      let floor = started >= limit ? floor : floorOfAll
      if floor != .background { raiseRunning(to: floor) }
    }
    defer { raised = [] }
    return raised
  }

  private mutating func raiseRunning(to floor: WorkerClass) {
    for workerClass in WorkerClass.allCases where floor.isMoreUrgent(than: workerClass) {
      while let reference = running[workerClass].first {
        running[workerClass].remove(reference)
        running[floor].append(reference)
        let operation = reference.operation
        operation.admission.workerClass = floor
        _ = operation.state.raiseQuality(level: floor.raisingLevel)
        raised.append(Raised(operation: operation, level: floor.raisingLevel))
      }
    }
    var found: [Operation] = []
    batches.forEach { batch in
      guard floor.isMoreUrgent(than: batch.raisedClass) else { return }
      batch.raisedClass = floor
      reclaim(batch)
      batch.forEachUnfinished { found.append($0) }
      batch.withRunning { found.append($0) }
    }
    for operation in found where operation.state.raiseQuality(level: floor.raisingLevel) != nil {
      raised.append(Raised(operation: operation, level: floor.raisingLevel))
    }
  }

  /// Raises what was added before an urgent operation that waits for all of that.
  ///
  /// - Parameter operation: The operation, which has just come or become urgent.
  mutating func raisePredecessors(of operation: Operation) {
    let urgency = operation.admission.urgency
    // What was in a batch was ready, and so was what is before it.
    guard urgency != .background, !operation.admission.wasReturned, operation.admission.place != .taken else { return }
    let reference = OperationReference(operation)
    if order == .fifo || operation.isBarrier {
      raise(from: reference.memberPrevious, before: reference.sequence, to: urgency)
      if order == .fifo { operation.admission.passedClass = urgency }
    } else if let position = laterPosition(of: operation), urgency.isMoreUrgent(than: later[position].passedClass) {
      later[position].passedClass = urgency
      raise(from: reference.memberPrevious, before: later[position].firstSequence, to: urgency)
    }
  }

  /// Something waits until the queue is empty, or holds less: all is raised to a class, as long as that is so.
  mutating func beginAwaiting(_ workerClass: WorkerClass) {
    guard workerClass.isMoreUrgent(than: awaitedClass) else { return }
    awaitedClass = workerClass
    raise(from: members.list.last, before: .max, to: workerClass)
  }

  /// Nothing waits for the queue as a whole any more.
  mutating func endAwaiting() { awaitedClass = .background }

  private mutating func raise(from last: OperationReference?, before sequence: UInt64, to urgency: WorkerClass) {
    var position = last
    while let reference = position {
      position = reference.memberPrevious
      guard reference.sequence < sequence else { continue }
      let isPassed = reference._withUnsafeGuaranteedRef { operation in
        guard urgency.isMoreUrgent(than: operation.admission.passedClass) else { return true }
        operation.admission.passedClass = urgency
        let word = operation.state.raiseQuality(level: urgency.raisingLevel)
        if let word, word.unfinishedDependencies > 0 {
          raised.append(Raised(operation: operation, level: urgency.raisingLevel))
        }
        return false
      }
      if isPassed { return }
    }
  }

  /// The class to which a dependency of an operation of the queue is raised, since others wait for the operation.
  func urgency(behind operation: Operation) -> WorkerClass {
    guard hasUrgent, operation.admission.place != .none else { return .background }
    return laterPosition(of: operation) == nil ? floorOfAll : behindBarriers.highest
  }
}
