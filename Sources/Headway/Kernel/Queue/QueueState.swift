import Dispatch
import Synchronization

/// The state of a queue, protected by the queue's lock.
///
/// It is noncopyable because it is large. See `Docs/decisions/0038-states-at-one-address.md`.
struct QueueState: ~Copyable {
  var admission = Admission()
  var name: String?
  var maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
  var underlyingQueue: DispatchQueue?
  /// The executor that runs the operations instead of the pool.
  var executor: (any WorkExecutor)?
  /// Runs the jobs of an actor.
  ///
  /// Exists only if the order is `.fifo`.
  var serialExecutor: QueueSerialExecutor?
  /// The callers that wait until the queue is empty.
  var waiters = WaiterList()
  /// The tasks that also wait until the ends are reported.
  var reportWaiters = WaiterList()
  /// The ended operations whose reports have not returned.
  ///
  /// The key is the report, or the operation for a report of its failure: see ``EndReport``.
  var reports = KeyedList<ObjectIdentifier, Operation>()
  /// The tasks that wait until the queue holds fewer operations.
  var producers = WaitingAdditions()
  /// The handler that is called when an operation has failed.
  var failureHandler: (@Sendable (Operation, any Error) -> Void)?
  /// Whether the queue no longer accepts operations, except jobs of tasks.
  var isClosed = false
  /// Whether operations that are in the inbox from now on were added after the queue was closed.
  ///
  /// Set after ``isClosed``: the operations that were pushed before that are accepted. Jobs of tasks are always
  /// accepted.
  var rejectsInbox = false
  /// Whether a worker that found no work waits for more at ``OperationQueue/spinSignal``.
  var hasSpinningWorker = false
  /// The value of ``OperationQueue/servesInbox``.
  var servesInbox = false
  var followers = QueueFollowers()

  var qualityOfService: QualityOfService { admission.placement.quality }

  /// Removes and returns the references to user objects, because the queue is being freed.
  mutating func takeUserObjects() -> some Any {
    (failureHandler.take(), followers.takeUserObjects())
  }

  /// Whether an executor or a dispatch queue runs the operations instead of the pool.
  var runsElsewhere: Bool { executor != nil || underlyingQueue != nil }

  /// Whether threads may take batches of operations: no follower or waiter needs each operation separately.
  var allowsBatches: Bool {
    followers.mask.isDisjoint(with: .ofSingleOperations) && underlyingQueue == nil && admission.heldBack.first == nil
      && !producers.areWaiting && admission.allowance == .max
  }

  /// Whether operations may be added through the inbox: no observer needs each operation immediately.
  private var allowsInbox: Bool {
    !isObserved && underlyingQueue == nil && executor == nil && admission.heldBack.first == nil && !isClosed
  }

  /// Whether callers wait until the queue is empty, or holds fewer operations.
  var isAwaited: Bool { hasWaiters || producers.areWaiting }

  /// Stops raising operations for callers that wait, if none do.
  mutating func endAwaitingIfNoneWaits() { if !isAwaited { admission.endAwaiting() } }

  /// Removes a task that waits until the queue is empty, if it has not been woken.
  mutating func removeWaiter(_ identifier: UInt64) -> Waiter? {
    defer { endAwaitingIfNoneWaits() }
    return waiters.remove(identifier) ?? reportWaiters.remove(identifier)
  }

  /// Removes a task that waits until the queue holds fewer operations, if it has not been woken.
  mutating func removeProducer(_ identifier: UInt64) -> Waiter? {
    defer { endAwaitingIfNoneWaits() }
    return producers.remove(identifier)
  }

  /// Sets the quality of service, taking into account whether the pool runs the operations.
  mutating func setPlacement(quality: QualityOfService) {
    let hasClasses = underlyingQueue == nil && executor == nil
    admission.setPlacement(Placement(quality: quality, hasClasses: hasClasses))
  }

  /// Counts the changes of the executor or dispatch queue that runs the operations.
  private(set) var generation = 0
  /// Tickets that workers of a class, or the executor, received before the last such change and have not redeemed.
  private var staleTickets = PerClass(0)
  private var staleExecutorTickets = 0
  /// Whether operations were collected whose release can run user code.
  private var hasCollectedUserObjects = false

  /// Returns whether that was true since the last call.
  mutating func takeHasCollectedUserObjects() -> Bool {
    defer { hasCollectedUserObjects = false }
    return hasCollectedUserObjects
  }

  /// Prepares a change of the executor or dispatch queue that runs the operations: all outstanding tickets become
  /// invalid.
  mutating func beginGeneration() {
    generation += 1
    let tickets = admission.withdrawTickets()
    if executor != nil {
      staleExecutorTickets += tickets[.normal]
    } else if underlyingQueue == nil {
      PerClass<Int>.forEachClass { staleTickets[$0] += tickets[$0] }
    }
  }

