import Synchronization

/// A thread's visit to a queue.
///
/// It runs operations until there are none left, or until other work has waited for its turn. The thread arrives with a
/// ticket. It redeems the ticket when it first requests work.
struct Visit: ~Copyable {  // Copies would retain the queue, the worker and the batch.
  /// The kind of thread that visits.
  ///
  /// It must match the threads that currently run the queue's operations.
  enum Visitor: Equatable {
    /// A worker of a pool, of this class.
    case pool(WorkerClass)
    case executor
    /// A thread of the dispatch queue that was the underlying queue in this generation.
    case underlyingQueue(generation: Int)

    var workerClass: WorkerClass { if case .pool(let workerClass) = self { workerClass } else { .normal } }
  }

  private let queue: OperationQueue
  private let visitor: Visitor
  private let worker: Worker?
  let batch: Batch
  /// Whether the thread was already in a visit.
  private let isNested: Bool
  /// Whether the thread has a ticket for the queue.
  private var hasTicket = true
  /// Whether the thread is the queue's spinning worker.
  private var isSpinning = false
  private var pace = Pace()

  init(of queue: OperationQueue, by visitor: Visitor) {
    self.queue = queue
    self.visitor = visitor
    worker = Worker.current
    // The worker's own batch is in use if one of its operations visits another queue: a queue that is run step by step.
    isNested = worker?.isVisiting == true
    batch = worker.flatMap { $0.isVisiting ? nil : $0.batch } ?? Batch()
  }

  /// The queue's response to a request for work.
  enum Next {
    /// Several operations, which are in the thread's batch.
    case batch
    case operation(Operation)
    case nothing
    /// None now, but the thread has a ticket, and can wait a little for new operations.
    case nothingYet
    /// The thread must request work again, after it has released objects that may have run user code.
    case again
  }

  /// Runs up to `mostCount` operations.
  ///
  /// - Returns: Whether there was an operation to run.
  mutating func run(atMost mostCount: Int) -> Bool {
    worker?.isVisiting = true
    defer { worker?.isVisiting = isNested }
    var count = 0
    var maySpin = false
    while count < mostCount {
      switch next(atMost: mostCount - count, maySpin: maySpin) {
      case .batch:
        let number = queue.runAll(of: batch, worker)
        count += number
        pace.record(number)
      case .operation(let operation):
        count += 1
        queue.run(operation)
        pace.record(1)
      case .nothing:
        return count > 0
      case .nothingYet:
        (hasTicket, isSpinning, maySpin) = (true, true, false)
        worker?.spin { queue.spin(while: $0) }
        continue
      case .again:
        continue
      }
      guard let worker else { continue }
      // If the worker would not spin, a ticket for that would only cost it another update.
      maySpin = worker.maySpin
      if worker.leavesSoon.load(ordering: .relaxed) || worker.isWornOut { break }
      if worker.pool.workWaits.load(ordering: .relaxed), pace.isTurnOver { break }
    }
    leave()
    return true
  }

  /// A request for work: the thread's state and needs.
  struct Request {
    /// How many operations to take at most.
    let mostCount: Int
    /// Whether the thread can wait for more operations if there are none.
    let maySpin: Bool
    let hadTicket: Bool
    let wasSpinning: Bool
  }

  /// Requests work from the queue.
  ///
  /// - Parameters:
  ///   - mostCount: How many operations to take at most.
  ///   - maySpin: Whether the thread can wait for more operations if there are none.
  /// - Returns: The queue's response.
  private mutating func next(atMost mostCount: Int, maySpin: Bool) -> Next {
    let request = Request(
      mostCount: min(mostCount, pace.allowance), maySpin: maySpin, hadTicket: hasTicket, wasSpinning: isSpinning)
    (hasTicket, isSpinning) = (false, false)
    return next(request)
  }

  // Not mutating, so that the queue and the batch are not retained on each call.
  private func next(_ request: Request) -> Next {
    var released = ReleasedOperations()
    var effects = Effects()
    let startTime = queue.startTime
    if let worker, worker.isOfLowClass, !isNested { worker.switchOperation(to: nil) }
    worker?.waitsForLock.store(true, ordering: .relaxed)
    let next = queue.update(collectingBatches: true, leaving: &effects) { state in
      worker?.waitsForLock.store(false, ordering: .relaxed)
      return choose(from: &state, request, at: startTime, &released)
    }
    released.release(from: queue)
    // Objects whose release can run user code are released before the first operation is taken.
    if case .batch = next { batch.releaseMemory() } else { batch.release() }
    if case .operation = next { effects.submit(to: batch.executor) } else { perform(&effects) }
    return next
  }

