/// Which operation of a queue may start, and when: a state machine without threads and locks.
///
/// The owner protects it with one lock and, after each change, asks for ``issueTickets()``: how many more workers may
/// come and ask for ``next(for:)``. Nothing here calls out.
///
/// Barriers cut what was added into *segments*. Only operations of the first segment may start; when all of them have
/// finished its barrier does; when that has finished, the next segment is the first.
///
/// Workers have classes, by the quality of service of what they run. A worker takes only operations of its class.
struct Admission {
  /// More tickets than this are not out at once: each worker that comes goes on while there is work.
  static let mostTickets = 64
  /// How many operations are cancelled, or end because they were, in one critical section.
  static let mostCancelled = 64
  /// How many operations that may end after their `main()` run by themselves, after one did so in a batch.
  static let mostAlone = 64
  /// How many operations that hold themselves back are asked at a time, so that adding and ending take constant time.
  static let mostAskedAgain = 64

  /// All that the queue holds.
  var members = Members()
  /// The segment whose operations may start.
  var first = AdmissionSegment(firstSequence: 0)
  /// The segments behind barriers.
  var later = FirstInFirstOut<AdmissionSegment>()
  /// Those that leave because they were cancelled, whatever they wait for; workers of the normal class take them.
  var cancelled = ReadyOperations()
  /// Those that leave because they were cancelled, but have code of their own to run for that: they wait for a place,
  /// and while the queue is suspended, and for nothing else; workers of the normal class take them, before all others.
  var cancelledWithinLimit = ReadyOperations()
  /// Those that overrides of `isReady` hold back, the one that has not been asked for longest first.
  private(set) var heldBack = OperationList<PlaceLinks>()
  private var nextSequence: UInt64 = 0
  /// How many have been started by themselves, and have not finished; those of batches are not counted.
  var runningCount = 0
  /// How many have left by themselves, and have not released their dependents; and how many of them keep their place
  /// until then, so that it is not given to what is less urgent than those.
  private var (settlingCount, keptPlaces) = (0, 0)
  /// The operations that were started one by one and have not finished, except those that leave as cancelled; by the
  /// class to which they raise others.
  var running = RunningOperations()
  /// Issued, and not yet redeemed by a worker.
  private(set) var tickets = PerClass(0)

  /// The batches that threads have taken, which they keep alive.
  var batches = ActiveBatches()

  /// How many operations that may end after their `main()` are to go into no batch.
  var aloneCount = 0

  /// The class of the most urgent caller that waits until the queue is empty, or holds less.
  var awaitedClass = WorkerClass.background
  /// The operations that have been raised, until the owner raises their threads and what they wait for.
  var raised: [Raised] = []
  /// How many operations have been passed to raise them.
  var passedCount = 0

  /// In which order operations start; with `.fifo`, the limit is 1.
  var order = QueueOrder.priority
  /// How many operations may run at a time.
  var limit = Int.max {
    didSet {
      limitChanges += 1
      reclaimBatches()
    }
  }
  /// How often the limit has been set.
  private(set) var limitChanges = 0
  var isSuspended = false {
    didSet { if isSuspended { reclaimBatches() } }
  }
  /// The queue's quality of service, and whether it matters: threads that are not the library's have no classes.
  private(set) var placement = Placement(quality: .default, hasClasses: true)

  var count: Int { members.count }
  var operations: [Operation] { members.snapshot(with: batches) }

  // MARK: What happens to operations

  /// Takes in an operation that the caller has reserved, and takes over its ownership.
  ///
  /// - Parameters:
  ///   - reference: The operation.
  ///   - isFromInbox: It comes from an inbox. Then the thread that ends it has it leave, and it is taken in even if
  ///     it has ended; unless that thread has been here before.
  /// - Returns: False if the operation has ended before it was taken in: it is not in the queue, and the caller must
  ///   release it, once no lock is held.
  mutating func add(_ reference: OperationReference, isFromInbox: Bool = false) -> Bool {
    reference._withUnsafeGuaranteedRef { operation in
      // One step with the end of the operation: either this sees that it has finished, or the thread that ends it sees
      // that it is enqueued, and has it leave.
      let isBarrier = operation.isBarrier
      let word = operation.state.markListed(isBarrier: isBarrier)
      let hasEnded = word.phase == .finished
      guard isFromInbox ? !operation.admission.hasEndedOutside : !hasEnded else { return false }
      members.append(reference)
      operation.queueLinks.sequence = nextSequence
      nextSequence += 1
      operation.admission.place = .waiting
      if isBarrier {
        withSegment(of: operation) { $0.barrier = reference }
        later.append(AdmissionSegment(firstSequence: nextSequence))
        // What comes after it may be made ready by what is before it.
        batches.forEach { $0.stopContinuing() }
      } else {
        withSegment(of: operation) { $0.unfinished += 1 }
      }
      if hasEnded {
        // It is about to leave.
      } else if word.isCancelled {
        leave(operation)
      } else if word.isWaitingForItsTurn, !isBarrier {
        noteReady(operation, word)
      } else {
        noteHeldBack(operation)
      }
      if word.hasQuality || awaitedClass != .background { raiseAdded(operation, word) }
      return true
    }
  }

