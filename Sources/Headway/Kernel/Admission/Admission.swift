import Synchronization

/// Decides which operation of a queue can start, and when.
///
/// A state machine without threads. The owner protects it with one lock. After each change, it calls
/// ``issueTickets()``, which returns how many more workers may arrive and call ``next(for:)``. This type takes no locks
/// and calls no code outside, except its ``policy``.
///
/// Barriers divide the added operations into *segments*. Only operations of the first segment can start. When all of
/// them have finished, its barrier starts. When the barrier has finished, the next segment becomes the first.
///
/// Workers have classes, by the quality of service of the operations that they run. A worker takes only operations of
/// its class.
struct Admission: ~Copyable {
  /// The maximum number of outstanding tickets: each worker that arrives continues while there is work.
  static let mostTickets = 64
  /// How many cancelled operations end in one critical section.
  static let mostCancelled = 64
  /// After an operation has had to leave a batch, how many operations of this kind run on their own.
  static let mostAlone = 64
  /// How many operations are reevaluated at a time if their overrides hold them back.
  ///
  /// The limit lets adding and ending take constant time.
  static let mostReevaluated = 64

  /// Makes the compiler pass the address of this structure to methods that only read it, instead of copying its bytes.
  ///
  /// See `Docs/decisions/0038-states-at-one-address.md`.
  private let address = Atomic<Bool>(false)

  /// All operations of the queue, except for blocks that have no operation yet.
  var members = Members()
  /// The blocks that have no operations yet.
  var waitingBlocks = WaitingBlocks()
  /// The segment that contains the operations that can start.
  var first = AdmissionSegment(firstSequence: 0)
  /// The segments behind barriers.
  var later = FirstInFirstOut<AdmissionSegment>()
  /// The operations that leave because they were cancelled, even if they wait for others.
  ///
  /// Workers of the normal class take them.
  var cancelled = ReadyOperations()
  /// The cancelled operations that have their own code to run before they leave.
  ///
  /// They wait for a concurrency slot, and until the queue is no longer suspended. They do not wait for anything else.
  /// Workers of the normal class take them before all others.
  var cancelledWithinLimit = ReadyOperations()
  /// The policy that also decides about starts; nil in most queues.
  var policy: (any AdmissionPolicy)?
  /// How many operations the policy has granted their start.
  ///
  /// They have a slot and wait for a worker.
  private(set) var grantedCount = 0
  /// The operations that overrides of `isReady` hold back.
  ///
  /// The first is the operation whose override was evaluated longest ago.
  private(set) var heldBack = OperationList<PlaceLinks>()
  /// The next number for an operation, or for the turn of a lane.
  var nextSequence: UInt64 = 0
  /// How many operations have been started separately and have not finished.
  ///
  /// Operations of batches are not counted.
  var runningCount = 0
  /// How many operations have left separately and have not released their dependents, and how many of them keep their
  /// slot until then.
  ///
  /// They keep the slot so that it is not given to operations that are less urgent than their dependents.
  private var (settlingCount, keptPlaces) = (0, 0)
  /// The operations that were started one by one and have not finished, except cancelled ones that leave.
  ///
  /// They are grouped by the class that they raise others to.
  var running = RunningOperations()
  /// Tickets that were issued, and that workers have not yet redeemed.
  private(set) var tickets = PerClass(0)

  /// The batches that threads have taken.
  ///
  /// The threads keep them alive.
  var batches = ActiveBatches()

  /// How many operations that may have to leave a batch must not be in one.
  var aloneCount = 0

  /// The class of the most urgent caller that waits until the queue is empty, or holds fewer operations.
  var awaitedClass = WorkerClass.background
  /// The operations that have been raised, until the owner raises their threads and the operations that they wait for.
  var raised: [Raised] = []
  /// How many operations have been passed to raise them.
  var passedCount = 0

  /// How the queue chooses the next operation to start.
  ///
  /// With `.fifo`, the limit is 1.
  var order = QueueOrder.priority
  /// How many operations can run at the same time.
  var limit = Int.max {
    didSet {
      limitChanges += 1
      reclaimBatches()
    }
  }
  /// How often the limit has been set.
  private(set) var limitChanges = 0
  /// How many operations a rate limit allows to start now.
  ///
  /// The policy sets it whenever it may have changed.
  var allowance = Int.max {
    didSet { reclaimBatches() }
  }
  var isSuspended = false {
    didSet { if isSuspended { reclaimBatches() } }
  }
  /// The number of calls that keep operations from starting until all operations have been stopped.
  ///
  /// See ``StoppedOperations``.
  var stopCount = 0 {
    didSet { if stopCount > oldValue { reclaimBatches() } }
  }
  /// Whether no operation may start, except cancelled ones that leave.
  var startsNone: Bool { isSuspended || stopCount > 0 }
  /// The queue's quality of service, and whether it matters: threads that are not Headway's have no classes.
  private(set) var placement = Placement(quality: .default, hasClasses: true)

