import Synchronization

/// Operations that one thread has taken from a queue at once, to run one after the other, and what has come of them.
///
/// So the queue's lock is taken once for many operations. The thread to which a run belongs works without the lock; it
/// publishes what it has finished and what became ready by that, and whoever holds the queue's lock may book that, and
/// may take back what has not been started: when a more urgent operation is there, when the queue is suspended, when
/// the thread blocks, or when another thread has nothing to do.
///
/// Only operations go into runs of which the library knows all that happens at their start: exactly
/// ``BlockOperation``s.
final class OperationRun: @unchecked Sendable {
  // `items` and `count` change under the queue's lock, by the run's thread before it begins (or by whoever takes back,
  // which lowers `count`; the run's thread then goes by `head` and `size`). `finished` and `readied` are written by the
  // run's thread, each entry before the count that publishes it (releasing), and read under the queue's lock
  // (acquiring). `booked…`, `…Active`, `lowestLevel` and `lastSequence` change under the queue's lock, the last two by
  // the run's thread alone. `size`, `allowance`, `placement` and `keepsOrder` are that thread's.

  /// How many operations a run takes at most.
  static let capacity = 32
  private static let readiedCapacity = 64
  /// `head` of a run from which all has been taken back.
  private static let exhausted = Int.max / 2

  private let items = UnsafeMutablePointer<OperationReference>.allocate(capacity: capacity)
  private let finished = UnsafeMutablePointer<OperationReference>.allocate(capacity: capacity)
  private let readied = UnsafeMutablePointer<OperationReference>.allocate(capacity: readiedCapacity)

  /// The queue for which the run is made, which its thread keeps alive.
  private(set) var home: Unmanaged<OperationQueue>?
  /// What runs the queue in place of the pool.
  private(set) var executor: (any WorkExecutor)?

  /// The queue's quality of service, and the class of the run's thread, where classes matter.
  private var placement: (quality: QualityOfService, workerClass: WorkerClass?)?
  /// How many operations it had when it began.
  private var size = 0
  /// What becomes ready may have to be started before what is left.
  private var keepsOrder = false
  /// How many operations the thread runs at most, before it asks the queue again.
  private var allowance = 0
  /// Nothing else in the queue can be started: the thread may go on with what the last operation has made ready.
  ///
  /// Set and cleared under the queue's lock, looked at without it: a thread that misses the change is a thread that
  /// went on an instant earlier.
  private let mayGoOn = Atomic<Bool>(false)

  private(set) var count = 0
  /// The next to be started: who moves it has what was there.
  private let head = Atomic<Int>(0)
  /// The operation that is being run, with the number of those finished before it in the upper bits; 0 if it is ended
  /// in another way, or there is none.
  private let current = Atomic<UInt>(0)
  private let finishedCount = Atomic<Int>(0)
  private let readiedCount = Atomic<Int>(0)
  private var bookedFinished = 0
  private var bookedReadied = 0
  /// The lowest level of priority among the operations taken, and the number of the last one.
  private(set) var lowestLevel = 0
  private(set) var lastSequence: UInt64 = 0
  /// Among those of its queue; there, its neighbours.
  var isActive = false
  var nextActive: Unmanaged<OperationRun>?
  var previousActive: Unmanaged<OperationRun>?

  deinit {
    items.deallocate()
    finished.deallocate()
    readied.deallocate()
  }

  // MARK: Under the queue's lock

  /// Begins anew, with nothing.
  ///
  /// All has been booked.
  ///
  /// - Parameters:
  ///   - queue: The queue.
  ///   - executor: What runs it in place of the pool.
  ///   - placement: Its quality of service, and the class of the thread; nil where classes do not matter.
  func reset(
    for queue: OperationQueue, _ executor: (any WorkExecutor)?,
    placement: (quality: QualityOfService, workerClass: WorkerClass?)?
  ) {
    home = .passUnretained(queue)
    self.placement = placement
    if self.executor !== executor { self.executor = executor }
    count = 0
    head.store(0, ordering: .relaxed)
    current.store(0, ordering: .relaxed)
    finishedCount.store(0, ordering: .relaxed)
    readiedCount.store(0, ordering: .relaxed)
    bookedFinished = 0
    bookedReadied = 0
    lowestLevel = QueuePriority.highestLevel
  }

  /// All has been appended.
  ///
  /// - Parameters:
  ///   - allowance: How many operations the thread runs at most.
  ///   - mayGoOn: Nothing else in the queue can be started.
  ///   - keepsOrder: What becomes ready may have to be started before what is left in the run.
  func begin(atMost allowance: Int, mayGoOn: Bool, keepsOrder: Bool) {
    size = count
    self.keepsOrder = keepsOrder
    self.allowance = min(allowance, Self.capacity)
    self.mayGoOn.store(mayGoOn, ordering: .relaxed)
  }

  /// Something else can be started, or nothing may be.
  func stopGoingOn() { mayGoOn.store(false, ordering: .relaxed) }

  func append(_ operation: OperationReference, level: Int) {
    items[count] = operation
    count += 1
    lowestLevel = min(lowestLevel, level)
    lastSequence = operation.sequence
  }

  /// How many of the operations nobody has started, the first not counted, which is the thread's at once.
  ///
  /// It may already be fewer.
  var unstarted: Int { max(0, count - max(1, head.load(ordering: .relaxed))) }