  /// The operation's last dependency has finished.
  mutating func becameReady(_ operation: Operation) {
    let place = operation.admission.place
    let mayBecomeReady = (place == .waiting || place == .heldBack) && !operation.isBarrier
    guard mayBecomeReady, let word = operation.state.markReady() else { return }
    noteReady(operation, word)
  }

  private mutating func noteReady(_ operation: Operation, _ word: OperationWord) {
    if operation.admission.place == .heldBack { heldBack.remove(OperationReference(operation)) }
    let level = readyLevel(of: word)
    insertReady(operation, word, level: level)
    // What was taken and is less urgent is reclaimed, and no thread continues without having asked.
    guard !batches.isEmpty else { return }
    batches.forEach { $0.stopContinuing() }
    reclaimBatches(behind: operation, level)
  }

  /// The priority level under which an operation is among the ready ones.
  func readyLevel(of word: OperationWord) -> Int {
    order == .fifo ? QueuePriority.normal.level : word.priorityLevel
  }

  mutating func insertReady(_ operation: Operation, _ word: OperationWord, level: Int) {
    operation.admission.place = .ready
    operation.admission.workerClass = workerClass(of: operation)
    withSegment(of: operation) { $0.ready.insert(operation, level: level) }
    if word.hasQuality { noteUrgency(of: operation, word) }
  }

  mutating func removeReady(_ operation: Operation) {
    withSegment(of: operation) { $0.ready.remove(operation) }
  }

  /// The operation was cancelled: it leaves, whatever it waits for.
  mutating func leave(_ operation: Operation) {
    reclaimBatches(with: operation)
    switch operation.admission.place {
    case .ready: removeReady(operation)
    case .heldBack: heldBack.remove(OperationReference(operation))
    case .waiting: break
    case .none, .taken, .cancelled, .cancelledWithinLimit, .running, .leaving: return
    }
    guard operation.hasCodeForCancelled else {
      operation.admission.place = .cancelled
      return cancelled.insert(operation, level: QueuePriority.normal.level)
    }
    operation.admission.place = .cancelledWithinLimit
    cancelledWithinLimit.insert(operation, level: QueuePriority.normal.level)
    reclaimBatches()
  }

  /// The operation's priority, or its class, was changed.
  mutating func urgencyChanged(_ operation: Operation) {
    reclaimBatches(with: operation)
    let word = operation.state.current
    if operation.admission.place == .ready {
      let level = readyLevel(of: word)
      removeReady(operation)
      insertReady(operation, word, level: level)
      if !batches.isEmpty { reclaimBatches(behind: operation, level) }
    }
    switch operation.admission.place {
    case .waiting, .heldBack, .ready: raisePredecessors(of: operation, word)
    case .none, .taken, .cancelled, .cancelledWithinLimit, .running, .leaving: break
    }
  }

  /// The operation has finished.
  ///
  /// Gives up ownership: the caller must release the result, once no lock is held.
  ///
  /// Nil for an operation in a batch, which the batch's thread owns; and for one that is about to come into the inbox,
  /// which is not taken in any more.
  mutating func finished(_ operation: Operation) -> OperationReference? {
    guard operation.admission.place != .none else {
      operation.admission.hasEndedOutside = true
      return nil
    }
    let member = members.remove(operation)
    switch operation.admission.place {
    case .running:
      runningCount -= 1
      running[operation.admission.workerClass].remove(OperationReference(operation))
    case .ready: removeReady(operation)
    case .cancelled: cancelled.remove(operation)
    case .cancelledWithinLimit: cancelledWithinLimit.remove(operation)
    case .heldBack: heldBack.remove(OperationReference(operation))
    case .waiting, .taken, .leaving, .none: break
    }
    operation.admission.place = .none
    let isBarrier = operation.isBarrier
    withSegment(of: operation) { segment in
      if isBarrier {
        segment.barrier = nil
        segment.barrierHasFinished = true
      } else {
        segment.unfinished -= 1
      }
    }
    passFinishedBarriers()
    return member
  }

