import Synchronization

/// Operations that one thread has taken from a queue at once, to run one after the other, and the results of that.
///
/// So the queue's lock is taken once for many operations. The thread to which a batch belongs works without the lock;
/// it publishes what it has finished and what became ready by that. A thread that holds the queue's lock may collect
/// that, and may reclaim what has not been started: when a more urgent operation is there, when the queue is suspended,
/// when an operation of the batch takes long, when its thread blocks, or when another thread has nothing to do.
///
/// Only operations go into batches of which the library knows all that happens at their start and at their end:
/// ``Operation/fitsBatch``.
final class Batch: @unchecked Sendable {
  // `items` and `count` change under the queue's lock, by the batch's thread before it begins, or by the thread that
  // reclaims, which lowers `count`; the batch's thread then goes by `head` and `size`. `continued` and `newlyReady` are
  // written by the batch's thread, each entry before the count that publishes it (releasing), and read under the
  // queue's lock (acquiring). `collected…`, `…Active`, `isWatched`, `lowestLevel`, `lastSequence` and `beginTime`
  // change under the queue's lock, the last three by the batch's thread alone; so does `raisedClass`. `size`,
  // `allowance`, `placement`, `keepsOrder`, `hasTakenFirst`, `deferred`, `effects` and `mainEnd` are that thread's.
  //
  // Of the operations in `items`, the thread owns those that it takes, and releases each once it has published that it
  // has finished; those that are reclaimed go back to the queue. So a thread with the queue's lock must not look at an
  // operation that may have finished, unless it has pinned the batch (`Models/release.pml`).

  /// How many operations a batch takes at most.
  static let capacity = 32
  private static let newlyReadyCapacity = 64
  /// `head` of a batch from which all has been reclaimed.
  private static let exhausted = Int.max / 2

  private let items = UnsafeMutablePointer<OperationReference>.allocate(capacity: capacity)
  /// Those with which the thread has continued, each at its number among those that have finished.
  private let continued = UnsafeMutablePointer<OperationReference>.allocate(capacity: capacity)
  private let newlyReady = UnsafeMutablePointer<OperationReference>.allocate(capacity: newlyReadyCapacity)

  /// The queue for which the batch is made, which its thread keeps alive.
  private(set) var home: Unmanaged<OperationQueue>?
  /// What runs the queue in place of the pool.
  private(set) var executor: (any WorkExecutor)?

  /// Where the queue's operations run.
  private(set) var placement = Placement(quality: .default, hasClasses: false)
  /// The class of the batch's thread, where classes matter.
  private(set) var workerClass = WorkerClass.normal
  /// All that it holds has been raised to this class.
  var raisedClass = WorkerClass.background
  /// How many operations it had when it began.
  private var size = 0
  /// What becomes ready may have to be started before what is left.
  private(set) var keepsOrder = false
  /// How many operations the thread runs at most, before it asks the queue again.
  private var allowance = 0
  /// Nothing else in the queue can be started: the thread may continue with what the last operation has made ready.
  ///
  /// Set and cleared under the queue's lock, looked at without it: a thread that misses the change is a thread that
  /// continued an instant earlier.
  private let mayContinue = Atomic<Bool>(false)

