import Synchronization

/// Operations that one thread has taken from a queue together, to run one after another, and their results.
///
/// A batch lets a thread take the queue's lock once for many operations. The batch's thread works without the lock. It
/// publishes which operations it has finished, and which became ready as a result. A thread that holds the queue's lock
/// can collect these results.
///
/// A thread that holds the lock can also reclaim operations that have not been started. This happens when a more urgent
/// operation exists, the queue is suspended, an operation of the batch takes a long time, the batch's thread blocks, or
/// another thread has nothing to do.
///
/// A batch contains only operations whose start and end run no unknown code:
/// ``Operation/fitsBatch``.
///
/// See `Docs/decisions/0012-batches.md`.
final class Batch: @unchecked Sendable {
  // `items` and `count` change under the queue's lock: the batch's thread changes them before the batch begins, and a
  // thread that reclaims lowers `count`. After the beginning, the batch's thread uses `head` and `size` instead. The
  // batch's thread writes `continued` and `newlyReady`: it writes each entry before the count that publishes it
  // (releasing). They are read under the queue's lock (acquiring). `collected…`, `…Active`, `isWatched`, `raisedClass`,
  // `lowestLevel`, `lastSequence` and `beginTime` change under the queue's lock; only the batch's thread changes the
  // last three. `size`, `allowance`, `placement`, `keepsOrder`, `hasTakenFirst`, `deferred`, `effects` and `mainEnd`
  // belong to that thread.
  //
  // The thread owns the operations in `items` that it takes. It releases each one after it has published that it has
  // finished. Reclaimed operations return to the queue. Therefore, a thread that holds the queue's lock must not access
  // an operation that may have finished, unless it has pinned the batch (`Models/release.pml`).

  /// The maximum number of operations in a batch.
  static let capacity = 32
  private static let newlyReadyCapacity = 64
  /// The `head` of a batch whose operations have all been reclaimed.
  private static let exhausted = Int.max / 2

  private let items = UnsafeMutablePointer<OperationReference>.allocate(capacity: capacity)
  /// Operations that the thread has continued with, each at its number among the finished operations.
  private let continued = UnsafeMutablePointer<OperationReference>.allocate(capacity: capacity)
  private let newlyReady = UnsafeMutablePointer<OperationReference>.allocate(capacity: newlyReadyCapacity)

  /// The batch's queue.
  ///
  /// The batch's thread keeps it alive.
  private(set) var home: Unmanaged<OperationQueue>?
  /// The executor that runs the queue's operations instead of the pool.
  private(set) var executor: (any WorkExecutor)?

  /// Where the queue's operations run.
  private(set) var placement = Placement(quality: .default, hasClasses: false)
  /// The thread's class, if classes matter.
  private(set) var workerClass = WorkerClass.normal
  /// All operations in the batch have been raised to this class.
  var raisedClass = WorkerClass.background
  /// How many operations the batch had when it began.
  private var size = 0
  /// Operations that become ready may have to start before the rest of the batch.
  private(set) var keepsOrder = false
  /// How many operations the thread runs at most before it requests more from the queue.
  private var allowance = 0
  /// No other operation in the queue can start, so the thread can continue with the operation that the last one made
  /// ready.
  ///
  /// Written under the queue's lock and read without it. A stale read is harmless: it is equivalent to continuing just
  /// before the change.
  private let mayContinue = Atomic<Bool>(false)

