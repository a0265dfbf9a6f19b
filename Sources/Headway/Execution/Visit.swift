import Synchronization

/// A thread's visit to a queue: it runs operations until there are none, or until others have waited for their turn.
///
/// The thread comes with a ticket, which it redeems when it first asks for something to do.
struct Visit: ~Copyable {  // Copies would retain the queue, the worker and the batch.
  /// Who visits: what the queue has is for those by whom it is to be run at the moment.
  enum Visitor: Equatable {
    /// A worker of a pool, of this class.
    case pool(WorkerClass)
    case executor
    /// A thread of the dispatch queue that was the underlying one in this generation.
    case underlyingQueue(generation: Int)

    var workerClass: WorkerClass { if case .pool(let workerClass) = self { workerClass } else { .normal } }
  }

  private let queue: OperationQueue
  private let visitor: Visitor
  private let worker: Worker?
  private let batch: Batch
  /// The thread is in a visit already.
  private let isNested: Bool
  /// The thread has a ticket of the queue.
  private var hasTicket = true
  /// The thread is the queue's spinning worker.
  private var isSpinning = false
  private var pace = Pace()

  init(of queue: OperationQueue, by visitor: Visitor) {
    self.queue = queue
    self.visitor = visitor
    worker = Worker.current
    // The worker's own is in use when an operation in it visits another queue: one that is run step by step.
    isNested = worker?.isVisiting == true
    batch = worker.flatMap { $0.isVisiting ? nil : $0.batch } ?? Batch()
  }

  /// What the queue has for the thread.
  private enum Next {
    /// Some, which are in the thread's batch.
    case batch
    case operation(Operation)
    case nothing
    /// Nothing now, but the thread has a ticket, and may wait a little for what comes.
    case nothingYet
    /// The thread has released what may have run users' code, and is to ask again.
    case again
  }