  /// Takes back what has not been started.
  func takeBack(_ body: (Operation) -> Void) {
    stopGoingOn()
    let first = head.exchange(Self.exhausted, ordering: .acquiringAndReleasing)
    guard first < count else { return }
    for position in first..<count { items[position]._withUnsafeGuaranteedRef { body($0) } }
    count = first
  }

  /// The next operation that has finished and was not booked.
  func nextFinished() -> OperationReference? {
    while true {
      let published = finishedCount.load(ordering: .acquiring)
      if bookedFinished < published {
        bookedFinished += 1
        return finished[bookedFinished - 1]
      }
      // The one that is being run may have finished an instant ago, and somebody may have seen that.
      let running = current.load(ordering: .acquiring)
      // Nor was one published, before another was announced or withdrawn, since the count was read.
      guard finishedCount.load(ordering: .acquiring) == published else { continue }
      let number = Int(running >> Self.numberShift)
      guard running != 0, number == bookedFinished,
        let address = UnsafeRawPointer(bitPattern: running & (1 << Self.numberShift - 1))
      else { return nil }
      let operation = OperationReference.fromOpaque(address)
      guard operation._withUnsafeGuaranteedRef({ $0.state.current.isSettled }) else { return nil }
      bookedFinished += 1
      return operation
    }
  }

  /// The next operation that became ready and was not booked; owned by the caller.
  func nextReadied() -> OperationReference? {
    guard bookedReadied < readiedCount.load(ordering: .acquiring) else { return nil }
    bookedReadied += 1
    return readied[bookedReadied - 1]
  }

  // MARK: On the run's thread

  private static let numberShift = 48

  /// Whether the thread is to ask the queue before it goes on, since what has been added may be more urgent.
  var standsBack: Bool {
    lowestLevel < QueuePriority.normal.level && home?._withUnsafeGuaranteedRef({ $0.inbox.isEmpty }) == false
  }

  /// The next operation to start, which is the thread's now, or nil.
  func next() -> OperationReference? {
    let position = head.add(1, ordering: .acquiringAndReleasing).oldValue
    return position < size ? items[position] : nil
  }

  /// The operation has begun, in this run.
  func announce(_ operation: OperationReference) {
    let number = UInt(bitPattern: finishedCount.load(ordering: .relaxed))
    current.store(UInt(bitPattern: operation.toOpaque()) | number << Self.numberShift, ordering: .releasing)
  }

  /// The current operation ends in another way than by ``publish(_:)``.
  func withdraw() { current.store(0, ordering: .releasing) }

  /// The current operation has finished; the queue lets go of it, or has done so already.
  func publish(_ operation: OperationReference) {
    let number = finishedCount.load(ordering: .relaxed)
    finished[number] = operation
    finishedCount.store(number + 1, ordering: .releasing)
  }

  /// Goes on with an operation that became ready, without asking the queue, if it is the only one there is to start.
  ///
  /// One that has stood among the ready ones before may stand in a run, which must not find it finished.
  ///
  /// - Returns: Whether it has begun.
  func goOn(with operation: Operation) -> Bool {
    guard mayGoOn.load(ordering: .relaxed), finishedCount.load(ordering: .relaxed) < allowance,
      head.load(ordering: .relaxed) >= size, readiedCount.load(ordering: .relaxed) == 0, isMine(operation),
      home?._withUnsafeGuaranteedRef({ $0.inbox.isEmpty && $0.trackedProgress == nil }) == true
    else { return false }
    if let placement, operation.effectiveQuality(in: placement.quality).workerClass != placement.workerClass {
      return false
    }
    return operation.state.beginPlainly(isUnoffered: true)
  }

  /// Takes an operation that became ready, and its ownership, if the queue need not hear of it before it next looks at
  /// the run.
  func takeReady(_ reference: OperationReference) -> Bool {
    let number = readiedCount.load(ordering: .relaxed)
    guard !keepsOrder, number < Self.readiedCapacity, reference._withUnsafeGuaranteedRef({ isMine($0) }) else {
      return false
    }
    readied[number] = reference
    readiedCount.store(number + 1, ordering: .releasing)
    return true
  }

  /// Whether it is an operation of the run's queue of which the library knows all that happens at its start.
  private func isMine(_ operation: Operation) -> Bool {
    let word = operation.state.current
    // Its queue can be read once it says that it is in one.
    return operation.isPlainBlock && word.isBooked && !word.startsSpecially
      && operation.queueLinks.home?.toOpaque() == home?.toOpaque()
  }
}

extension Operation {
  /// Nothing of a subclass's happens when it starts and ends.
  final var isPlainBlock: Bool { type(of: self) == BlockOperation.self }
}

/// The runs of a queue that threads are at: an intrusive list, which does not own them; their threads do.
struct ActiveRuns {
  private var first: Unmanaged<OperationRun>?
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func insert(_ run: OperationRun) {
    run.isActive = true
    run.previousActive = nil
    run.nextActive = first
    first?._withUnsafeGuaranteedRef { $0.previousActive = .passUnretained(run) }
    first = .passUnretained(run)
    count += 1
  }

  mutating func remove(_ run: OperationRun) {
    run.isActive = false
    let (previous, next) = (run.previousActive, run.nextActive)
    if let previous { previous._withUnsafeGuaranteedRef { $0.nextActive = next } } else { first = next }
    next?._withUnsafeGuaranteedRef { $0.previousActive = previous }
    count -= 1
  }

  func forEach(_ body: (OperationRun) -> Void) {
    var position = first
    while let run = position {
      position = run._withUnsafeGuaranteedRef { run in
        body(run)
        return run.nextActive
      }
    }
  }
}