  private(set) var count = 0
  /// The position of the next operation to start.
  ///
  /// The first operation belongs to the thread from the beginning. The thread that moves `head` gets the operations
  /// that it moves over. If the first operation could always be reclaimed, two threads could take it from each other
  /// forever. It can be reclaimed from a thread that has deferred releases to perform before it. When that thread next
  /// requests work, it has no operations.
  private let head = Atomic<Int>(1)
  /// The thread has taken the first operation.
  ///
  /// Belongs to that thread.
  private var hasTakenFirst = false
  /// The running operation, with the number of operations that finished before it in ``numberBits``.
  ///
  /// 0 if there is none, or if it ends in another way.
  private let current = Atomic<UInt>(0)
  private let finishedCount = Atomic<Int>(0)
  private let readiedCount = Atomic<Int>(0)
  private(set) var collectedFinished = 0
  private var collectedNewlyReady = 0
  /// How many newly ready operations have been noted, to be collected after the finished operations.
  private var notedReadied = 0
  /// The current operation has left the queue but has not released its dependents.
  private let settles = Atomic<Bool>(false)
  /// The thread must take the queue's lock after it publishes the end of an operation and before it releases the
  /// operation.
  ///
  /// The batch's thread finishes an operation, publishes that, then reads this flag. The thread that holds the lock
  /// sets this flag, then reads the results. These accesses are in one order (sequentially consistent), except that the
  /// result can become visible later: see ``publishTaken(settled:)``. As a result, either the holder of the lock sees
  /// that the operation has finished, or the batch's thread waits.
  private let isPinned = Atomic<Bool>(false)
  /// The queue has observers: the batch stays pinned.
  ///
  /// From number ``watchedFrom`` on, operations that end stay alive until the thread has acquired the queue's lock.
  private var isWatched = false
  private var watchedFrom = 0
  /// Where the thread is, from the queue's point of view: see ``leave()``.
  private let presence = Atomic<Presence>(.inside)
  /// Another thread has closed the batch on behalf of its thread.
  ///
  /// The queue removes the batch after it has collected the published results.
  private(set) var isEnded = false
  /// The lowest level of priority among the operations in the batch, and the sequence number of its last operation.
  private(set) var lowestLevel = 0
  private(set) var lastSequence: UInt64 = 0
  /// When the thread took the batch, in nanoseconds of uptime.
  private(set) var beginTime: UInt64 = 0
  /// The objects that the queue's policy has lent to operations of the batch, until they are collected: each
  /// operation's position, and the object, which the policy keeps alive.
  @exclusivity(unchecked) var shares: [(position: Int, object: Unmanaged<AnyObject>)] = []
  /// Whether the batch is among the active batches of its queue, and its neighbors there.
  ///
  /// The batch's thread can read this flag without the lock while it is inside.
  var isActive = false
  var nextActive: Unmanaged<Batch>?
  var previousActive: Unmanaged<Batch>?

  deinit {
    items.deallocate()
    continued.deallocate()
    newlyReady.deallocate()
  }

  // MARK: Remaining work of the thread

  // `Batch+Remaining.swift` uses these properties, which belong to the batch's thread. They are read after each
  // operation. Because a single thread uses them, exclusive access is not checked again at each access.

  /// Whether the queue counts the batch with the completion blocks that are due.
  @exclusivity(unchecked) var countsCompletions = false
  @exclusivity(unchecked) var deferred = DeferredReleases()
  /// The thread is releasing the work of an operation that has ended: a `deinit` in user code can wait for anything.
  ///
  /// If it waits with one of Headway's functions, this closes the batch: see ``leaveToWait()``.
  @exclusivity(unchecked) var releasesWork = false
  /// The operation that the thread is about to continue with.
  ///
  /// Retained.
  @exclusivity(unchecked) var awaiting: OperationReference?
  @exclusivity(unchecked) var mainEnd = MainEnd()
  /// The steps that remain after the end of the last operation, and that can run user code.
  @exclusivity(unchecked) var effects = Effects()
  /// The gate of the running operation, if it has resources to release.
  ///
  /// The operation keeps the gate alive.
  @exclusivity(unchecked) var gate: Unmanaged<ResourceGate>?
  /// Steps that have been performed, recycled for the next operation.
  ///
  /// Otherwise, each observed operation would need an allocation.
  @exclusivity(unchecked) var recycledSteps: Effects.Steps?

  /// Whether the thread has taken all operations, or another thread has reclaimed the rest.
  ///
  /// If not, a thread that reclaims the rest later sees the results that this thread has published. This thread
  /// publishes, then reads `head`; the other thread changes `head`, then reads the results. All four accesses are in
  /// one order (sequentially consistent).
  var isExhausted: Bool { !hasTakenFirst || head.load(ordering: .sequentiallyConsistent) >= size }

