import Synchronization

/// The state that the threads of a run share.
///
/// A *participant* is a thread that takes part, or is on its way to that: the thread that started the operation, and
/// workers of the pool that others have summoned. It is *busy* while it executes nodes or takes some; it *searches*
/// when there are none to take; and it leaves when it has searched for a while. Nodes that could begin are in the
/// stacks of busy participants, which execute them themselves if no other thread does: so a run never waits for a
/// thread to come, and no thread waits for the end of a run. The one that ceases to be busy last ends the operation,
/// since nodes are left only while there is one that is ready, or runs; workers that come later find nobody busy, and
/// leave.
///
/// A worker that the pool needs elsewhere makes way: it leaves its nodes on its stack. So the one that ceases to be
/// busy last looks for such nodes first.
///
/// Nodes that others may take are never left to a thread that is inside a block: a thread that shares nodes looks how
/// many participants there are, and summons another; one that leaves counts itself out, and then looks for nodes once
/// more.
///
/// When a run is over, what it has asked the pool for is withdrawn. `Models/graph.pml` has this protocol.
///
/// A run that threads of a low class have begun may be raised (`GraphRun+Raising.swift`): then threads of a more urgent
/// class come to help.
final class GraphRun: HelpedWork, @unchecked Sendable {
  // `busy`, `participants`, `isStopped`, `raisedClass`, slots and lanes are atomic. The thread that begins a run sets
  // the rest, while no other takes part: those that come later get to it through `busy`, and so after that. The one
  // that ends a run releases it, when nobody is busy, and so nobody reads it.

  let slots: GraphSlots
  private(set) var lanes: GraphLanes

  private(set) var operation: GraphRunOperation?
  private(set) var queue: OperationQueue?
  private var executor: any WorkExecutor = WorkerPool.shared
  /// The class of the thread that has begun the run.
  private(set) var workerClass = WorkerClass.normal
  /// The class of the threads that are sent for; more urgent than ``workerClass`` after the run has been raised.
  let raisedClass = Atomic(WorkerClass.normal)
  /// Asks for threads of more urgent classes than ``workerClass``; there until the last thread has left.
  private(set) var urgentHelp: PerClass<UrgentGraphHelp?>?
  /// How many participants there may be.
  private(set) var limit = 1
  /// Protected by the lock of the executor.
  var place: Int?
  /// Where the run goes when all have left.
  private var home: RecycledGraphRuns?

  /// Participants that hold nodes or may take some.
  ///
  /// Each change releases what the thread did, and acquires what others did before: the last to leave has seen it all.
  private let busy = Atomic(0)

  /// Participants.
  private let participants = Atomic(0)

  /// Participants, and threads that are about to leave: when there are none, nobody uses the run, and another may
  /// begin.
  private let users = Atomic(0)

  /// A participant has seen that the run is to end early.
  private let isStopped = Atomic(false)

  init(nodeCount: Int, laneCount: Int) {
    slots = GraphSlots(count: nodeCount)
    lanes = GraphLanes(count: laneCount)
  }

  deinit {
    slots.deallocate()
    lanes.deallocate()
  }

  // MARK: Beginning and ending

  /// Begins a run of an operation, of which the calling thread, which is the only one that uses the run, is the first
  /// participant; it has the lane 0.
  func begin(_ operation: GraphRunOperation, limit: Int, home: RecycledGraphRuns) {
    if lanes.count < limit {
      lanes.deallocate()
      lanes = GraphLanes(count: limit)
    }
    self.operation = operation
    self.home = home
    self.limit = limit
    queue = ThreadContext.queue
    executor = queue?.executor ?? queue?.underlyingQueue.map { BlockExecutor(queue: $0) } ?? WorkerPool.shared
    workerClass = Worker.current?.pool.workerClass ?? .normal
    raisedClass.store(workerClass, ordering: .relaxed)
    if workerClass != .normal { urgentHelp = makeUrgentHelp() }
    place = nil
    slots.reset(to: operation.graph.layout.slots)
    for position in 0..<lanes.count { lanes[position].reset() }
    lanes[0].stack.reset(to: operation.graph.layout.firstSource)
    lanes[0].isTaken.store(true, ordering: .relaxed)
    isStopped.store(false, ordering: .relaxed)
    participants.store(1, ordering: .relaxed)
    users.store(1, ordering: .relaxed)
    busy.store(1, ordering: .releasing)
  }

  /// What a thread does next that has no nodes any more.
  enum Idleness {
    /// It doesn't count as busy: others do.
    case idle
    /// It is busy: another thread has made way, and left nodes.
    case busy
    /// Nobody is busy: the run is over.
    case last
  }