  /// Changes the executor or dispatch queue that runs the operations.
  ///
  /// None of the operations has started.
  ///
  /// - Parameter change: Replaces the executor or dispatch queue, and returns the previous one.
  /// - Returns: The result of `change`. The caller must release it after the lock.
  mutating func changeRunner<Runner>(_ change: (inout QueueState) -> Runner) -> Runner {
    beginGeneration()
    let previous = change(&self)
    setPlacement(quality: qualityOfService)
    return previous
  }

  /// Redeems the ticket of a visitor.
  ///
  /// - Returns: False if the ticket is no longer valid.
  mutating func redeemTicket(of visitor: Visit.Visitor) -> Bool {
    switch visitor {
    case .pool(let workerClass):
      guard staleTickets[workerClass] == 0 else {
        staleTickets[workerClass] -= 1
        return false
      }
    case .executor:
      guard staleExecutorTickets == 0 else {
        staleExecutorTickets -= 1
        return false
      }
    case .underlyingQueue(let generation):
      guard generation == self.generation else { return false }
    }
    admission.redeemTicket(visitor.workerClass)
    return true
  }

  /// The kind of visitor that should run the operations of a class.
  func expectedVisitor(_ workerClass: WorkerClass) -> Visit.Visitor {
    if executor != nil { return .executor }
    return underlyingQueue != nil ? .underlyingQueue(generation: generation) : .pool(workerClass)
  }

  // MARK: Adding

  /// Empties the inbox into the lists.
  ///
  /// - Parameters:
  ///   - inbox: The inbox of the queue.
  ///   - released: Receives the operations that the caller must release when no lock is held.
  mutating func takeIn(_ inbox: borrowing Inbox, _ released: inout ReleasedOperations) {
    inbox.takeAll { addition in
      let count = admission.count
      let operation: OperationReference
      switch addition {
      case .operation(let added): operation = added
      case .block(let block):
        if !rejectsInbox, keep(block) { return }
        operation = AddedBlock.makeOperation(of: block, isEnqueued: true)
      }
      let isRejected = rejectsInbox && operation._withUnsafeGuaranteedRef { $0.isCancellable }
      guard !isRejected, add(operation, isFromInbox: true) else { return released.append(refused: operation) }
      if followers.observers != nil { noteCount(since: count) }
    }
  }

  /// Adds a block that gets its operation later, unless something needs the operation now.
  ///
  /// - Returns: Whether the block was added.
  private mutating func keep(_ block: UnsafeMutablePointer<AddedBlock>) -> Bool {
    !needsOperations && admission.add(block)
  }

  /// Whether each block needs an operation from the beginning, for the observers and listeners of the queue.
  private var needsOperations: Bool { !followers.mask.isDisjoint(with: [.observers, .events]) }

  /// Adds an operation that was reserved.
  ///
  /// Takes over its ownership.
  ///
  /// - Returns: False if the operation ended before it was added. In that case, the caller must release it when no lock
  ///   is held.
  mutating func add(_ operation: OperationReference, isFromInbox: Bool = false) -> Bool {
    guard admission.add(operation, isFromInbox: isFromInbox) else { return false }
    if followers.contains(.events) { followers.append(additionOf: operation.operation) }
    return true
  }

  /// The result of an addition without the inbox.
  enum Acceptance {
    /// The operation is in the lists.
    case accepted
    /// The operation ended before it was added. The caller must release the operation when no lock is held.
    case ended
    /// The queue is closed. The caller must pass the operation to ``OperationQueue/reject(_:)-(OperationReference)``.
    case rejected
  }

  /// Unless the queue is closed, adds an operation that was reserved and takes over its ownership.
  mutating func accept(_ operation: OperationReference) -> Acceptance {
    // A task can't end without its jobs.
    if isClosed, operation._withUnsafeGuaranteedRef({ $0.isCancellable }) { return .rejected }
    return add(operation) ? .accepted : .ended
  }

  /// Unless the queue is closed, adds an operation or a block and takes over its ownership.
  ///
  /// - Returns: The operation that the caller must pass to ``OperationQueue/reject(_:)-(OperationReference)``, because
  ///   the queue is closed; nil if the addition is in the queue.
  mutating func accept(_ addition: Addition) -> OperationReference? {
    let operation: OperationReference
    switch addition {
    case .operation(let added): operation = added
    case .block(let block):
      if !isClosed, keep(block) { return nil }
      operation = AddedBlock.makeOperation(of: block, isEnqueued: false)
    }
    let acceptance = accept(operation)
    assert(acceptance != .ended, "no other thread has the operation yet")
    return acceptance == .rejected ? operation : nil
  }

  /// Records that the operation's last dependency has finished.
  mutating func becameReady(_ reference: OperationReference) {
    reference._withUnsafeGuaranteedRef { operation in
      let place = operation.admission.place
      admission.becameReady(operation)
      if place != operation.admission.place { record { .ready(reference.operation) } }
    }
  }