  /// Whether the thread can run completion blocks between two operations.
  ///
  /// If the queue has a limit, the batch occupies a concurrency slot. A completion block must not occupy one.
  var runsCompletionBlocks: Bool { executor == nil && !keepsOrder && !hasDeferredReleases }

  // MARK: Under the queue's lock

  /// Resets the batch to an empty one.
  ///
  /// All results must have been collected.
  ///
  /// - Parameters:
  ///   - queue: The batch's queue from now on.
  ///   - executor: The executor that runs the queue's operations instead of the pool, if it has one.
  ///   - placement: Where the queue's operations run.
  ///   - workerClass: The class of the thread.
  func reset(
    for queue: OperationQueue, _ executor: (any WorkExecutor)?, _ placement: Placement, _ workerClass: WorkerClass
  ) {
    home = .passUnretained(queue)
    self.placement = placement
    self.workerClass = workerClass
    raisedClass = .background
    if self.executor !== executor { self.executor = executor }
    count = 0
    head.store(1, ordering: .relaxed)
    hasTakenFirst = false
    current.store(0, ordering: .relaxed)
    finishedCount.store(0, ordering: .relaxed)
    readiedCount.store(0, ordering: .relaxed)
    (collectedFinished, collectedNewlyReady, notedReadied) = (0, 0, 0)
    if !shares.isEmpty { shares.removeAll(keepingCapacity: true) }
    isPinned.store(false, ordering: .relaxed)
    isWatched = false
    presence.store(.inside, ordering: .relaxed)
    isEnded = false
    lowestLevel = QueuePriority.highestLevel
  }

  /// Begins the batch, after all operations have been appended.
  ///
  /// If the thread has deferred releases, other threads can also take the first operation until it has performed them.
  ///
  /// - Parameters:
  ///   - allowance: How many operations the thread runs at most.
  ///   - mayContinue: No other operation in the queue can start.
  ///   - keepsOrder: Operations that become ready may have to start before the rest of the batch.
  ///   - time: The current time, in nanoseconds of uptime.
  func begin(atMost allowance: Int, mayContinue: Bool, keepsOrder: Bool, at time: UInt64) {
    size = count
    beginTime = time
    self.keepsOrder = keepsOrder
    self.allowance = min(allowance, Self.capacity)
    self.mayContinue.store(mayContinue, ordering: .relaxed)
    if hasDeferredReleases {
      head.store(0, ordering: .relaxed)
      hasTakenFirst = true
    }
  }

  /// Prevents the thread from continuing, because another operation can start, or none may.
  func stopContinuing() { mayContinue.store(false, ordering: .relaxed) }

  func append(_ operation: OperationReference, level: Int) {
    items[count] = operation
    count += 1
    lowestLevel = min(lowestLevel, level)
    lastSequence = operation.sequence
  }

  /// How many operations are available to other threads.
  ///
  /// No thread has taken them, or they became ready and were not collected.
  ///
  /// The number of operations that were not taken may already be lower. `head` is read first: if an operation appears
  /// as taken, the results that the thread published before it took that operation are visible.
  var startable: Int {
    let unstarted = max(0, count - head.load(ordering: .acquiring))
    return unstarted + readiedCount.load(ordering: .acquiring) - collectedNewlyReady
  }

  /// Removes the operations that have not been started.
  ///
  /// `body` takes over their ownership. After this, the results that the batch's thread published before it took its
  /// last operation are visible: the exchange acquires the writes that the addition in ``next()`` released.
  func reclaim(_ body: (Operation) -> Void) {
    stopContinuing()
    let first = head.exchange(Self.exhausted, ordering: .sequentiallyConsistent)
    guard first < count else { return }
    for position in first..<count { items[position]._withUnsafeGuaranteedRef { body($0) } }
    count = first
  }