  var count: Int { members.count + waitingBlocks.count }

  /// All operations, in insertion order.
  var operations: [Operation] {
    mutating get {
      makeOperations()
      return madeOperations
    }
  }

  /// The operations, in insertion order, excluding blocks that have no operation yet.
  var madeOperations: [Operation] { members.snapshot(with: batches) }

  // MARK: Events of operations

  /// Adds an operation that the caller has reserved, and that the queue owns from then on.
  ///
  /// - Parameters:
  ///   - reference: The operation to add.
  ///   - isFromInbox: Whether the inbox contained it. In that case, the thread that ends it removes it from the queue.
  ///     It is added even if it has ended, unless that thread was first.
  /// - Returns: False if the operation ended before it was added. In that case, it is not in the queue, and the caller
  ///   must release it when no lock is held.
  mutating func add(_ reference: OperationReference, isFromInbox: Bool = false) -> Bool {
    reference._withUnsafeGuaranteedRef { operation in
      // One atomic step, ordered with the end of the operation: either this thread sees that the operation has
      // finished, or the finishing thread sees that it is enqueued and removes it.
      let isBarrier = operation.isBarrier
      // Before the operation is listed: a thread that finds it listed can read its number.
      operation.queueLinks.sequence = nextSequence
      let word = operation.state.markListed(isBarrier: isBarrier)
      let hasEnded = word.phase == .finished
      guard isFromInbox ? !operation.admission.hasEndedOutside : !hasEnded else { return false }
      members.append(reference)
      nextSequence += 1
      if operation.hasGate { _ = policyCreatedIfNeeded }
      operation.admission.place = .waiting
      if isBarrier {
        makeOperations()
        withSegment(of: operation) { $0.barrier = reference }
        later.append(AdmissionSegment(firstSequence: nextSequence))
        // A later operation may become ready as a result of an earlier one.
        batches.forEach { $0.stopContinuing() }
      } else {
        withSegment(of: operation) { $0.unfinished += 1 }
      }
      if hasEnded {
        // The operation is about to leave.
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

  /// Records that the operation's last dependency has finished.
  mutating func becameReady(_ operation: Operation) {
    let place = operation.admission.place
    let mayBecomeReady = (place == .waiting || place == .heldBack || place == .gated) && !operation.isBarrier
    guard mayBecomeReady, let word = operation.state.markReady() else { return }
    // The operation requests its resources again when its turn comes.
    if place == .gated { policy?.withdraw(operation, from: &self) }
    // Its dependencies have finished, and its policy holds it back.
    if operation.hasGate, word.isHeldBack { return noteHeldBack(operation) }
    noteReady(operation, word)
  }

  private mutating func noteReady(_ operation: Operation, _ word: OperationWord) {
    if operation.admission.place == .heldBack { heldBack.remove(OperationReference(operation)) }
    let level = readyLevel(of: word)
    insertReady(operation, word, level: level)
    // Less urgent operations in batches are reclaimed, and no thread continues without requesting work first.
    guard !batches.isEmpty else { return }
    batches.forEach { $0.stopContinuing() }
    reclaimBatches(behind: operation, level)
  }

  /// The priority level of an operation among the ready ones.
  func readyLevel(of word: OperationWord) -> Int {
    order == .fifo ? QueuePriority.normal.level : word.priorityLevel
  }

  mutating func insertReady(_ operation: Operation, _ word: OperationWord, level: Int, turn: UInt64? = nil) {
    operation.admission.place = .ready
    operation.admission.workerClass = workerClass(of: operation)
    if operation.hasGate, policy?.insertReady(operation, word, level: level, turn: turn, into: &self) == true { return }
    withSegment(of: operation) { $0.ready.insert(operation, level: level) }
    if word.hasQuality { noteUrgency(of: operation, word) }
  }

  mutating func removeReady(_ operation: Operation) {
    if operation.hasGate, policy?.removeReady(operation, from: &self) == true { return }
    withSegment(of: operation) { $0.ready.remove(operation) }
  }

  /// Moves a ready operation to the class and the level that it belongs to now.
  mutating func moveReady(_ operation: Operation, _ word: OperationWord, level: Int) {
    if operation.hasGate, policy?.moveReady(operation, word, level: level, in: &self) == true { return }
    removeReady(operation)
    insertReady(operation, word, level: level)
  }

  /// Makes a cancelled operation leave, even if it waits for others.
  mutating func leave(_ operation: Operation) {
    reclaimBatches(with: operation)
    switch operation.admission.place {
    case .ready: removeReady(operation)
    case .heldBack: heldBack.remove(OperationReference(operation))
    case .granted: policy?.removeGranted(operation, from: &self)
    case .waiting, .gated: break
    case .none, .taken, .cancelled, .cancelledWithinLimit, .running, .leaving: return
    }
    if operation.hasGate { policy?.leave(operation, from: &self) }
    guard operation.hasCodeForCancelled else {
      operation.admission.place = .cancelled
      return cancelled.insert(operation, level: QueuePriority.normal.level)
    }
    operation.admission.place = .cancelledWithinLimit
    cancelledWithinLimit.insert(operation, level: QueuePriority.normal.level)
    reclaimBatches()
  }

  /// Records a change of the operation's priority or its class.
  mutating func urgencyChanged(_ operation: Operation) {
    reclaimBatches(with: operation)
    let word = operation.state.current
    if operation.admission.place == .ready {
      let level = readyLevel(of: word)
      moveReady(operation, word, level: level)
      if !batches.isEmpty { reclaimBatches(behind: operation, level) }
    }
    switch operation.admission.place {
    case .waiting, .heldBack, .gated, .ready: raisePredecessors(of: operation, word)
    case .granted: policy?.moveGranted(operation, in: &self)
    case .none, .taken, .cancelled, .cancelledWithinLimit, .running, .leaving: break
    }
  }

  /// Removes an operation that has finished.
  ///
  /// Gives up ownership: the caller must release the result when no lock is held.
  ///
  /// Returns nil for an operation in a batch, which the batch's thread owns. Also returns nil for an operation that is
  /// about to be pushed to the inbox, which is no longer added.
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
    case .granted: policy?.removeGranted(operation, from: &self)
    case .waiting, .gated, .taken, .leaving, .none: break
    }
    if operation.hasGate { policy?.leave(operation, from: &self) }
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

  // MARK: Held back by their own `isReady`

  /// Records that an override of `isReady`, or its policy, holds the operation back.
  mutating func noteHeldBack(_ operation: Operation) {
    guard operation.state.current.isHeldBack else { return }
    switch operation.admission.place {
    case .waiting: break
    case .ready: removeReady(operation)
    case .none, .heldBack, .gated, .granted, .taken, .cancelled, .cancelledWithinLimit, .running, .leaving: return
    }
    // A policy notifies the queue itself. An override has to be evaluated again.
    if operation.hasGate, !operation.overridesIsReady { return operation.admission.place = .gated }
    operation.admission.place = .heldBack
    heldBack.append(OperationReference(operation))
  }

  /// Returns the operations whose overrides hold them back and must be evaluated now.
  ///
  /// Moves them to the end of the list.
  mutating func nextHeldBack() -> [Operation] {
    guard heldBack.first != nil else { return [] }
    var asked: [Operation] = []
    while asked.count < Self.mostReevaluated, let reference = heldBack.first, reference.operation !== asked.first {
      heldBack.remove(reference)
      heldBack.append(reference)
      asked.append(reference.operation)
    }
    return asked
  }

  // MARK: Classes

  /// The class of workers that runs an operation.
  func workerClass(of operation: Operation) -> WorkerClass { placement.workerClass(of: operation) }

  /// Sets the queue's quality of service, and whether it matters.
  ///
  /// O(*n*) in the number of ready operations, if the placement changes.
  mutating func setPlacement(_ placement: Placement) {
    let old = self.placement
    self.placement = placement
    reclaimBatches()
    guard old.quality != placement.quality || old.hasClasses != placement.hasClasses else { return }
    for position in 0..<later.count { later[position].ready.sort(by: placement) }
    if let policy { policy.sortReady(in: &self) } else { first.ready.sort(by: placement) }
    if awaitedClass.isMoreUrgent(than: placement.ownClass) { makeOperations() }
  }

  // MARK: Tickets

  /// Issues tickets: returns how many more workers of each class may arrive and call ``next(for:)``.
  mutating func issueTickets() -> PerClass<Int> {
    if hasOneOrder { makeOperationsIfNext() }
    let startable = startable
    var new = PerClass(0)
    PerClass<Int>.forEachClass { workerClass in
      let missing = min(startable[workerClass], Self.mostTickets) - tickets[workerClass]
      guard missing > 0 else { return }
      new[workerClass] = missing
      tickets[workerClass] += missing
    }
    return new
  }

  /// Issues a ticket for a thread that is already here and will request work once more.
  mutating func issueTicket(_ workerClass: WorkerClass) { tickets[workerClass] += 1 }

  /// Withdraws all tickets.
  ///
  /// Their workers can still arrive.
  mutating func withdrawTickets() -> PerClass<Int> {
    defer { tickets = PerClass(0) }
    return tickets
  }

  /// Redeems the ticket of a worker that has arrived and requests work, or that will not arrive.
  mutating func redeemTicket(_ workerClass: WorkerClass) {
    tickets[workerClass] -= 1
    assert(tickets[workerClass] >= 0)
  }

  /// Whether a thread will empty the inbox before an operation in it could start.
  ///
  /// This is true in two cases. A worker is on its way. Its class is the queue's own, or the ``floor`` if that is more
  /// urgent. Or the limit is reached and the queue is not suspended, so one of the running operations must end first.
  var servesInbox: Bool {
    tickets[.moreUrgent(placement.ownClass, floor)] > 0
      || (started >= limit && started > 0 && !startsNone)
  }

  var hasStartable: Bool { !startable.isZero }

  /// Whether operations could start if the rate limit allowed it.
  var waitsForAllowance: Bool {
    allowance == 0 && !startsNone && started < limit && !countStartable(allowance: .max).isZero
  }

  /// How many operations workers of each class could start now.
  ///
  /// If operations of different classes start in one order, only the ready operations with the class of the first one
  /// count. If the first one is held to the ``floor``, all operations that are held to it count.
  var startable: PerClass<Int> { countStartable(allowance: allowance) }

  private func countStartable(allowance: Int) -> PerClass<Int> {
    var counts = PerClass(0)
    if !startsNone, started < limit {
      if !hasOneOrder {
        counts = first.ready.counts
        counts[placement.ownClass] += waitingBlocks.count
      } else if let nextStart {
        let isHeld = nextStart.workerClass == floor
        counts[nextStart.workerClass] = isHeld ? readyCount(downFrom: floor) : readyCount(nextStart.list)
      }
      // Operations in batches, and operations that the batches made ready, are available to other workers.
      batches.forEach { counts[$0.workerClass] += $0.startable }
      if let barrier = startableBarrier { counts[workerClass(of: barrier)] += 1 }
      if allowance != .max { PerClass<Int>.forEachClass { counts[$0] = min(counts[$0], allowance) } }
      // The rate limit does not apply to operations that leave.
      counts[.normal] += cancelledWithinLimit.count
      let places = limit - started
      PerClass<Int>.forEachClass { counts[$0] = min(counts[$0], places) }
    }
    counts[.normal] += cancelled.count
    if grantedCount > 0, stopCount == 0, let policy {
      PerClass<Int>.forEachClass { counts[$0] += policy.grantedCount($0) }
    }
    return counts
  }

  /// The next start of a queue with one order; nil if no operation can start.
  var nextStart: NextStart? {
    guard cancelledWithinLimit.isEmpty else { return NextStart(list: .normal, workerClass: .normal) }
    guard let list = firstReadyClass else { return nil }
    return NextStart(list: list, workerClass: .moreUrgent(list, floor))
  }

  /// The most urgent class that has an operation to start, or nil.
  ///
  /// See `Docs/decisions/0020-order-of-adding.md`.
  private var firstReadyClass: WorkerClass? {
    guard order == .fifo else { return first.ready.firstClass }
    // No other operation overtakes it: it has the lowest number, so it is also the first of its class.
    return members.first?._withUnsafeGuaranteedRef { $0.admission.place == .ready ? $0.admission.workerClass : nil }
  }

  @inline(__always)
  private var startableBarrier: Operation? {
    guard first.unfinished == 0, let barrier = first.barrier?.operation else { return nil }
    return barrier.admission.place == .waiting && barrier.state.current.isStartable ? barrier : nil
  }

  /// How many operations have been started, except cancelled ones.
  ///
  /// A batch counts as one, because its thread runs one operation after another.
  var started: Int { runningCount + batches.count + keptPlaces }

  /// The resources that an operation that has left keeps, until it has released its dependents.
  enum Settling {
    case nothing
    /// The queue does not count as done.
    case presence
    /// The queue does not count as done, and the operation keeps its concurrency slot.
    case place
  }

  /// Notes that an operation that may have dependents has left.
  ///
  /// - Parameter startedCount: How many operations counted as started before it left.
  /// - Returns: The resources that it keeps until ``end(_:)``.
  mutating func beginSettling(startedBefore startedCount: Int) -> Settling {
    settlingCount += 1
    guard limit != .max, started < startedCount else { return .presence }
    keptPlaces += 1
    return .place
  }

  /// Whether another operation may start now.
  var hasRoom: Bool { !startsNone && started < limit && allowance > 0 }

  /// Notes that an operation was granted its start, or no longer is: it keeps a slot until it begins.
  mutating func changeGrantedCount(by count: Int) {
    grantedCount += count
    keptPlaces += count
  }

  /// Notes that an operation has released its dependents.
  mutating func end(_ settling: Settling) {
    if settling != .nothing { settlingCount -= 1 }
    if settling == .place { keptPlaces -= 1 }
  }

  /// Whether the queue is empty, and the operations that have left it have released their dependents.
  ///
  /// If this is false and the queue is empty, another change of the state follows.
  var isDone: Bool { count == 0 && settlingCount == 0 && !batches.contains { $0.isSettling } }

  // MARK: Starting

  /// Claims the operation that a worker of a class starts now.
  ///
  /// - Parameters:
  ///   - workerClass: The class of the worker.
  ///   - now: The time of the queue's clock, if limits depend on it.
  /// - Returns: The operation, or nil if there is none for this worker.
  mutating func next(for workerClass: WorkerClass, at now: ClockTime = .min) -> Operation? {
    while workerClass == .normal, let operation = cancelled.popFirst()?.operation {
      if operation.state.claim() {
        operation.admission.place = .leaving
        return operation
      }
      operation.admission.place = .waiting
    }
    if grantedCount > 0, stopCount == 0, let operation = policy?.nextGranted(for: workerClass, at: now, in: &self) {
      return begin(operation, at: now)
    }
    guard !startsNone, started < limit else { return nil }
    while workerClass == .normal, let operation = cancelledWithinLimit.popFirst()?.operation {
      if operation.state.claim() { return begin(operation) }
      operation.admission.place = .waiting
    }
    guard allowance > 0 else { return nil }
    while let reference = popReady(for: workerClass) {
      let operation = reference.operation
      if operation.hasGate, policy?.mayStart(operation, at: now, in: &self) == false { continue }
      if operation.hasPause || operation.state.claim() {
        if hasOneOrder { raiseToFloor(operation) }
        return begin(operation, at: now)
      }
      if operation.hasGate { policy?.failToStart(operation, in: &self) }
      // After the operation became ready, a dependency was added to it, its own `isReady` held it back, or it finished
      // without being started.
      operation.admission.place = .waiting
      noteHeldBack(operation)
    }
    if let barrier = startableBarrier, self.workerClass(of: barrier) == workerClass, barrier.state.claim() {
      return begin(barrier, at: now)
    }
    return nil
  }

  private mutating func popReady(for workerClass: WorkerClass) -> OperationReference? {
    makeOperationsIfNext()
    return nextList(for: workerClass).flatMap { first.ready.popFirst($0) }
  }

  /// Ends cancelled operations that have no cancellation code of their own and no observers.
  ///
  /// - Parameter body: Takes over the ownership of each operation. The caller must release it when no lock is held.
  /// - Returns: Whether there was such an operation.
  mutating func endCancelled(_ body: (OperationReference) -> Void) -> Bool {
    var count = 0
    while count < Self.mostCancelled, let (reference, _) = cancelled.first,
      reference._withUnsafeGuaranteedRef({ $0.isPlainBlock && $0.state.finishCancelledPlainly() }),
      let member = reference._withUnsafeGuaranteedRef({ finished($0) })
    {
      member._withUnsafeGuaranteedRef { $0.note(.cancelledPlainly, in: nil) }
      body(member)
      count += 1
    }
    return count > 0
  }

  /// Counts a claimed operation as started separately, including in the policy.
  private mutating func begin(_ operation: Operation, at now: ClockTime) -> Operation {
    // It is no longer in a list, and the policy can raise it.
    _ = begin(operation)
    policy?.noteStart(of: operation, at: now, in: &self)
    return operation
  }

  /// Counts a claimed operation as started separately.
  mutating func begin(_ operation: Operation) -> Operation {
    operation.admission.place = .running
    if aloneCount > 0, operation.mayLeaveBatch { aloneCount -= 1 }
    runningCount += 1
    operation.admission.workerClass = placement.raisingClass(of: operation.state.current)
    running[operation.admission.workerClass].append(OperationReference(operation))
    return operation
  }
}
