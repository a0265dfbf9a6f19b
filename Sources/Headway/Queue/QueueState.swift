import Dispatch
import Synchronization

/// What the queue's lock protects.
struct QueueState {
  var admission = Admission()
  var name: String?
  var maxConcurrentOperationCount = OperationQueue.defaultMaxConcurrentOperationCount
  var underlyingQueue: DispatchQueue?
  /// What runs the operations in place of the pool.
  var executor: (any WorkExecutor)?
  /// Runs the jobs of an actor; there if the order is that of adding.
  var serialExecutor: QueueSerialExecutor?
  /// Those who wait until the queue holds nothing.
  var waiters = WaiterList()
  /// The tasks that wait until the ends are reported, too.
  var reportWaiters = WaiterList()
  /// The operations of whose ends reports have not returned, by the report, or the operation if that is of its failure:
  /// see ``EndReport``.
  var reports = KeyedList<ObjectIdentifier, Operation>()
  /// Those who wait until the queue holds less.
  var producers = WaitingAdditions()
  /// What is called when an operation has failed.
  var failureHandler: (@Sendable (Operation, any Error) -> Void)?
  /// A worker that has found nothing to do looks for more at ``OperationQueue/spinSignal``.
  var hasSpinningWorker = false
  /// What ``OperationQueue/servesInbox`` says.
  var servesInbox = false
  /// Nil while nobody observes: one branch for each change.
  var observers: ObserverList?
  /// Nil while nobody listens to events by way of a buffer.
  var eventBuffers: EventBuffers?
  var observation = OperationQueue.Observation()

  var qualityOfService: QualityOfService { admission.placement.quality }

  /// Takes out what refers to users' objects, since the queue is being freed.
  mutating func takeUserObjects() -> some Any { (failureHandler.take(), observers.take(), eventBuffers.take()) }

  /// Whether something runs the operations in place of the pool.
  var runsElsewhere: Bool { executor != nil || underlyingQueue != nil }

  /// Whether somebody observes, or listens to events.
  var isObserved: Bool { observers != nil || eventBuffers != nil }

  /// Whether threads may take batches of operations: nobody wants to know of each one by itself.
  var allowsBatches: Bool {
    !isObserved && underlyingQueue == nil && admission.heldBack.first == nil && !producers.areWaiting
  }

  /// Whether operations may come in by way of the inbox: nobody wants to know of each one at once.
  private var allowsInbox: Bool {
    !isObserved && underlyingQueue == nil && executor == nil && admission.heldBack.first == nil
  }

  /// Whether callers wait until the queue is empty, or holds less.
  var isAwaited: Bool { hasWaiters || producers.areWaiting }

  /// Operations are no longer raised for callers that wait, if none do.
  mutating func endAwaitingIfNoneWaits() { if !isAwaited { admission.endAwaiting() } }

  /// Takes out a task that waits until the queue is empty, if it has not been woken.
  mutating func removeWaiter(_ identifier: UInt64) -> Waiter? {
    defer { endAwaitingIfNoneWaits() }
    return waiters.remove(identifier) ?? reportWaiters.remove(identifier)
  }

  /// Takes out a task that waits until the queue holds less, if it has not been woken.
  mutating func removeProducer(_ identifier: UInt64) -> Waiter? {
    defer { endAwaitingIfNoneWaits() }
    return producers.remove(identifier)
  }

  /// Sets the quality of service, and takes into account what runs the operations.
  mutating func setPlacement(quality: QualityOfService) {
    let hasClasses = underlyingQueue == nil && executor == nil
    admission.setPlacement(Placement(quality: quality, hasClasses: hasClasses))
  }

  /// Counts the changes of what runs the operations.
  private(set) var generation = 0
  /// Tickets that workers of a class, or the executor, got before the last such change, and have not come with.
  private var staleTickets = PerClass(0)
  private var staleExecutorTickets = 0
  /// Operations were collected whose release may run users' code.
  private var hasCollectedUserObjects = false

  /// Whether that was so since this was last called.
  mutating func takeHasCollectedUserObjects() -> Bool {
    defer { hasCollectedUserObjects = false }
    return hasCollectedUserObjects
  }

  /// What runs the operations is about to be changed: tickets that are out are worth nothing any more.
  mutating func beginGeneration() {
    generation += 1
    let tickets = admission.withdrawTickets()
    if executor != nil {
      staleExecutorTickets += tickets[.normal]
    } else if underlyingQueue == nil {
      PerClass<Int>.forEachClass { staleTickets[$0] += tickets[$0] }
    }
  }

  /// Changes what runs the operations, none of which has started.
  ///
  /// - Parameters:
  ///   - property: Where it is kept.
  ///   - runner: What is to run them from now on.
  /// - Returns: What ran them before, to be released after the lock.
  mutating func setRunner<Runner>(_ property: WritableKeyPath<QueueState, Runner?>, _ runner: Runner?) -> Runner? {
    beginGeneration()
    defer {
      self[keyPath: property] = runner
      setPlacement(quality: qualityOfService)
    }
    return self[keyPath: property]
  }

  /// A visitor has come with a ticket.
  ///
  /// - Returns: False if the ticket is worth nothing.
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

  /// Who is to run the operations of a class.
  func expectedVisitor(_ workerClass: WorkerClass) -> Visit.Visitor {
    if executor != nil { return .executor }
    return underlyingQueue != nil ? .underlyingQueue(generation: generation) : .pool(workerClass)
  }

  // MARK: Adding

