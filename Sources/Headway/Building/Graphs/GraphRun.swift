import Synchronization

/// The state that the threads of a run share.
///
/// A *participant* is a thread that takes part, or is on its way: the thread that started the operation, and workers of
/// the pool that other participants have requested. It is *busy* while it executes nodes or takes some. It *searches*
/// when there are none to take. It leaves when it has searched for a while. Nodes that can begin are in the stacks of
/// busy participants, which execute them themselves if no other thread does. As a result, a run never waits for a
/// thread to arrive, and no thread waits for the end of a run. Nodes remain only while one is ready or running, so the
/// thread that is last to be busy finishes the operation. Workers that arrive later leave when they find that no thread
/// is busy.
///
/// A worker that the pool needs elsewhere makes way: it leaves its nodes on its stack. Therefore the thread that is
/// last to be busy checks for such nodes first.
///
/// Nodes that others can take are never left to a thread that is inside a block. A thread that shares nodes reads the
/// number of participants and requests another thread. A thread that leaves subtracts itself from that number, then
/// checks for nodes once more.
///
/// When a run has completed, its requests to the pool are withdrawn. `Models/graph.pml` has this protocol.
///
/// A run that threads of a low class have begun can be raised (`GraphRun+Raising.swift`). Then threads of a more urgent
/// class help.
///
/// See `Docs/decisions/0016-graphs.md`.
final class GraphRun: HelpedWork, @unchecked Sendable {
  // `busy`, `participants`, `isStopped`, `raisedClass`, slots and lanes are atomic. The thread that begins a run sets
  // the rest while no other thread takes part. Later threads reach it through `busy`, and therefore see these values.
  // The thread that completes a run releases it when no thread is busy, so no thread reads it.

  let slots: GraphSlots
  private(set) var lanes: GraphLanes

  private(set) var operation: GraphOperation?
  private(set) var queue: OperationQueue?
  private var executor: any WorkExecutor = WorkerPool.shared
  /// The class of the thread that has begun the run.
  private(set) var workerClass = WorkerClass.normal
  /// The class of the threads that are requested.
  ///
  /// It is more urgent than ``workerClass`` after the run has been raised.
  let raisedClass = Atomic(WorkerClass.normal)
  /// Requests threads of more urgent classes than ``workerClass``.
  ///
  /// Kept until the last thread has left.
  private(set) var urgentHelp: PerClass<UrgentGraphHelp?>?
  /// The maximum number of participants.
  private(set) var limit = 1
  /// Protected by the lock of the executor.
  var place: Int?
  /// The list that the run is added to when all threads have left.
  private var home: RecycledGraphRuns?

  /// The number of participants that hold nodes or can take some.
  ///
  /// Each change releases the thread's effects and acquires the effects of the threads before it, so the last thread to
  /// leave sees everything.
  private let busy = Atomic(0)

  /// The number of participants.
  private let participants = Atomic(0)

  /// The number of participants, and of threads that are about to leave.
  ///
  /// At 0, no thread uses the run, and another one can begin.
  private let users = Atomic(0)

  /// Whether a participant has seen that the run must end early.
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

  /// Begins a run of an operation.
  ///
  /// No other thread may use the run at the same time. It becomes the first participant and has lane 0.
  func begin(_ operation: GraphOperation, limit: Int, home: RecycledGraphRuns) {
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

  /// The next step of a thread that has run all of its nodes.
  enum Idleness {
    /// The thread no longer counts as busy, but other threads do.
    case idle
    /// The thread is busy: another thread has made way, and left nodes.
    case busy
    /// No thread is busy: the run has completed.
    case last
  }

  /// Ends the busy state of the calling thread, which has found no nodes to take.
  func becomeIdle() -> Idleness {
    guard busy.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return .idle }
    // From here on, no other thread becomes busy.
    guard isStopped.load(ordering: .relaxed) || !lanes.hasNodes else {
      busy.store(1, ordering: .releasing)
      return .busy
    }
    if workerClass != .normal { operation?.runIsOver() }
    if workerClass != .normal || participants.load(ordering: .relaxed) > 1 { withdraw(from: executor) }
    (operation, queue, executor) = (nil, nil, WorkerPool.shared)
    return .last
  }

