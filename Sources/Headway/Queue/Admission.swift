/// Which operation of a queue may start, and when: the queue's books, as a state machine without threads and locks.
///
/// The owner protects it with one lock and, after each change, asks for ``takeNewPermissions()``: how many more workers
/// may come and ask for ``next()``. Nothing here calls out.
///
/// Barriers cut what was added into *segments*. Only operations of the first segment may start; when all of them have
/// finished its barrier does; when that has finished, the next segment is the first.
struct Admission {
  /// What lies between two barriers.
  private struct Segment {
    /// The number of the first operation that belongs here.
    let firstSequence: UInt64
    /// The operations here that have not finished, the barrier not counted.
    var unfinished = 0
    var ready = ReadyOperations()
    /// The barrier at the end, owned by the list of held operations.
    var barrier: OperationReference?
    /// The barrier has finished: cancelled, if that was before its turn.
    var barrierHasFinished = false
  }

  /// More permissions than this are not given out at once: each worker that comes goes on while there is work.
  private static let mostPermissions = 64

  private var held = HeldOperations()
  /// The segment whose operations may start.
  private var first = Segment(firstSequence: 0)
  /// The segments behind barriers.
  private var later = FirstInFirstOut<Segment>()
  /// Those that leave because they were cancelled.
  private var cancelled = ReadyOperations()
  private var nextSequence: UInt64 = 0
  private var running = 0
  /// Permissions given out and not yet used by a worker.
  private var permissions = 0
  /// Those of them that workers keep who come back from an operation.
  private var kept = 0

  /// The runs that threads have taken, which they keep alive.
  private var runs = ActiveRuns()

  /// How many may run at a time.
  var limit = Int.max {
    didSet { takeBackRuns() }
  }
  var isSuspended = false {
    didSet { if isSuspended { takeBackRuns() } }
  }

  var count: Int { held.count }
  var operations: [Operation] { held.snapshot }

  // MARK: What happens to operations

  /// Takes in an operation that the caller has reserved, and takes over its ownership.
  mutating func add(_ reference: OperationReference, isBarrier: Bool) {
    held.append(reference)
    reference._withUnsafeGuaranteedRef { add($0, isBarrier: isBarrier) }
  }

  private mutating func add(_ operation: Operation, isBarrier: Bool) {
    operation.queueLinks.sequence = nextSequence
    nextSequence += 1
    operation.admission.place = .held
    if isBarrier {
      operation.admission.isBarrier = true
      withSegment(of: operation) { $0.barrier = OperationReference(operation) }
      later.append(Segment(firstSequence: nextSequence))
      // What comes after it may be made ready by what is before it.
      runs.forEach { $0.stopGoingOn() }
    } else {
      withSegment(of: operation) { $0.unfinished += 1 }
    }
    let word = operation.state.book()
    if word.isCancelled {
      leave(operation)
    } else if word.isStartable {
      becameReady(operation)
    }
  }

  /// The operation's last dependency has gone.
  mutating func becameReady(_ operation: Operation) {
    guard operation.admission.place == .held, !operation.admission.isBarrier, let word = operation.state.offer() else {
      return
    }
    let level = word.priorityLevel
    operation.admission.place = .ready
    withSegment(of: operation) { $0.ready.insert(operation, level: level) }
    // What was taken and is less urgent stands back, and nobody goes on without having looked.
    guard !runs.isEmpty else { return }
    runs.forEach { $0.stopGoingOn() }
    takeBackRuns(behind: operation, level)
  }

  /// The operation was cancelled: it leaves whatever it waits for.
  mutating func leave(_ operation: Operation) {
    takeBackIfTaken(operation)
    switch operation.admission.place {
    case .ready: withSegment(of: operation) { $0.ready.remove(operation) }
    case .held: break
    case .none, .taken, .cancelled, .running, .leaving: return
    }
    operation.admission.place = .cancelled
    cancelled.insert(operation, level: QueuePriority.normal.level)
  }