  /// Runs operations, `mostCount` at most.
  ///
  /// - Returns: Whether there was one.
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
      // Where it would not spin, a ticket for that would only cost it another update.
      maySpin = worker.maySpin
      if worker.leavesSoon.load(ordering: .relaxed) || worker.isWornOut { break }
      if worker.pool.workWaits.load(ordering: .relaxed), pace.isTurnOver { break }
    }
    leave()
    return true
  }

  /// What the thread has when it asks, and what it asks for.
  private struct Request {
    /// How many operations at most.
    let mostCount: Int
    /// The thread may wait for more if there are none.
    let maySpin: Bool
    let hadTicket: Bool
    let wasSpinning: Bool
  }

  /// Asks the queue what to run.
  ///
  /// - Parameters:
  ///   - mostCount: How many operations at most.
  ///   - maySpin: The thread may wait for more if there are none.
  /// - Returns: What there is.
  private mutating func next(atMost mostCount: Int, maySpin: Bool) -> Next {
    let request = Request(
      mostCount: min(mostCount, pace.allowance), maySpin: maySpin, hadTicket: hasTicket, wasSpinning: isSpinning)
    (hasTicket, isSpinning) = (false, false)
    return next(request)
  }

  // Not mutating, so that the queue and the batch are not retained each time.
  private func next(_ request: Request) -> Next {
    var released = ReleasedOperations()
    var effects = Effects()
    if let worker, worker.isOfLowClass, !isNested { worker.goOn(to: nil) }
    let next = queue.update(collectingBatches: true, leaving: &effects) {
      choose(from: &$0, request, &released)
    }
    released.release()
    // What runs users' code is released before the first operation is taken.
    if case .batch = next { batch.releaseMemory() } else { batch.release() }
    if case .operation = next { effects.perform(besides: batch.executor) } else { perform(&effects) }
    return next
  }

  /// Under the queue's lock.
  private func choose(
    from state: inout QueueState, _ request: Request, _ released: inout ReleasedOperations
  ) -> Next {
    let (workerClass, now) = (visitor.workerClass, pace.last)
    if request.wasSpinning { state.hasSpinningWorker = false }
    if request.hadTicket, !state.redeemTicket(of: visitor) { return .nothing }
    state.admission.close(batch)
    if batch.hasDeferredReleases, !mayTakeBeforeRelease(from: state) { return releaseFirst(request, &state) }
    // What runs the operations may have been changed, while the queue was empty, since the visitor was sent for.
    guard visitor == state.expectedVisitor(workerClass) else { return .nothing }
    state.admission.reclaimBatches(begunBefore: now - Pace.lateBatch)
    batch.reset(for: queue, state.executor, state.admission.placement, workerClass)
    if workerClass == .normal, state.allowsBatches, queue.trackedProgress == nil,
      state.admission.endCancelled({ released.append(cancelled: $0) })
    {
      return .again
    }
    for isSecondTry in [false, true] {
      // Not with anything of the queue's in hand.
      if state.takeHasCollectedUserObjects() { return .again }
      if state.allowsBatches,
        state.admission.fill(
          batch, atMost: request.mostCount, indivisible: pace.indivisible, at: now, where: { $0.fitsBatch })
      {
        noteTaken(batch.first)
        return .batch
      }
      if batch.hasDeferredReleases { return releaseFirst(request, &state) }
      if let operation = state.admission.next(for: workerClass) {
        if operation.admission.place == .running { state.record { .started(operation) } }
        noteTaken(OperationReference(operation))
        return .operation(operation)
      }
      guard state.admission.hasBatches, !isSecondTry else { break }
      // Others have taken more than they have started. In this order: what a thread published before it took the
      // operation that it is at is seen once the rest of its batch has been reclaimed; looked for before, it may not
      // be, and nobody would come for it while that operation runs.
      state.admission.reclaimBatches()
      state.collectBatches(&released)
    }
    guard request.maySpin, !state.hasSpinningWorker, !state.isObserved else { return .nothing }
    state.admission.issueTicket(workerClass)
    state.hasSpinningWorker = true
    queue.spinSignal.store(false, ordering: .relaxed)
    return .nothingYet
  }

  /// Whether the thread may take a batch before it has released what it has kept, which may wait for anything.
  ///
  /// Others may take all of that batch meanwhile. They can't where the batch has a place of a limit, nor from a thread
  /// of a low class, which notes what it has taken.
  private func mayTakeBeforeRelease(from state: borrowing QueueState) -> Bool {
    state.admission.limit == .max && worker?.isOfLowClass != true
  }

  /// The thread releases what it has kept, and asks again if there is something, or may be soon.
  private func releaseFirst(_ request: Request, _ state: inout QueueState) -> Next {
    request.maySpin || !state.admission.countStartable().isZero ? .again : .nothing
  }

  /// Notes what the thread of a low class has taken, which it may begin only when it has a processor.
  ///
  /// Under the queue's lock.
  private func noteTaken(_ operation: OperationReference) {
    guard let worker, worker.isOfLowClass, !isNested else { return }
    worker.noteTaken(operation)
  }

  /// Leaves before there is nothing: the ticket, or a new one if there is work left, brings another thread, behind the
  /// other work.
  private func leave() {
    if let worker, worker.isOfLowClass, !isNested { worker.goOn(to: nil) }
    var effects = Effects()
    queue.update(collectingBatches: true, leaving: &effects) { [batch, visitor, hasTicket] state in
      if hasTicket { _ = state.redeemTicket(of: visitor) }
      state.admission.close(batch)
    }
    batch.release()
    perform(&effects)
  }

  /// Performs effects, where the thread has no operation in hand.
  private func perform(_ effects: inout Effects) {
    // The dispatch queue may have no other thread for what the observers wait for.
    if case .underlyingQueue = visitor { effects.perform(besides: nil) } else { effects.perform() }
  }
}

extension Worker {
  /// Where it keeps the operations that it has taken from a queue.
  var batch: Batch {
    if let kept { return unsafeDowncast(kept, to: Batch.self) }
    let batch = Batch()
    kept = batch
    return batch
  }
}