  private(set) var count = 0
  /// The next to be started, but for the first, which is the thread's at once: the thread that moves it has what was
  /// there.
  ///
  /// If the first could always be reclaimed, two threads could take it from each other for ever. It can be reclaimed
  /// from a thread that has kept something to release before: it does not when it asks the next time.
  private let head = Atomic<Int>(1)
  /// The thread has taken the first; belongs to that thread.
  private var hasTakenFirst = false
  /// The operation that is being run, with the number of those finished before it in ``numberBits``; 0 if it is ended
  /// in another way, or there is none.
  private let current = Atomic<UInt>(0)
  private let finishedCount = Atomic<Int>(0)
  private let readiedCount = Atomic<Int>(0)
  private var collectedFinished = 0
  private var collectedNewlyReady = 0
  /// How many that became ready were taken down, to be collected after what has finished.
  private var notedReadied = 0
  /// The current operation has left the queue, and has not released its dependents.
  private let settles = Atomic<Bool>(false)
  /// The thread has to take the queue's lock between publishing the end of an operation and releasing it.
  ///
  /// The thread publishes, then looks; who has the lock sets this, then reads what is published. All four are in one
  /// order (sequentially consistent): so either the one sees that the operation has finished, or the other waits.
  private let isPinned = Atomic<Bool>(false)
  /// Somebody observes the queue: it stays pinned, and the operations that end from this number on are alive until the
  /// thread has had the queue's lock.
  private var isWatched = false
  private var watchedFrom = 0
  /// Where the thread is, as far as the queue goes: see ``leave()``.
  private let presence = Atomic<Presence>(.inside)
  /// It has ended in its thread's place, once what is published has been collected.
  private(set) var isEnded = false
  /// The lowest level of priority among the operations taken, and the number of the last one.
  private(set) var lowestLevel = 0
  private(set) var lastSequence: UInt64 = 0
  /// When the thread took it, in nanoseconds of uptime.
  private(set) var beginTime: UInt64 = 0
  /// Among those of its queue, which the batch's thread may read without the lock while it is inside; there, its
  /// neighbours.
  var isActive = false
  var nextActive: Unmanaged<Batch>?
  var previousActive: Unmanaged<Batch>?

  deinit {
    items.deallocate()
    continued.deallocate()
    newlyReady.deallocate()
  }

  // MARK: What the thread has still to do

  // `Batch+Remaining.swift` is about these, which belong to the batch's thread. They are looked at after each
  // operation; where a single thread excludes, that is not checked once more at each access.

  @exclusivity(unchecked) var deferred = DeferredReleases()
  /// The thread releases the work of an operation that has ended: a `deinit` of the user's may wait for anything.
  ///
  /// A wait of Headway's closes the batch: see ``leaveToWait()``.
  @exclusivity(unchecked) var releasesWork = false
  /// The operation with which the thread is about to continue; retained.
  @exclusivity(unchecked) var awaiting: OperationReference?
  @exclusivity(unchecked) var mainEnd = MainEnd()
  /// What the end of the last operation has left to be done that may run users' code.
  @exclusivity(unchecked) var effects = Effects()
  /// Steps that were performed, to be used again: they would be an allocation for each operation that is observed.
  @exclusivity(unchecked) var recycledSteps: Effects.Steps?

  /// Whether the thread has taken all operations, or another thread has reclaimed the rest.
  ///
  /// If not, a thread that reclaims the rest later sees what this one has published: this one publishes, then looks;
  /// the other changes the head, then looks at what is published. All four are in one order (sequentially consistent).
  var isExhausted: Bool { !hasTakenFirst || head.load(ordering: .sequentiallyConsistent) >= size }

  /// Whether the thread can run completion blocks, between two operations.
  ///
  /// Where the number that may run is limited, the batch has a place of the limit, which a completion block has not.
  var runsCompletionBlocks: Bool { executor == nil && !keepsOrder }

  // MARK: Under the queue's lock