  /// The operation's priority was changed.
  mutating func priorityChanged(_ operation: Operation) {
    takeBackIfTaken(operation)
    guard operation.admission.place == .ready else { return }
    let level = operation.state.current.priorityLevel
    withSegment(of: operation) { segment in
      segment.ready.remove(operation)
      segment.ready.insert(operation, level: level)
    }
    if !runs.isEmpty { takeBackRuns(behind: operation, level) }
  }

  /// The operation has finished.
  ///
  /// Gives up ownership: the caller must release the result, once no lock is held.
  mutating func finished(_ operation: Operation) -> OperationReference {
    switch operation.admission.place {
    case .running: running -= 1
    case .ready: withSegment(of: operation) { $0.ready.remove(operation) }
    case .cancelled: cancelled.remove(operation)
    case .held, .taken, .leaving, .none: break
    }
    operation.admission.place = .none
    let isBarrier = operation.admission.isBarrier
    withSegment(of: operation) { segment in
      if isBarrier {
        segment.barrier = nil
        segment.barrierHasFinished = true
      } else {
        segment.unfinished -= 1
      }
    }
    passFinishedBarriers()
    return held.remove(operation)
  }

  // MARK: Workers

  /// How many more workers may come and ask for ``next()``.
  mutating func takeNewPermissions() -> Int {
    let new = min(startable, Self.mostPermissions) - permissions
    guard new > 0 else { return 0 }
    permissions += new
    return new
  }

  var hasStartable: Bool { startable > 0 }

  /// Whether somebody will look into the inbox before what comes there could be started: workers are on their way who
  /// have nothing else to do before they come; or as many operations run as may, and one of them has to end first.
  var isAttended: Bool { permissions > kept || (started >= limit && started > 0 && !isSuspended) }

  /// A worker's right, and duty, to come and ask for ``next()``.
  enum Permission {
    /// It was sent for, or waits here.
    case sent
    /// It has ended an operation, and will come when it returns from that.
    case kept
  }

  /// Counts a worker that will come without being sent for.
  mutating func give(_ permission: Permission) {
    permissions += 1
    if permission == .kept { kept += 1 }
  }

  /// Takes a permission back: its worker is here and asks for itself, or will not come.
  mutating func take(_ permission: Permission) {
    if permission == .kept { kept -= 1 }
    permissions -= 1
    assert(permissions >= kept && kept >= 0)
  }

  /// The operation to start now, already claimed, or nil.
  mutating func next() -> Operation? {
    while let operation = cancelled.popFirst()?.operation {
      if operation.state.claim() {
        operation.admission.place = .leaving
        return operation
      }
      operation.admission.place = .held
    }
    guard !isSuspended, started < limit else { return nil }
    while let operation = first.ready.popFirst()?.operation {
      if operation.state.claim() { return run(operation) }
      // It was given a dependency after it had become ready, or has finished without being started.
      operation.admission.place = .held
    }
    if let barrier = startableBarrier, barrier.state.claim() { return run(barrier) }
    return nil
  }

  /// As ``next()``, for one operation that is to be started before those ahead of it; nil when it may not start now.
  mutating func take(_ operation: Operation) -> Operation? {
    takeBackIfTaken(operation)
    guard operation.admission.place == .ready, !isSuspended, started < limit, isInFirstSegment(operation) else {
      return nil
    }
    first.ready.remove(operation)
    if operation.state.claim() { return run(operation) }
    operation.admission.place = .held
    return nil
  }

  private mutating func run(_ operation: Operation) -> Operation {
    operation.admission.place = .running
    running += 1
    return operation
  }

  /// How many operations could start at this moment.
  private var startable: Int {
    guard !isSuspended, started < limit else { return cancelled.count }
    var ready = first.ready.count + (startableBarrier == nil ? 0 : 1)
    // What stands in runs is there for others who come, too.
    runs.forEach { ready += $0.unstarted }
    return cancelled.count + min(ready, limit - started)
  }