  /// Determines how many more workers to request, and so whether the inbox is served.
  ///
  /// A thread that pushes to the inbox then checks whether it is served. When it is no longer served, this function
  /// stores that, and then checks the inbox. All four accesses are in one order (sequentially consistent). As a result,
  /// either the thread that pushes sees that the inbox is not served, or this function sees the pushed operation.
  mutating func issueTickets(
    _ inbox: borrowing Inbox, _ service: borrowing Atomic<Bool>, _ released: inout ReleasedOperations
  ) -> PerClass<Int> {
    var tickets = admission.issueTickets()
    let wasServed = servesInbox
    servesInbox = allowsInbox && admission.servesInbox
    guard servesInbox != wasServed else { return tickets }
    service.store(servesInbox, ordering: .sequentiallyConsistent)
    if !servesInbox, !inbox.isEmpty {
      takeIn(inbox, &released)
      let more = issueTickets(inbox, service, &released)
      PerClass<Int>.forEachClass { tickets[$0] += more[$0] }
    }
    return tickets
  }

  // MARK: Batches

  /// Collects the results of batches.
  ///
  /// - Parameter released: Receives the operations that the caller must release when no lock is held.
  mutating func collectBatches(_ released: inout ReleasedOperations) {
    guard admission.hasBatches else { return }
    admission.noteNewlyReady()
    var hasUserObjects = hasCollectedUserObjects
    defer { hasCollectedUserObjects = hasUserObjects }
    let (isObserved, hasListeners) = (isObserved, followers.contains(.events))
    let followers: QueueFollowers? = isObserved || hasListeners ? followers : nil
    admission.collectFinished(isObserved: isObserved) { admission, operation, isContinued in
      if isObserved {
        followers?.append(countOf: admission, since: admission.count + 1)
        // The thread of the batch has appended the event to the log.
        if hasListeners, let operation { followers?.append(.finished(operation.operation), isLogged: true) }
      }
      guard isContinued, let operation else { return }
      if operation._withUnsafeGuaranteedRef({ $0.isPlainBlock }) {
        released.append(finished: operation)
        if operation._withUnsafeGuaranteedRef({ $0.state.current.hasUserObjects }) { hasUserObjects = true }
      } else {
        // Not the last reference: the batch's thread keeps one until it has acquired this lock once more.
        operation.release()
      }
    }
    admission.collectNewlyReady { operation, isReady in
      if isReady, hasListeners { followers?.append(.ready(operation.operation)) }
      // The queue owns the operations that it still holds. As a result, this is not the last reference, and releasing
      // it runs no code.
      if operation._withUnsafeGuaranteedRef({ $0.admission.place != .none }) {
        operation.release()
      } else {
        released.append(newlyReady: operation)
      }
    }
  }

  // MARK: Waiting

  var hasWaiters: Bool { !waiters.isEmpty || !reportWaiters.isEmpty }

  /// When the queue is done, removes and returns the waiters whose waits have ended.
  mutating func takeWaiters() -> [Waiter] {
    waiters.removeAll() + (reports.isEmpty ? reportWaiters.removeAll() : [])
  }
}

/// Operations to release when no lock is held, because that can run user code.
struct ReleasedOperations {
  /// The operations that have left the queue, joined by their links of the list of members.
  private var finished: OperationReference?
  /// The operations that ended without having run, joined in the same way.
  private var cancelled: OperationReference?
  /// The operations that became ready and have since left the queue.
  ///
  /// The list `refused` is for operations that ended before they were added, or were added to a closed queue.
  ///
  /// All are rare.
  private var newlyReady: [OperationReference]?
  private var refused: [OperationReference]?

  mutating func append(finished operation: OperationReference) {
    operation.memberNext = finished
    finished = operation
  }

  mutating func append(cancelled operation: OperationReference) {
    operation.memberNext = cancelled
    cancelled = operation
  }

  mutating func append(newlyReady operation: OperationReference) {
    newlyReady?.append(operation) ?? (newlyReady = [operation])
  }

  mutating func append(refused operation: OperationReference) {
    refused?.append(operation) ?? (refused = [operation])
  }

  /// Releases the operations.
  ///
  /// Also ends operations that were added to the queue after it was closed.
  func release(from queue: OperationQueue) {
    var position = finished
    while let operation = position {
      position = operation.memberNext
      operation.release()
    }
    releaseCancelled()
    if newlyReady != nil { newlyReady?.forEach { $0.release() } }
    guard let refused else { return }
    // On another thread: the calling thread may hold something that user code waits for.
    WorkerPool.shared.submit(PoolBlock { for operation in refused { queue.releaseRefused(operation) } }, count: 1)
  }

  private func releaseCancelled() {
    var position = cancelled
    while let reference = position {
      position = reference.memberNext
      var operation = reference.takeRetainedValue()
      // Its blocks are released with it, unless other references to it exist.
      guard !isKnownUniquelyReferenced(&operation) else { continue }
      operation.releaseWork()
    }
  }
}
