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
        worker?.spin(for: queue)
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
    var notifications = PendingNotifications()
    let next = queue.update(collectingBatches: true, notifyingLater: &notifications) {
      choose(from: &$0, request, &released)
    }
    released.release()
    batch.release()
    if !notifications.isEmpty {
      if case .operation = next { notifications.send(besides: batch.executor) } else { send(notifications) }
    }
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
    if batch.hasKept {
      // Where there is nothing, the thread has nothing in hand when it leaves; if it may wait for more, it asks again.
      return request.maySpin || !state.admission.countStartable().isZero ? .again : .nothing
    }
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
        return .batch
      }
      if let operation = state.admission.next(for: workerClass) {
        if operation.admission.place == .running { state.record { .started(operation) } }
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

  /// Leaves before there is nothing: the ticket, or a new one if there is work left, brings another thread, behind the
  /// other work.
  private func leave() {
    var notifications = PendingNotifications()
    queue.update(collectingBatches: true, notifyingLater: &notifications) { [batch, visitor, hasTicket] state in
      if hasTicket { _ = state.redeemTicket(of: visitor) }
      state.admission.close(batch)
    }
    batch.release()
    if !notifications.isEmpty { send(notifications) }
  }

  /// Notifies the observers, where the thread has no operation in hand.
  private func send(_ notifications: PendingNotifications) {
    // The dispatch queue may have no other thread for what they wait for.
    if case .underlyingQueue = visitor { notifications.send(besides: nil) } else { notifications.send() }
  }
}