  private var startableBarrier: Operation? {
    guard first.unfinished == 0, let barrier = first.barrier?.operation else { return nil }
    return barrier.admission.place == .held && barrier.state.current.isStartable ? barrier : nil
  }

  /// How many operations have been started, the cancelled ones not counted: a run counts as one, since its thread runs
  /// one after the other.
  private var started: Int { running + runs.count }

  // MARK: Runs

  var hasRuns: Bool { !runs.isEmpty }

  /// Gives a thread operations to run one after the other: those that may start now, as many as leave enough for
  /// others.
  ///
  /// - Parameters:
  ///   - run: The run, which is empty and not among the active ones.
  ///   - mostCount: How many at most.
  ///   - indivisible: So many are not worth sharing out.
  ///   - isFit: Whether an operation may go into a run of this thread.
  /// - Returns: False if there is none; ``next()`` may have one.
  mutating func fill(
    _ run: OperationRun, atMost mostCount: Int, indivisible: Int, where isFit: (Operation) -> Bool
  ) -> Bool {
    guard cancelled.isEmpty, !isSuspended, started < limit else { return false }
    let share = max(1, indivisible, first.ready.count / (2 * ProcessorCount.usable))
    while run.count < min(share, mostCount, OperationRun.capacity), let (operation, level) = first.ready.first,
      operation._withUnsafeGuaranteedRef({ isFit($0) })
    {
      _ = first.ready.popFirst()
      operation._withUnsafeGuaranteedRef { $0.admission.place = .taken }
      run.append(operation, level: level)
    }
    guard run.count > 0 else { return false }
    run.begin(atMost: mostCount, mayGoOn: first.ready.isEmpty && later.isEmpty, keepsOrder: limit != .max)
    runs.insert(run)
    return true
  }

  /// A thread has come to the end of its run, or leaves it.
  mutating func close(_ run: OperationRun) {
    guard run.isActive else { return }
    takeBack(run)
    runs.remove(run)
  }

  /// Books which operations of runs have finished.
  ///
  /// - Parameter body: Called with each. It is to be released, once no lock is held.
  mutating func bookFinished(_ body: (inout Admission, OperationReference) -> Void) {
    runs.forEach { run in
      while let operation = run.nextFinished() {
        _ = operation._withUnsafeGuaranteedRef { finished($0) }
        body(&self, operation)
      }
    }
  }

  /// Books what became ready by what runs have run.
  ///
  /// - Parameter body: Called with each. It is to be released, once no lock is held.
  mutating func bookReadied(_ body: (OperationReference) -> Void) {
    runs.forEach { run in
      while let operation = run.nextReadied() {
        operation._withUnsafeGuaranteedRef { becameReady($0) }
        body(operation)
      }
    }
  }

  /// Puts what stands in runs, and has not been started, back among the ready.
  mutating func takeBackRuns() { runs.forEach { takeBack($0) } }

  private mutating func takeBackRuns(lessUrgentThan level: Int) {
    runs.forEach { if $0.lowestLevel < level { takeBack($0) } }
  }

  /// Where the number that may run is limited, also those that were added after it: where one runs at a time, that
  /// order can be seen.
  private mutating func takeBackRuns(behind operation: Operation, _ level: Int) {
    guard limit != .max else { return takeBackRuns(lessUrgentThan: level) }
    let sequence = operation.queueLinks.sequence
    runs.forEach { run in
      if run.lowestLevel < level || (run.lowestLevel == level && run.lastSequence > sequence) { takeBack(run) }
    }
  }

  private mutating func takeBackIfTaken(_ operation: Operation) {
    if operation.admission.place == .taken { takeBackRuns() }
  }

  mutating func takeBack(_ run: OperationRun) {
    var highest = 0
    run.takeBack { operation in
      let level = operation.state.current.priorityLevel
      highest = max(highest, level)
      operation.admission.place = .ready
      // It was in the first segment, which only grows.
      first.ready.insert(operation, level: level)
    }
    // Other runs, taken later, stand back behind that.
    if runs.count > 1 { takeBackRuns(lessUrgentThan: highest) }
  }