  /// The thread has found no nodes to take.
  func becomeIdle() -> Idleness {
    guard busy.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return .idle }
    // From here on nobody else becomes busy.
    guard isStopped.load(ordering: .relaxed) || !lanes.hasNodes else {
      busy.store(1, ordering: .releasing)
      return .busy
    }
    if workerClass != .normal { operation?.runIsOver() }
    if workerClass != .normal || participants.load(ordering: .relaxed) > 1 { withdraw(from: executor) }
    (operation, queue, executor) = (nil, nil, WorkerPool.shared)
    return .last
  }

  /// The thread, which has put all its nodes on its stack, ceases to be busy and leaves them to others; a worker comes
  /// in its place, behind the other work of the pool.
  ///
  /// - Parameter position: The thread's lane.
  /// - Returns: False if nobody else is busy: then the thread has to go on.
  func makeWay(from position: Int) -> Bool {
    // Once the thread is not busy, others may end the run and change this.
    let executor = executor
    // Until the thread has looked whether the run is over, no other run begins.
    users.add(1, ordering: .relaxed)
    var count = busy.load(ordering: .relaxed)
    while count > 1 {
      let (exchanged, original) = busy.weakCompareExchange(
        expected: count, desired: count - 1, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
      if exchanged {
        // Before the worker in its place comes, which takes one.
        lanes[position].isTaken.store(false, ordering: .releasing)
        send(1, from: executor)
        if isOver { withdraw(from: executor) }
        releaseUser()
        return true
      }
      count = original
    }
    users.subtract(1, ordering: .relaxed)
    return false
  }

  /// Has the pool send no further threads: the run is over.
  ///
  /// Called by the thread that ends the run, and by one that has asked for a thread and finds the run over.
  func withdraw(from executor: any WorkExecutor) {
    let count = withdrawRequests(lessUrgentThan: nil, from: executor)
    guard count > 0 else { return }
    participants.subtract(count, ordering: .relaxed)
    // The caller is one, so others are left.
    users.subtract(count, ordering: .relaxed)
  }

  /// Counts the thread as busy, unless nobody is: then the run is over.
  func becomeBusy() -> Bool {
    var count = busy.load(ordering: .relaxed)
    while count > 0 {
      let (exchanged, original) = busy.weakCompareExchange(
        expected: count, desired: count + 1, successOrdering: .acquiring, failureOrdering: .relaxed)
      if exchanged { return true }
      count = original
    }
    return false
  }

  var isOver: Bool { busy.load(ordering: .relaxed) == 0 }

  /// The run is to end early: what has not begun is not run.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  // MARK: Participants

  /// Sends for one more thread, unless as many as may be take part, or as many are on their way as are busy.
  ///
  /// Called after nodes were shared; in one order with that, and with what ``leave()`` does.
  @inline(__always)
  func summonIfUseful() {
    if limit > 1, participants.load(ordering: .sequentiallyConsistent) < limit { summon() }
  }

  @inline(never)
  private func summon() {
    let count = participants.load(ordering: .relaxed)
    guard count < min(limit, 2 * busy.load(ordering: .relaxed)),
      participants.compareExchange(expected: count, desired: count + 1, ordering: .relaxed).exchanged
    else { return }
    // Relaxed: the caller is one, so there is one.
    users.add(1, ordering: .relaxed)
    send(1, from: executor)
  }

  /// A thread that does not take part uses the run from now on; ``releaseUser()`` follows.
  ///
  /// - Returns: What sends threads.
  /// - Precondition: The run is not over, and can't be meanwhile.
  func addUser() -> any WorkExecutor {
    users.add(1, ordering: .relaxed)
    return executor
  }

  /// Counts one more participant, which is to be sent for, unless there are as many as may be.
  func addParticipant() -> Bool {
    guard rejoin() else { return false }
    users.add(1, ordering: .relaxed)
    return true
  }

  /// The thread leaves.
  ///
  /// - Returns: Whether it is to come back, since others have shared nodes, and may have counted on it; it counts as a
  ///   participant then.
  func leave() -> Bool {
    participants.subtract(1, ordering: .sequentiallyConsistent)
    if !isOver, !isStopped.load(ordering: .relaxed), lanes.hasNodes, rejoin() { return true }
    releaseUser()
    return false
  }

  /// The thread no longer uses the run; the last one hands it on.
  func releaseUser() {
    // Releases all that the thread did; the last one acquires it.
    guard users.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
    let home = self.home
    self.home = nil
    urgentHelp = nil
    home?.put(self)
  }

  private func rejoin() -> Bool {
    var count = participants.load(ordering: .relaxed)
    while count < limit {
      let (exchanged, original) = participants.weakCompareExchange(
        expected: count, desired: count + 1, ordering: .relaxed)
      if exchanged { return true }
      count = original
    }
    return false
  }

  /// How often a thread looks for nodes before it leaves: about 20 microseconds.
  ///
  /// For a thread to come takes about as long, and the one that sends for it a quarter of that.
  private static let looksBeforeLeaving = 500

  /// Looks for nodes that others have shared, for a while; true if there are any, and then the thread is busy.
  func search() -> Bool {
    for _ in 0..<Self.looksBeforeLeaving {
      if isOver || isStopped.load(ordering: .relaxed) { return false }
      if lanes.hasNodes { return becomeBusy() }
      pause()
    }
    return false
  }
}

/// Runs that have ended, whose memory others of the same graph use.
final class RecycledGraphRuns: Sendable {
  private let runs = Guarded<[GraphRun]>([])

  /// More than that run side by side only now and then: the rest is freed.
  private static let mostRuns = 4

  func take() -> GraphRun? { runs.withLock { $0.popLast() } }

  func put(_ run: GraphRun) {
    runs.withLock { runs in
      // Nothing is freed under the lock: the caller has the run, too.
      if runs.count < Self.mostRuns { runs.append(run) }
    }
  }
}