  /// Operations that have finished but have not been collected.
  enum Finished {
    /// Operations that the thread took. If the batch is watched and there is only one, this includes the operation.
    case taken(count: Int, OperationReference?)
    /// An operation that the thread continued with.
    case continued(OperationReference)
  }

  /// Returns the next operations that have finished but have not been collected.
  ///
  /// - Parameter isSingle: Whether to return one at a time. Otherwise, returns all operations that the thread took
  ///   together.
  /// - Returns: The finished operations, or nil if there are none.
  func nextFinished(isSingle: Bool) -> Finished? {
    while true {
      let number = collectedFinished
      let published = finishedCount.load(ordering: .sequentiallyConsistent)
      if number < published {
        guard number < count else {
          collectedFinished += 1
          return .continued(continued[number])
        }
        collectedFinished = isSingle ? number + 1 : min(published, count)
        return .taken(
          count: collectedFinished - number, isWatched && number >= watchedFrom ? items[number] : nil)
      }
      // The running operation may have just finished, and another thread may have seen that. An operation that another
      // thread has ended has left the queue.
      guard let operation = pinRunning(),
        operation._withUnsafeGuaranteedRef({ $0.state.currentInOrder.isSettled && $0.admission.place != .none })
      else {
        unpin()
        guard finishedCount.load(ordering: .acquiring) > collectedFinished else { return nil }
        continue
      }
      unpin()
      collectedFinished += 1
      return number < count ? .taken(count: 1, isWatched ? operation : nil) : .continued(operation)
    }
  }

  /// Notes the operations that became ready, then closes the batch if the thread is outside.
  func noteNewlyReady() {
    endIfOutside()
    notedReadied = readiedCount.load(ordering: .acquiring)
  }

  /// Returns the next newly ready operation that was noted but not collected.
  ///
  /// The caller owns it.
  func nextReadied() -> OperationReference? {
    guard collectedNewlyReady < notedReadied else { return nil }
    collectedNewlyReady += 1
    return newlyReady[collectedNewlyReady - 1]
  }

  /// Pins the batch: from now on, the thread releases published operations only after the lock is released.
  private func pin() { isPinned.store(true, ordering: .sequentiallyConsistent) }

  private func unpin() { isPinned.store(isWatched, ordering: .releasing) }

  /// Returns the running operation, if its end was neither published nor collected.
  ///
  /// The batch is pinned in that case.
  private func pinRunning() -> OperationReference? {
    // Usually there is none, and nothing to pin.
    guard let (_, number) = Self.operation(current.load(ordering: .acquiring)), number == collectedFinished
    else { return nil }
    pin()
    guard let (operation, number) = Self.operation(current.load(ordering: .acquiring)), number == collectedFinished,
      number == finishedCount.load(ordering: .sequentiallyConsistent)
    else { return nil }
    return operation
  }

  /// Whether the thread has begun this operation, or is about to, and has not ended it.
  func isRunning(_ operation: Operation) -> Bool {
    guard let (running, number) = Self.operation(current.load(ordering: .acquiring)) else { return false }
    return running.toOpaque() == OperationReference(operation).toOpaque()
      && number == finishedCount.load(ordering: .acquiring)
  }

  /// Calls `body` with the running operation, if there is one.
  func withRunning(_ body: (Operation) -> Void) {
    pinRunning()?._withUnsafeGuaranteedRef { body($0) }
    unpin()
  }

  /// Calls `body` with each unfinished operation that the thread has taken or may still take.
  func forEachUnfinished(_ body: (Operation) -> Void) {
    pin()
    // Watched operations stay alive until they are counted as finished.
    var position = max(
      collectedFinished, isWatched ? watchedFrom : finishedCount.load(ordering: .sequentiallyConsistent))
    while position < count {
      // The first operation may have ended before its start. Then it has left the queue.
      items[position]._withUnsafeGuaranteedRef { if $0.admission.place != .none { body($0) } }
      position += 1
    }
    unpin()
  }