  /// Starts an operation of a run that could not be started plainly, if it can be started.
  ///
  /// It counts by itself; so the run, all of which has been booked, is closed.
  mutating func claimTaken(_ operation: Operation, of run: OperationRun) -> Bool {
    close(run)
    if operation.state.claim() {
      _ = self.run(operation)
      return true
    }
    // It was given a dependency; or has an override's answer against it, which no operation in a run has.
    operation.admission.place = .held
    if operation.state.current.isStartable { becameReady(operation) }
    return false
  }

  // MARK: Segments

  /// Changes the segment to which an operation belongs.
  ///
  /// A barrier belongs to the segment that it ends. Without barriers there is one; else O(log *barriers*).
  private mutating func withSegment(of operation: Operation, _ change: (inout Segment) -> Void) {
    guard !isInFirstSegment(operation) else { return change(&first) }
    let sequence = operation.queueLinks.sequence
    var (low, high) = (0, later.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if later[middle].firstSequence <= sequence { low = middle } else { high = middle - 1 }
    }
    change(&later[low])
  }

  private func isInFirstSegment(_ operation: Operation) -> Bool {
    later.isEmpty || operation.queueLinks.sequence < later[0].firstSequence
  }

  /// A barrier that has finished holds nothing back: the segment after it joins the first, which is empty when the
  /// barrier had its turn, and is not when it was cancelled.
  private mutating func passFinishedBarriers() {
    while first.barrierHasFinished, let next = later.popFirst() {
      first.unfinished += next.unfinished
      first.ready.append(next.ready)
      first.barrier = next.barrier
      first.barrierHasFinished = next.barrierHasFinished
      if !runs.isEmpty, let level = first.ready.first?.level {
        runs.forEach { $0.stopGoingOn() }
        takeBackRuns(lessUrgentThan: level)
      }
    }
  }

  // MARK: Looking

  /// Operations are held, and none of them runs or can start by what this queue knows.
  var isIdle: Bool { started == 0 && held.count > 0 && !isSuspended && limit > 0 && startable == 0 && permissions == 0 }

  /// What keeps an operation from starting, as far as the queue knows.
  struct Situation {
    var place: AdmissionRecord.Place
    var isBarrier: Bool
    var isSuspended: Bool
    var limit: Int
    var running: Int
    /// How many operations a barrier waits for; for others, 1 when they wait for a barrier.
    var before: Int
  }

  /// The situation of an operation that the queue holds.
  ///
  /// O(*n*) for barriers and those behind them.
  func situation(of operation: Operation) -> Situation {
    Situation(
      place: operation.admission.place, isBarrier: operation.admission.isBarrier, isSuspended: isSuspended,
      limit: limit, running: started, before: predecessors(of: operation).count)
  }

  /// The operations of this queue that must finish before this one can start: those before a barrier; the barrier
  /// before any other; and, where one runs at a time, the one that runs.
  ///
  /// O(*n*) where there are barriers or only one runs at a time.
  func obstacles(of operation: Operation) -> [Operation] {
    guard operation.admission.place == .held || operation.admission.place == .ready else { return [] }
    var obstacles = predecessors(of: operation)
    let runs: (Operation) -> Bool = { [.starting, .executing].contains($0.state.current.phase) }
    if limit == 1, started == 1, operation.state.current.phase == .pending,
      let current = held.snapshot.first(where: runs)
    {
      obstacles.append(current)
    }
    return obstacles
  }

  private func predecessors(of operation: Operation) -> [Operation] {
    let earlier = held.snapshot.lazy.filter { other in
      other.queueLinks.sequence < operation.queueLinks.sequence && other.admission.place != .cancelled
        && other.admission.place != .leaving
    }
    if operation.admission.isBarrier { return Array(earlier) }
    guard !isInFirstSegment(operation) else { return [] }
    return earlier.last { $0.admission.isBarrier }.map { [$0] } ?? []
  }
}