  /// Ends the busy state of a thread that has put all its nodes on its stack and left them to other threads.
  ///
  /// Another worker takes its place, behind the other work of the pool.
  ///
  /// - Parameter position: The position of the lane that the thread uses.
  /// - Returns: False if no other thread is busy. The thread must then continue.
  func makeWay(from position: Int) -> Bool {
    // Once this thread is not busy, other threads can complete the run and change this value.
    let executor = executor
    // No other run begins until this thread has checked whether the run has completed.
    users.add(1, ordering: .relaxed)
    var count = busy.load(ordering: .relaxed)
    while count > 1 {
      let (exchanged, original) = busy.weakCompareExchange(
        expected: count, desired: count - 1, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
      if exchanged {
        // Before the worker that takes its place arrives, because that worker takes a lane.
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

  /// Withdraws the requests for threads from the pool, because the run has completed.
  ///
  /// Called by the thread that completes the run. Also called by a thread that has requested another thread and then
  /// finds that the run has completed.
  func withdraw(from executor: any WorkExecutor) {
    let count = withdrawRequests(lessUrgentThan: nil, from: executor)
    guard count > 0 else { return }
    participants.subtract(count, ordering: .relaxed)
    // The caller is also a user, so the count stays positive.
    users.subtract(count, ordering: .relaxed)
  }

  /// Counts the calling thread as busy.
  ///
  /// If no thread is busy, the run has completed and this function returns false.
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

  /// Makes the run end early: nodes that have not begun are not run.
  func stop() { isStopped.store(true, ordering: .relaxed) }

  // MARK: Participants

  /// Requests one more thread, unless the limit is reached or as many threads are on their way as are busy.
  ///
  /// Called after nodes were shared. Sequentially consistent with the sharing, and with ``leave()``.
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
    // Relaxed: the caller is a user, so the count is positive.
    users.add(1, ordering: .relaxed)
    send(1, from: executor)
  }

  /// Adds a user of the run that does not participate, until it calls ``releaseUser()``.
  ///
  /// - Returns: The executor that provides threads.
  /// - Precondition: The run is not over, and can't end during this call.
  func addUser() -> any WorkExecutor {
    users.add(1, ordering: .relaxed)
    return executor
  }

  /// Counts one more participant, unless the limit is reached.
  ///
  /// The caller must then request its thread.
  func addParticipant() -> Bool {
    guard rejoin() else { return false }
    users.add(1, ordering: .relaxed)
    return true
  }

  /// Removes the calling thread from the participants.
  ///
  /// - Returns: Whether the thread must take part again, because others have shared nodes and might have counted on it.
  ///   In this case, it counts as a participant.
  func leave() -> Bool {
    participants.subtract(1, ordering: .sequentiallyConsistent)
    if !isOver, !isStopped.load(ordering: .relaxed), lanes.hasNodes, rejoin() { return true }
    releaseUser()
    return false
  }

  /// Removes a user of the run.
  ///
  /// When the last user is removed, the run is recycled.
  func releaseUser() {
    // Releases the effects of the thread. The last user acquires all of them.
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

  /// How many times a thread checks for nodes before it leaves, which takes about 20 microseconds.
  ///
  /// A requested thread takes about as long to arrive. Requesting it takes a quarter of this time.
  private static let looksBeforeLeaving = 500

  /// Checks for a while whether others have shared nodes.
  ///
  /// If so, makes the thread busy and returns true.
  func search() -> Bool {
    for _ in 0..<Self.looksBeforeLeaving {
      if isOver || isStopped.load(ordering: .relaxed) { return false }
      if lanes.hasNodes { return becomeBusy() }
      pause()
    }
    return false
  }
}

/// Runs that have ended.
///
/// Other runs of the same graph use their memory.
final class RecycledGraphRuns: Sendable {
  private let runs = Guarded<[GraphRun]>([])

  /// The maximum number of runs to keep.
  ///
  /// More than this run at the same time only occasionally, so the rest is freed.
  private static let mostRuns = 4

  func take() -> GraphRun? { runs.withLock { $0.popLast() } }

  func put(_ run: GraphRun) {
    runs.withLock { runs in
      // Nothing is freed under the lock, because the caller also holds the run.
      if runs.count < Self.mostRuns { runs.append(run) }
    }
  }
}