  /// Starts watching the batch, because the queue has observers: the end of each operation is collected while the
  /// operation is alive.
  func watch() {
    guard !isWatched else { return }
    isWatched = true
    pin()
    watchedFrom = finishedCount.load(ordering: .sequentiallyConsistent)
  }

  /// Ends the batch on behalf of its thread, if that thread is running user code between two operations and all of the
  /// rest has been reclaimed.
  ///
  /// Such a thread must not occupy a concurrency slot. Call this before collecting the operations that became ready, so
  /// that nothing is published afterward.
  private func endIfOutside() {
    guard head.load(ordering: .relaxed) >= count else { return }
    isEnded =
      presence.compareExchange(expected: .outside, desired: .ended, ordering: .sequentiallyConsistent).exchanged
  }

  // MARK: On the batch's thread

  private static let numberShift = 48
  /// Bits that are 0 in every address: user space ends below them, and tagged pointers keep their tag above them.
  private static let numberBits: UInt = 0xFF << numberShift

  private static func operation(_ word: UInt) -> (OperationReference, number: Int)? {
    UnsafeRawPointer(bitPattern: word & ~numberBits).map {
      (OperationReference.fromOpaque($0), Int((word & numberBits) >> numberShift))
    }
  }

  /// Whether the thread should request work from the queue before it takes another operation, because an added
  /// operation may be more urgent.
  var yieldsToInbox: Bool {
    lowestLevel < QueuePriority.normal.level && home?._withUnsafeGuaranteedRef({ $0.inbox.isEmpty }) == false
  }

  /// The operation that belongs to the thread from the beginning.
  var first: OperationReference { items[0] }

  /// Takes the next operation to start, which then belongs to the thread.
  ///
  /// Returns nil if there is none.
  func next() -> OperationReference? {
    guard hasTakenFirst else {
      hasTakenFirst = true
      return items[0]
    }
    let position = head.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue
    return position < size ? items[position] : nil
  }

  fileprivate enum Presence: UInt8, AtomicRepresentable {
    /// The thread is in the batch, or will be.
    case inside
    /// The thread is running user code and will return.
    case outside
    /// Another thread has ended the batch.
    case ended
  }

  /// Leaves the batch temporarily: the thread is about to run user code between two operations, if there is a next one.
  ///
  /// ``returnFromUserCode()`` must follow. If no operation remains for ``next()``, because the thread has taken all of
  /// them or another thread has reclaimed the rest, the thread must close the batch first.
  ///
  /// Otherwise, a later reclaiming thread sees that this thread is outside, and sees the results that it has published
  /// so far. It can end the batch, so that this thread occupies no concurrency slot. This thread stores its presence,
  /// then reads `head`; the reclaiming thread changes `head`, then reads the presence. All four accesses are in one
  /// order (sequentially consistent; `Models/release.pml`).
  ///
  /// - Returns: Whether there is a next operation.
  func leave() -> Bool {
    presence.store(.outside, ordering: .sequentiallyConsistent)
    if !isExhausted { return true }
    _ = returnFromUserCode()
    return false
  }

  /// Returns to the batch after running user code.
  ///
  /// - Returns: Whether the batch continues.
  func returnFromUserCode() -> Bool {
    presence.compareExchange(expected: .outside, desired: .inside, ordering: .sequentiallyConsistent).exchanged
  }

  /// Notes that the operation is about to begin in this batch.
  ///
  /// Called before the operation begins, so that another thread that finishes the operation finds this batch.
  func noteCurrent(_ operation: OperationReference) {
    let number = UInt(bitPattern: finishedCount.load(ordering: .relaxed))
    current.store(UInt(bitPattern: operation.toOpaque()) | (number << Self.numberShift), ordering: .releasing)
  }

  /// Withdraws the current operation, because its end will not be published.
  func withdrawCurrent() { current.store(0, ordering: .releasing) }