  /// Called under the queue's lock.
  ///
  /// - Parameters:
  ///   - state: The state of the queue.
  ///   - request: The thread's state and needs.
  ///   - startTime: The time of the queue's clock, if starts depended on time before the lock was acquired.
  ///   - released: Receives the operations that the caller must release after the lock.
  /// - Returns: The queue's response.
  func choose(
    from state: inout QueueState, _ request: Request, at startTime: StartTime? = nil,
    _ released: inout ReleasedOperations
  ) -> Next {
    let (workerClass, now) = (visitor.workerClass, pace.last)
    if request.wasSpinning { state.hasSpinningWorker = false }
    if request.hadTicket, !state.redeemTicket(of: visitor) { return .nothing }
    state.admission.close(batch)
    if state.admission.hasOneOrder { state.admission.makeOperationsIfNext() }
    if batch.hasDeferredReleases, !mayTakeBeforeRelease(from: state) { return releaseFirst(request, state) }
    // The queue may have been empty in the meantime, and its executor or dispatch queue may have changed since this
    // visitor was requested.
    guard visitor == state.expectedVisitor(workerClass) else { return .nothing }
    if state.followers.contains(.time) {
      // A limit or the clock was set after the thread had read the time.
      guard let startTime, state.admission.policy?.setTime(startTime, of: &state.admission) == true else {
        return .again
      }
    }
    state.admission.reclaimBatches(begunBefore: now - Pace.lateBatch)
    batch.reset(for: queue, state.executor, state.admission.placement, workerClass)
    if workerClass == .normal, state.allowsBatches, !state.followers.contains(.events), !queue.needsEachEnd,
      state.admission.endCancelled({ released.append(cancelled: $0) })
    {
      return .again
    }
    for isSecondTry in [false, true] {
      // User objects must be released while the thread holds neither the lock nor a slot of the queue.
      if state.takeHasCollectedUserObjects() { return .again }
      if state.allowsBatches,
        state.admission.fill(
          batch, atMost: request.mostCount, indivisible: pace.indivisible, at: now, where: { $0.fitsBatch })
      {
        noteTaken(batch.first)
        return .batch
      }
      if batch.hasDeferredReleases { return releaseFirst(request, state) }
      if let operation = state.admission.next(for: workerClass, at: startTime?.now ?? .min) {
        if operation.admission.place == .running { state.record { .started(operation) } }
        noteTaken(OperationReference(operation))
        return .operation(operation)
      }
      guard state.admission.hasBatches, !isSecondTry else { break }
      // Other threads have taken more operations than they have started.
      //
      // Reclaim before collecting. Once the rest of a batch is reclaimed, everything that its thread published before
      // it took its current operation is visible. In the opposite order, a published operation could be missed, and no
      // thread would be woken for it while that operation runs.
      state.admission.reclaimBatches()
      state.collectBatches(&released)
    }
    guard request.maySpin, !state.hasSpinningWorker, !state.isObserved else { return .nothing }
    state.admission.issueTicket(workerClass)
    state.hasSpinningWorker = true
    queue.spinSignal.store(false, ordering: .relaxed)
    return .nothingYet
  }

  /// Whether the thread may take a batch before it performs its deferred releases, which can wait for anything.
  ///
  /// Other threads can take all operations of that batch in the meantime. They can't if the batch occupies a
  /// concurrency slot. They can't take any from a thread of a low class either, because it notes the operations that it
  /// has taken.
  private func mayTakeBeforeRelease(from state: borrowing QueueState) -> Bool {
    (state.admission.limit == .max || batch.releasesBetweenOperations) && worker?.isOfLowClass != true
  }

  /// Has the thread perform its deferred releases.
  ///
  /// It requests work again if there is some, or may be soon.
  private func releaseFirst(_ request: Request, _ state: borrowing QueueState) -> Next {
    request.maySpin || state.admission.hasStartable ? .again : .nothing
  }

  /// Notes the operation that a thread of a low class has taken.
  ///
  /// The thread may begin it only after it gets a processor. Called under the queue's lock.
  private func noteTaken(_ operation: OperationReference) {
    guard let worker, worker.isOfLowClass, !isNested else { return }
    worker.noteTaken(operation)
  }

  /// Leaves the queue while it may still have work.
  ///
  /// The thread's ticket, or a new one if work remains, brings another thread, behind the other work of the pool.
  private func leave() {
    if let worker, worker.isOfLowClass, !isNested { worker.switchOperation(to: nil) }
    var effects = Effects()
    queue.update(collectingBatches: true, leaving: &effects) { [batch, visitor, hasTicket] state in
      if hasTicket { _ = state.redeemTicket(of: visitor) }
      state.admission.close(batch)
    }
    batch.release()
    perform(&effects)
  }

  /// Performs effects while the thread has not claimed an operation.
  private func perform(_ effects: inout Effects) {
    // The dispatch queue may have no other thread to run the work that the observers wait for.
    if case .underlyingQueue = visitor { effects.submit(to: nil) } else { effects.perform() }
  }
}

extension Worker {
  /// The batch that holds the operations that the worker has taken from a queue.
  var batch: Batch {
    if let kept { return unsafeDowncast(kept, to: Batch.self) }
    let batch = Batch()
    kept = batch
    return batch
  }
}