  /// Takes in what is in the inbox.
  ///
  /// - Parameters:
  ///   - inbox: The inbox.
  ///   - released: What the caller must release, once no lock is held.
  mutating func takeIn(_ inbox: borrowing Inbox, _ released: inout ReleasedOperations) {
    inbox.takeAll { operation in
      let count = admission.count
      guard add(operation, isFromInbox: true) else { return released.append(refused: operation) }
      if observers != nil { noteCount(since: count) }
    }
  }

  /// Adds an operation that was reserved, and takes over its ownership.
  ///
  /// - Returns: False if it has ended before; then the caller must release it, once no lock is held.
  mutating func add(_ operation: OperationReference, isFromInbox: Bool = false) -> Bool {
    guard admission.add(operation, isFromInbox: isFromInbox) else { return false }
    record { .added(operation.operation) }
    if operation._withUnsafeGuaranteedRef({ $0.admission.place == .ready }) { record { .ready(operation.operation) } }
    return true
  }

  /// The operation's last dependency has finished.
  mutating func becameReady(_ reference: OperationReference) {
    reference._withUnsafeGuaranteedRef { operation in
      let place = operation.admission.place
      admission.becameReady(operation)
      if place != operation.admission.place { record { .ready(reference.operation) } }
    }
  }

  /// Works out for how many more workers to send, and so whether the inbox is served.
  ///
  /// A thread that pushes to the inbox looks afterwards whether it is served; when it no longer is, the inbox is looked
  /// into after that was said. All four are in one order (sequentially consistent), so either the one sees that the
  /// inbox is not served, or the other what was pushed.
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
  /// - Parameter released: What the caller must release, once no lock is held.
  mutating func collectBatches(_ released: inout ReleasedOperations) {
    guard admission.hasBatches else { return }
    admission.noteNewlyReady()
    var hasUserObjects = hasCollectedUserObjects
    defer { hasCollectedUserObjects = hasUserObjects }
    let (isObserved, observers, eventBuffers, observation) = (isObserved, observers, eventBuffers, observation)
    admission.collectFinished(isObserved: isObserved) { admission, operation, isContinued in
      if isObserved {
        Self.append(to: observers, observation, of: admission, since: admission.count + 1)
        if observation.listeners > 0, let operation {
          Self.append(.finished(operation.operation), to: observers, eventBuffers)
        }
      }
      guard isContinued, let operation else { return }
      if operation._withUnsafeGuaranteedRef({ $0.isPlainBlock }) {
        released.append(finished: operation)
        if operation._withUnsafeGuaranteedRef({ $0.state.current.hasUserObjects }) { hasUserObjects = true }
      } else {
        // Not the last reference: the batch's thread keeps one until it has had this lock once more.
        operation.release()
      }
    }
    admission.collectNewlyReady { operation, isReady in
      if isReady, observation.listeners > 0 {
        Self.append(.ready(operation.operation), to: observers, eventBuffers)
      }
      // What the queue still holds, it owns: that reference is not the last one, and nothing runs when it goes.
      if operation._withUnsafeGuaranteedRef({ $0.admission.place != .none }) {
        operation.release()
      } else {
        released.append(newlyReady: operation)
      }
    }
  }

  // MARK: Waiting

  var hasWaiters: Bool { !waiters.isEmpty || !reportWaiters.isEmpty }

  /// Removes and returns those that have nothing more to wait for, when the queue is done.
  mutating func takeWaiters() -> [Waiter] {
    waiters.removeAll() + (reports.isEmpty ? reportWaiters.removeAll() : [])
  }

  // MARK: Observers

  /// Notes an event, if somebody listens to them.
  mutating func record(_ event: () -> OperationQueueEvent) {
    if observation.listeners > 0 { Self.append(event(), to: observers, eventBuffers) }
  }

  private static func append(
    _ event: OperationQueueEvent, to observers: ObserverList?, _ eventBuffers: EventBuffers?
  ) {
    eventBuffers?.append(event)
    observers?.append(ObservedChange(.event, event))
  }

  /// Notes a change, if somebody observes.
  mutating func note(_ key: ObservedKey, _ value: (any Sendable)?) {
    observers?.append(ObservedChange(key, value))
  }

  /// Notes how the number of operations has changed.
  mutating func noteCount(since count: Int) { Self.append(to: observers, observation, of: admission, since: count) }

  private static func append(
    to observers: ObserverList?, _ observation: OperationQueue.Observation, of admission: Admission, since count: Int
  ) {
    guard admission.count != count else { return }
    observers?.append(ObservedChange(.operationCount, admission.count))
    if observation.observersOfOperations > 0 {
      observers?.append(ObservedChange(.operations, admission.operations))
    }
  }
}

/// Operations to release when no lock is held, since that may run the code of their owners.
struct ReleasedOperations {
  /// Those that have left the queue, joined by the links of the list in which they were there.
  private var finished: OperationReference?
  /// Those that have ended without having run, joined in the same way.
  private var cancelled: OperationReference?
  /// Those that became ready and have left the queue since, and those that ended before they came into it: rare.
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

  func release() {
    var position = finished
    while let operation = position {
      position = operation.memberNext
      operation.release()
    }
    releaseCancelled()
    if newlyReady != nil { newlyReady?.forEach { $0.release() } }
    guard let refused else { return }
    // Elsewhere: the calling thread may have in hand what their owners' code waits for.
    WorkerPool.shared.submit(PoolBlock { for operation in refused { operation.release() } }, count: 1)
  }

  private func releaseCancelled() {
    var position = cancelled
    while let reference = position {
      position = reference.memberNext
      var operation = reference.takeRetainedValue()
      // Its blocks go with it, unless somebody else holds it.
      guard !isKnownUniquelyReferenced(&operation) else { continue }
      operation.releaseWork()
    }
  }
}