  /// Publishes that the current operation, which the thread took, has finished.
  ///
  /// - Parameter isSettled: True if one step has ended and settled the operation. That step is in one order with
  ///   pinning, so a thread that pins the batch too late for this thread finds the operation settled. It might not see
  ///   this change yet. Therefore, this thread must either acquire the queue's lock before it releases the operation,
  ///   or leave the batch temporarily and then check ``hasToTakeLock``. Otherwise, the check can follow immediately.
  @inline(__always)
  func publishTaken(settled isSettled: Bool = false) {
    let number = finishedCount.load(ordering: .relaxed) + 1
    if isSettled { return finishedCount.store(number, ordering: .releasing) }
    finishedCount.store(number, ordering: .sequentiallyConsistent)
  }

  /// Publishes the end of the current operation, which the thread continued with.
  ///
  /// The queue releases the operation, perhaps before this returns.
  func publish(continued operation: OperationReference) {
    let number = finishedCount.load(ordering: .relaxed)
    continued[number] = operation
    finishedCount.store(number + 1, ordering: .releasing)
  }

  /// Notes that the current operation is about to be published and will then release its dependents.
  ///
  /// ``endSettling()`` must follow.
  func beginSettling() { settles.store(true, ordering: .relaxed) }

  /// Notes that the dependents have been released.
  ///
  /// A thread that then empties the queue sees this change: it has reclaimed the rest of the batch, or collected the
  /// results that this thread published afterward.
  func endSettling() { settles.store(false, ordering: .releasing) }

  /// Whether a published operation may not yet have released its dependents.
  ///
  /// In that case, the batch's thread takes the queue's lock once more after it has released them.
  var isSettling: Bool { settles.load(ordering: .acquiring) }

  /// Whether the thread must take the queue's lock before it releases a finished operation.
  var hasToTakeLock: Bool { isPinned.load(ordering: .sequentiallyConsistent) }

  /// Continues with an operation that became ready, without requesting work from the queue, if no other operation can
  /// start.
  ///
  /// ``mayBegin(newlyReady:)`` must have returned true. This function checks again for changes that other threads may
  /// have made since then.
  ///
  /// An operation that has already been ready can be in a batch, which must not find it finished.
  ///
  /// - Returns: Whether the operation has begun.
  func begin(newlyReady operation: Operation) -> Bool {
    isAlone && operation.state.beginPlainly(ifNeverReady: true)
  }

  /// Whether no other operation in the queue can start.
  private var isAlone: Bool {
    mayContinue.load(ordering: .relaxed) && home?._withUnsafeGuaranteedRef({ $0.inbox.isEmpty }) == true
  }

  /// Whether the thread can continue with an operation that became ready, as far as this can be determined before it
  /// begins.
  ///
  /// Reads `head` first: if another thread has moved it by reclaiming the rest, whose operations must start first, this
  /// function sees that the thread must not continue.
  func mayBegin(newlyReady operation: Operation) -> Bool {
    head.load(ordering: .acquiring) >= size && isAlone && finishedCount.load(ordering: .relaxed) < allowance
      && readiedCount.load(ordering: .relaxed) == 0
      && isMine(operation) && !operation.mayEndLater && placement.workerClass(of: operation) == workerClass
  }

  /// Publishes an operation that became ready and hands over its ownership, if the queue need not be notified of it
  /// before it next collects the results of the batch.
  func publish(newlyReady reference: OperationReference) -> Bool {
    let number = readiedCount.load(ordering: .relaxed)
    guard !keepsOrder, number < Self.newlyReadyCapacity,
      reference._withUnsafeGuaranteedRef({ isMine($0) && placement.workerClass(of: $0) == workerClass })
    else { return false }
    newlyReady[number] = reference
    readiedCount.store(number + 1, ordering: .releasing)
    return true
  }

  /// Whether the operation belongs to the batch's queue and its start and end run no unknown code.
  private func isMine(_ operation: Operation) -> Bool {
    let word = operation.state.current
    // Its queue can be read only after its state word shows that it is listed.
    return operation.startsUnasked && word.isListed && !word.startsSpecially
      && operation.queueLinks.home?.toOpaque() == home?.toOpaque()
  }
}