  /// Begins anew, with nothing.
  ///
  /// All has been collected.
  ///
  /// - Parameters:
  ///   - queue: The queue.
  ///   - executor: What runs it in place of the pool.
  ///   - placement: Where its operations run.
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
    collectedFinished = 0
    collectedNewlyReady = 0
    notedReadied = 0
    isPinned.store(false, ordering: .relaxed)
    isWatched = false
    presence.store(.inside, ordering: .relaxed)
    isEnded = false
    lowestLevel = QueuePriority.highestLevel
  }

  /// All has been appended.
  ///
  /// If the thread has kept something to release, others may take the first operation, too, until it has done that.
  ///
  /// - Parameters:
  ///   - allowance: How many operations the thread runs at most.
  ///   - mayContinue: Nothing else in the queue can be started.
  ///   - keepsOrder: What becomes ready may have to be started before what is left in the batch.
  ///   - time: The time, in nanoseconds of uptime.
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

  /// Something else can be started, or nothing may be.
  func stopContinuing() { mayContinue.store(false, ordering: .relaxed) }

  func append(_ operation: OperationReference, level: Int) {
    items[count] = operation
    count += 1
    lowestLevel = min(lowestLevel, level)
    lastSequence = operation.sequence
  }

  /// How many operations are here for other threads: those that no thread has taken, and those that became ready and
  /// were not collected.
  ///
  /// It may already be fewer that were not taken. In this order: if an operation is seen as taken, what the thread
  /// published before it took that is seen, too.
  var startable: Int {
    let unstarted = max(0, count - head.load(ordering: .acquiring))
    return unstarted + readiedCount.load(ordering: .acquiring) - collectedNewlyReady
  }

  /// Takes out what has not been started; `body` takes over the ownership.
  ///
  /// What the batch's thread published before it took its last operation is seen after this: the exchange acquires what
  /// the addition in ``next()`` released.
  func reclaim(_ body: (Operation) -> Void) {
    stopContinuing()
    let first = head.exchange(Self.exhausted, ordering: .sequentiallyConsistent)
    guard first < count else { return }
    for position in first..<count { items[position]._withUnsafeGuaranteedRef { body($0) } }
    count = first
  }

  /// What has finished and was not collected.
  enum Finished {
    /// Some that the thread had taken; if the batch is watched, and it is one by itself, the operation.
    case taken(count: Int, OperationReference?)
    /// One with which the thread continued.
    case continued(OperationReference)
  }

  /// The next that have finished and were not collected.
  ///
  /// - Parameter isSingle: One at a time; otherwise, all at once that the thread had taken.
  /// - Returns: What has finished, or nil if nothing has.
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
      // The one that is being run may have finished an instant ago, and another thread may have seen that.
      // One that another thread has ended has left the queue.
      guard let operation = pinRunning(),
        operation._withUnsafeGuaranteedRef({ $0.state.current.isSettled && $0.admission.place != .none })
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

  /// Takes down what became ready, and ends the batch if the thread is outside.
  func noteNewlyReady() {
    endIfOutside()
    notedReadied = readiedCount.load(ordering: .acquiring)
  }

  /// The next operation that was taken down as ready and was not collected; owned by the caller.
  func nextReadied() -> OperationReference? {
    guard collectedNewlyReady < notedReadied else { return nil }
    collectedNewlyReady += 1
    return newlyReady[collectedNewlyReady - 1]
  }

  /// From now on, what is published is released only once the lock is.
  private func pin() { isPinned.store(true, ordering: .sequentiallyConsistent) }

  private func unpin() { isPinned.store(isWatched, ordering: .releasing) }

  /// Returns the operation that is being run, if its end was neither published nor collected; the batch is pinned then.
  private func pinRunning() -> OperationReference? {
    // Mostly there is none, and nothing to pin.
    guard let (_, number) = Self.operation(current.load(ordering: .acquiring)), number == collectedFinished
    else { return nil }
    pin()
    guard let (operation, number) = Self.operation(current.load(ordering: .acquiring)), number == collectedFinished,
      number == finishedCount.load(ordering: .sequentiallyConsistent)
    else { return nil }
    return operation
  }

  /// Whether the thread has begun with an operation, or is about to, and has not ended it.
  func isRunning(_ operation: Operation) -> Bool {
    guard let (running, number) = Self.operation(current.load(ordering: .acquiring)) else { return false }
    return running.toOpaque() == OperationReference(operation).toOpaque()
      && number == finishedCount.load(ordering: .acquiring)
  }

  /// Calls `body` with the operation that is being run, if there is one.
  func withRunning(_ body: (Operation) -> Void) {
    pinRunning()?._withUnsafeGuaranteedRef { body($0) }
    unpin()
  }

  /// Calls `body` with each operation that the thread has taken, or is to take, and that has not finished.
  func forEachUnfinished(_ body: (Operation) -> Void) {
    pin()
    // Those that are watched are there until they are counted as finished.
    var position = max(
      collectedFinished, isWatched ? watchedFrom : finishedCount.load(ordering: .sequentiallyConsistent))
    while position < count {
      // The first may have been ended before its start: it has left the queue.
      items[position]._withUnsafeGuaranteedRef { if $0.admission.place != .none { body($0) } }
      position += 1
    }
    unpin()
  }

  /// Somebody observes the queue: the end of each operation is collected while that is alive.
  func watch() {
    guard !isWatched else { return }
    isWatched = true
    pin()
    watchedFrom = finishedCount.load(ordering: .sequentiallyConsistent)
  }

  /// Ends the batch in its thread's place, if the thread runs users' code between two operations and comes back to find
  /// that all has been reclaimed: then it is to have no place of the queue's limit.
  ///
  /// To be called before what became ready is collected, so that nothing is published after that.
  private func endIfOutside() {
    guard head.load(ordering: .relaxed) >= count else { return }
    isEnded =
      presence.compareExchange(expected: .outside, desired: .ended, ordering: .sequentiallyConsistent).exchanged
  }

  // MARK: On the batch's thread

  private static let numberShift = 48
  /// Bits that are 0 in every address: user space ends below them, and tagged pointers have their tag above them.
  private static let numberBits: UInt = 0xFF << numberShift

  private static func operation(_ word: UInt) -> (OperationReference, number: Int)? {
    UnsafeRawPointer(bitPattern: word & ~numberBits).map {
      (OperationReference.fromOpaque($0), Int((word & numberBits) >> numberShift))
    }
  }

  /// Whether the thread is to ask the queue before it takes another operation, since what has been added may be more
  /// urgent.
  var yieldsToInbox: Bool {
    lowestLevel < QueuePriority.normal.level && home?._withUnsafeGuaranteedRef({ $0.inbox.isEmpty }) == false
  }

  /// The operation that belongs to the thread from the beginning.
  var first: OperationReference { items[0] }

  /// The next operation to start, which is the thread's now, or nil.
  func next() -> OperationReference? {
    guard hasTakenFirst else {
      hasTakenFirst = true
      return items[0]
    }
    let position = head.add(1, ordering: .acquiringAndReleasing).oldValue
    return position < size ? items[position] : nil
  }

  fileprivate enum Presence: UInt8, AtomicRepresentable {
    /// The thread is at the batch, or will be.
    case inside
    /// It runs users' code, and comes back.
    case outside
    /// Another thread has ended the batch.
    case ended
  }

  /// The thread is about to run users' code between two operations, if there is a next one; ``comeBack()`` follows.
  ///
  /// If ``next()`` has none, because the thread has taken all, or another has reclaimed the rest, the thread is to
  /// close the batch first. Otherwise, who reclaims the rest later sees what the thread has published by now: adding
  /// nothing releases, as ``next()`` does, what the exchange of ``reclaim(_:)`` acquires. It also sees that the thread
  /// is outside, and may end the batch, so that the thread keeps no place of the queue's limit: the thread says where
  /// it is, then looks at the head, and who reclaims changes the head, then looks where the thread is. All four are in
  /// one order (sequentially consistent; `Models/release.pml`).
  ///
  /// - Returns: Whether there is a next one.
  func leave() -> Bool {
    presence.store(.outside, ordering: .sequentiallyConsistent)
    if hasTakenFirst, head.add(0, ordering: .sequentiallyConsistent).oldValue < size { return true }
    _ = comeBack()
    return false
  }

  /// The users' code has returned.
  ///
  /// - Returns: Whether the batch goes on.
  func comeBack() -> Bool {
    presence.compareExchange(expected: .outside, desired: .inside, ordering: .sequentiallyConsistent).exchanged
  }

  /// The operation begins, in this batch.
  ///
  /// Said before, so that the batch is known as that of an operation that another thread ends.
  func noteCurrent(_ operation: OperationReference) {
    let number = UInt(bitPattern: finishedCount.load(ordering: .relaxed))
    current.store(UInt(bitPattern: operation.toOpaque()) | number << Self.numberShift, ordering: .releasing)
  }

  /// The current operation ends in another way than by being published.
  func withdrawCurrent() { current.store(0, ordering: .releasing) }

  /// The current operation, which the thread had taken, has finished.
  ///
  /// If then ``hasToTakeLock``, the thread takes the queue's lock before it releases it.
  func publishTaken() {
    finishedCount.store(finishedCount.load(ordering: .relaxed) + 1, ordering: .sequentiallyConsistent)
  }

  /// The current operation, with which the thread continued, has finished; the queue releases it, or has done so
  /// already.
  func publish(continued operation: OperationReference) {
    let number = finishedCount.load(ordering: .relaxed)
    continued[number] = operation
    finishedCount.store(number + 1, ordering: .releasing)
  }

  /// The current operation is about to be published, and releases its dependents after that; ``endSettling()`` follows.
  func beginSettling() { settles.store(true, ordering: .relaxed) }

  /// The dependents are released.
  ///
  /// A thread that empties the queue after that sees it: it has reclaimed the rest of the batch, or collected what this
  /// thread publishes afterwards.
  func endSettling() { settles.store(false, ordering: .releasing) }

  /// Whether an operation that was published may not have released its dependents.
  ///
  /// Then the batch's thread takes the queue's lock once more when it has.
  var isSettling: Bool { settles.load(ordering: .acquiring) }

  /// Whether the thread is to take the queue's lock before it releases what has finished.
  var hasToTakeLock: Bool { isPinned.load(ordering: .sequentiallyConsistent) }

  /// Continues with an operation that became ready, without asking the queue, if it is the only one there is to start.
  ///
  /// ``mayBegin(newlyReady:)`` has said that it may. This looks again at what other threads have changed since.
  ///
  /// One that has been among the ready ones before may be in a batch, which must not find it finished.
  ///
  /// - Returns: Whether it has begun.
  func begin(newlyReady operation: Operation) -> Bool {
    isAlone && operation.state.beginPlainly(ifNeverReady: true)
  }

  /// Whether nothing else in the queue can be started.
  private var isAlone: Bool {
    mayContinue.load(ordering: .relaxed) && home?._withUnsafeGuaranteedRef({ $0.inbox.isEmpty }) == true
  }

  /// Whether the thread may continue with an operation that became ready, as far as can be seen before it begins.
  ///
  /// The head first: if it is where it is because another thread has reclaimed the rest, which has to start before,
  /// then this sees that it may not continue.
  func mayBegin(newlyReady operation: Operation) -> Bool {
    head.load(ordering: .acquiring) >= size && isAlone && finishedCount.load(ordering: .relaxed) < allowance
      && readiedCount.load(ordering: .relaxed) == 0
      && isMine(operation) && !operation.mayEndLater && placement.workerClass(of: operation) == workerClass
  }

  /// Publishes an operation that became ready, and hands over its ownership, if the queue need not hear of it before it
  /// next collects the results of the batch.
  func publish(newlyReady reference: OperationReference) -> Bool {
    let number = readiedCount.load(ordering: .relaxed)
    guard !keepsOrder, number < Self.newlyReadyCapacity,
      reference._withUnsafeGuaranteedRef({ isMine($0) && placement.workerClass(of: $0) == workerClass })
    else { return false }
    newlyReady[number] = reference
    readiedCount.store(number + 1, ordering: .releasing)
    return true
  }

  /// Whether it is an operation of the batch's queue of which the library knows all that happens at its start.
  private func isMine(_ operation: Operation) -> Bool {
    let word = operation.state.current
    // Its queue can be read once it says that it is in one.
    return operation.startsUnasked && word.isListed && !word.startsSpecially
      && operation.queueLinks.home?.toOpaque() == home?.toOpaque()
  }
}