  // MARK: Held back by themselves

  /// An override of `isReady` holds the operation back.
  mutating func noteHeldBack(_ operation: Operation) {
    guard operation.state.current.isHeldBack else { return }
    switch operation.admission.place {
    case .waiting: break
    case .ready: removeReady(operation)
    case .none, .heldBack, .taken, .cancelled, .cancelledWithinLimit, .running, .leaving: return
    }
    operation.admission.place = .heldBack
    heldBack.append(OperationReference(operation))
  }

  /// The operations that hold themselves back and are to be asked now; moves them to the end of the list.
  mutating func nextHeldBack() -> [Operation] {
    guard heldBack.first != nil else { return [] }
    var asked: [Operation] = []
    while asked.count < Self.mostAskedAgain, let reference = heldBack.first, reference.operation !== asked.first {
      heldBack.remove(reference)
      heldBack.append(reference)
      asked.append(reference.operation)
    }
    return asked
  }

  // MARK: Classes

  /// Which class of workers runs an operation.
  func workerClass(of operation: Operation) -> WorkerClass { placement.workerClass(of: operation) }

  /// Sets the queue's quality of service, and whether it matters.
  ///
  /// O(*n*) in the number of ready operations, if that changes.
  mutating func setPlacement(_ placement: Placement) {
    let old = self.placement
    self.placement = placement
    reclaimBatches()
    guard old.quality != placement.quality || old.hasClasses != placement.hasClasses else { return }
    for position in 0..<later.count { later[position].sortReady(by: placement) }
    first.sortReady(by: placement)
  }

  // MARK: Tickets

  /// How many more workers of each class may come and ask for ``next(for:)``.
  mutating func issueTickets() -> PerClass<Int> {
    let startable = countStartable()
    var new = PerClass(0)
    PerClass<Int>.forEachClass { workerClass in
      let missing = min(startable[workerClass], Self.mostTickets) - tickets[workerClass]
      guard missing > 0 else { return }
      new[workerClass] = missing
      tickets[workerClass] += missing
    }
    return new
  }

  /// A thread that is here will ask once more, without being sent for.
  mutating func issueTicket(_ workerClass: WorkerClass) { tickets[workerClass] += 1 }

  /// Takes back all tickets, whose workers may still come.
  mutating func withdrawTickets() -> PerClass<Int> {
    defer { tickets = PerClass(0) }
    return tickets
  }

  /// A worker is here and asks for itself, or will not come.
  mutating func redeemTicket(_ workerClass: WorkerClass) {
    tickets[workerClass] -= 1
    assert(tickets[workerClass] >= 0)
  }

  /// Whether a thread will take the inbox in before what is put there could be started: a worker of the queue's class
  /// is on its way; or as many operations run as may, and one of them has to end first.
  var servesInbox: Bool {
    tickets[.moreUrgent(placement.ownClass, floor)] > 0
      || (started >= limit && started > 0 && !isSuspended)
  }

  /// As ``countStartable()``, by way of a copy.
  var startable: PerClass<Int> {
    var copy = self
    return copy.countStartable()
  }

  var hasStartable: Bool { !startable.isZero }

  /// How many operations workers of each class could start at this moment.
  ///
  /// With a limit, operations of different classes start in one order: of those that are ready, only the ones of the
  /// class of the first count, or the ones that are held to the ``floor`` as the first is.
  mutating func countStartable() -> PerClass<Int> {
    // Mutating although it changes nothing: a getter would get a copy of the whole structure, at every update.
    var counts = PerClass(0)
    if !isSuspended, started < limit {
      if limit == .max {
        counts = first.ready.counts
      } else if let turn {
        let isHeld = turn.workerClass == floor
        counts[turn.workerClass] = isHeld ? first.ready.count(downFrom: floor) : first.ready.count(turn.list)
      }
      // What is in batches is there for other workers, too, and so is what became ready by them.
      batches.forEach { counts[$0.workerClass] += $0.startable }
      if let barrier = startableBarrier { counts[workerClass(of: barrier)] += 1 }
      counts[.normal] += cancelledWithinLimit.count
      let places = limit - started
      PerClass<Int>.forEachClass { counts[$0] = min(counts[$0], places) }
    }
    counts[.normal] += cancelled.count
    return counts
  }

  /// The class of the operation that a queue with a limit starts next; nil for none.
  var turn: Turn? {
    mutating get {
      guard cancelledWithinLimit.isEmpty else { return Turn(list: .normal, workerClass: .normal) }
      guard let list = firstReadyClass else { return nil }
      return Turn(list: list, workerClass: .moreUrgent(list, floor))
    }
  }

  private var firstReadyClass: WorkerClass? {
    mutating get {
      guard order == .fifo else { return first.ready.firstClass }
      // No other overtakes it: it has the least number, and so is the first of its class, too.
      return members.first?._withUnsafeGuaranteedRef { $0.admission.place == .ready ? $0.admission.workerClass : nil }
    }
  }

  @inline(__always)
  private var startableBarrier: Operation? {
    guard first.unfinished == 0, let barrier = first.barrier?.operation else { return nil }
    return barrier.admission.place == .waiting && barrier.state.current.isStartable ? barrier : nil
  }

  /// How many operations have been started, the cancelled ones not counted: a batch counts as one, since its thread
  /// runs one after the other.
  var started: Int { runningCount + batches.count + keptPlaces }

  /// What an operation keeps that has left, until it has released its dependents.
  enum Settling {
    case nothing
    /// The queue does not count as done.
    case presence
    /// The same, and a place of the limit.
    case place
  }

  /// An operation has left that may have dependents.
  ///
  /// - Parameter startedCount: How many were started before it left.
  /// - Returns: What it keeps until ``end(_:)``.
  mutating func beginSettling(startedBefore startedCount: Int) -> Settling {
    settlingCount += 1
    guard limit != .max, started < startedCount else { return .presence }
    keptPlaces += 1
    return .place
  }

  /// It has released its dependents.
  mutating func end(_ settling: Settling) {
    if settling != .nothing { settlingCount -= 1 }
    if settling == .place { keptPlaces -= 1 }
  }

  /// Whether it holds nothing, and what it held has released its dependents.
  ///
  /// Where this is false and nothing is held, another change of the state follows.
  var isDone: Bool { count == 0 && settlingCount == 0 && !batches.contains { $0.isSettling } }

  // MARK: Starting

  /// The operation that a worker of a class starts now, already claimed, or nil.
  mutating func next(for workerClass: WorkerClass) -> Operation? {
    while workerClass == .normal, let operation = cancelled.popFirst()?.operation {
      if operation.state.claim() {
        operation.admission.place = .leaving
        return operation
      }
      operation.admission.place = .waiting
    }
    guard !isSuspended, started < limit else { return nil }
    while workerClass == .normal, let operation = cancelledWithinLimit.popFirst()?.operation {
      if operation.state.claim() { return begin(operation) }
      operation.admission.place = .waiting
    }
    while let list = nextList(for: workerClass), let reference = first.ready.popFirst(list) {
      let operation = reference.operation
      if operation.state.claim() {
        if limit != .max { raiseToFloor(operation) }
        return begin(operation)
      }
      // It was given a dependency after it had become ready, or holds itself back, or has finished without being
      // started.
      operation.admission.place = .waiting
      noteHeldBack(operation)
    }
    if let barrier = startableBarrier, self.workerClass(of: barrier) == workerClass, barrier.state.claim() {
      return begin(barrier)
    }
    return nil
  }

  /// Ends cancelled operations that have nothing of their own to run for that, and of whose end nobody has to hear.
  ///
  /// - Parameter body: Takes over the ownership of each: it is to be released, once no lock is held.
  /// - Returns: Whether there was one.
  mutating func endCancelled(_ body: (OperationReference) -> Void) -> Bool {
    var count = 0
    while count < Self.mostCancelled, let (reference, _) = cancelled.first,
      reference._withUnsafeGuaranteedRef({ $0.isPlainBlock && $0.state.finishCancelledPlainly() }),
      let member = reference._withUnsafeGuaranteedRef({ finished($0) })
    {
      body(member)
      count += 1
    }
    return count > 0
  }

  /// Counts an operation that has been claimed as started by itself.
  mutating func begin(_ operation: Operation) -> Operation {
    operation.admission.place = .running
    if aloneCount > 0, operation.mayEndLater { aloneCount -= 1 }
    runningCount += 1
    operation.admission.workerClass = placement.raisingClass(of: operation.state.current)
    running[operation.admission.workerClass].append(OperationReference(operation))
    return operation
  }
}
