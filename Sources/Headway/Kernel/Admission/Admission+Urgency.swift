/// How many operations raise others, per class.
struct UrgentCounts: Equatable {
  private(set) var normal = 0
  private(set) var utility = 0

  var isZero: Bool { normal | utility == 0 }

  /// The most urgent class that is counted, or the lowest class if there is none.
  var highest: WorkerClass { normal > 0 ? .normal : utility > 0 ? .utility : .background }

  mutating func change(_ workerClass: WorkerClass, by count: Int) {
    switch workerClass {
    case .normal: normal += count
    case .utility: utility += count
    case .background: break
    }
  }

  mutating func add(_ other: Self) {
    normal += other.normal
    utility += other.utility
  }
}

/// Operations and callers that wait for others without depending on them.
///
/// An operation is *urgent* if its own quality of service, or the quality of a waiting operation or caller, is higher
/// than the queue's. The admission raises the operations of the queue that an urgent operation waits for:
///
/// - *Insertion order, barriers, and the whole queue.* With `.fifo`, these are all operations that were added before
///   the urgent one. With barriers, these are all operations before the last barrier that is not behind it. If a caller
///   waits until the queue is empty or holds fewer operations, these are all operations. They are passed from the last
///   to the first, and each is raised. A passed operation records the class, and all operations before it were passed
///   for the same class. As a result, each operation is passed once for each of two classes, and all the raising is
///   linear in the number of operations. A single change can be O(*n*).
/// - *A limit.* These are the running operations, and the operations that start earlier, which can change. As a result,
///   no ready operation is moved. While an urgent operation is ready, no operation starts on a thread of a lower class
///   (the ``floor``). The same applies while it waits for the rate limit of the queue. There is one list of running
///   operations per class. While no concurrency slot is free, the operations in the lists of the lower classes move to
///   the list of the floor. Each operation moves at most twice, so this takes constant time per operation.
/// - *The limits of a key.* The lane of the key does the same with its own operations: see ``KeyLane``.
/// - *Resources.* These are the operations in any queue that use the resources or requested them earlier: see
///   ``ResourceTable``. An urgent operation that begins to wait for its resources is recorded.
///
/// An operation without its own quality of service is also raised, although it runs on a normal thread, because it may
/// wait for an operation on a thread of a lower class.
///
/// Raising marks an operation, moves it if it is ready, and records it if it runs or waits for others (``Raised``).
/// Once no lock is held, the owner raises its thread, or the operations that its operation waits for
/// (``Operation/raiseFurther(_:)``).
extension Admission {
  /// An operation that has been raised, and that runs or waits for others.
  struct Raised {
    let operation: Operation
    let level: Int
  }

  /// Whether operations of the queue may have to be raised, or have been.
  @inline(__always)
  var isRaising: Bool { awaitedClass != .background || !first.ready.urgent.isZero || !raised.isEmpty }

  /// Raises running operations if an urgent operation waits for a slot.
  ///
  /// Returns all operations that have been raised since the last call.
  mutating func takeRaised() -> [Raised] {
    raiseRunningIfFull()
    defer { raised = [] }
    return raised
  }

  // MARK: With a limit

  /// The lowest class of threads that start operations.
  var floor: WorkerClass { limit == .max && allowance == .max ? .background : first.ready.urgent.highest }

  /// Whether operations of all classes start in one order: there is a limit, or an urgent operation waits for the rate
  /// limit.
  @inline(__always)
  var hasOneOrder: Bool { limit != .max || (allowance != .max && !first.ready.urgent.isZero) }

  /// Which list contains the operation that a queue with one order starts next, and which workers start it.
  struct NextStart {
    /// The class of the list that contains it.
    let list: WorkerClass
    /// The class of the workers that start it.
    let workerClass: WorkerClass
  }

  /// The list of the next operation for a worker of a class, if there is one.
  @inline(__always)
  mutating func nextList(for workerClass: WorkerClass) -> WorkerClass? {
    if !hasOneOrder { return workerClass }
    return listInOrder(for: workerClass)
  }

  private mutating func listInOrder(for workerClass: WorkerClass) -> WorkerClass? {
    guard let nextStart, nextStart.workerClass == workerClass else { return nil }
    return nextStart.list
  }

  /// Raises an operation that starts while urgent operations wait for its slot.
  mutating func raiseToFloor(_ operation: Operation) {
    let floor = floor
    guard floor.isMoreUrgent(than: .background) else { return }
    _ = operation.state.raiseQuality(level: floor.raisingLevel)
  }

  private mutating func raiseRunningIfFull() {
    let floor = floor
    guard floor != .background, started >= limit else { return }
    for workerClass in WorkerClass.allCases where floor.isMoreUrgent(than: workerClass) {
      while let reference = running[workerClass].first {
        running[workerClass].remove(reference)
        running[floor].append(reference)
        reference._withUnsafeGuaranteedRef { operation in
          operation.admission.workerClass = floor
          raise(operation, to: floor)
        }
      }
    }
    raiseBatches(to: floor)
  }

  // MARK: Earlier operations

  /// Raises the operations that another operation waits for, because of insertion order or a barrier.
  ///
  /// - Parameters:
  ///   - operation: The operation, which was added or became more urgent.
  ///   - word: Its state word.
  mutating func raisePredecessors(of operation: Operation, _ word: OperationWord) {
    let urgency = placement.urgency(of: word)
    guard urgency != .background, !operation.admission.wasReturned, operation.admission.place != .taken else { return }
    let reference = OperationReference(operation)
    if order == .fifo || operation.isBarrier {
      raiseAll(from: reference.memberPrevious, before: reference.sequence, to: urgency)
    } else if let position = laterPosition(of: operation), urgency.isMoreUrgent(than: later[position].passedClass) {
      later[position].passedClass = urgency
      raiseAll(from: reference.memberPrevious, before: later[position].firstSequence, to: urgency)
    }
  }

  /// Raises all operations while a caller waits until the queue is empty, or holds fewer operations.
  mutating func beginAwaiting(_ workerClass: WorkerClass) {
    guard workerClass.isMoreUrgent(than: awaitedClass) else { return }
    if workerClass.isMoreUrgent(than: placement.ownClass) {
      makeOperations()
    } else {
      waitingBlocks.raise(to: workerClass, before: nextSequence)
    }
    awaitedClass = workerClass
    raiseAll(from: members.list.last, before: .max, to: workerClass)
  }

  /// Notes that no caller waits for the queue.
  mutating func endAwaiting() { awaitedClass = .background }

  private mutating func raiseAll(from last: OperationReference?, before sequence: UInt64, to urgency: WorkerClass) {
    raiseBatches(to: urgency)
    // These are few and not in insertion order: each thread returns at most one batch.
    var position = members.returned.first
    while let reference = position {
      position = reference.memberNext
      passedCount += 1
      if reference.sequence < sequence { reference._withUnsafeGuaranteedRef { raise($0, to: urgency) } }
    }
    position = last
    while let reference = position {
      position = reference.memberPrevious
      passedCount += 1
      guard reference.sequence < sequence else { continue }
      let isFirstTime = reference._withUnsafeGuaranteedRef { operation in
        guard urgency.isMoreUrgent(than: operation.admission.passedClass) else { return false }
        operation.admission.passedClass = urgency
        raise(operation, to: urgency)
        return true
      }
      guard isFirstTime else { return }
    }
  }

  // MARK: One operation

  /// Raises operations for an added operation that has a quality of service.
  ///
  /// Also raises the added operation if a caller waits for the queue.
  @inline(never)
  mutating func raiseAdded(_ operation: Operation, _ word: OperationWord) {
    if word.phase != .finished, !word.isCancelled { raisePredecessors(of: operation, word) }
    if awaitedClass != .background { raise(operation, to: awaitedClass) }
  }

  /// Counts a ready operation that has a quality of service as urgent.
  @inline(never)
  mutating func noteUrgency(of operation: Operation, _ word: OperationWord) {
    let urgency = placement.urgency(of: word)
    guard urgency != .background else { return }
    withSegment(of: operation) { $0.ready.count(operation, asUrgent: urgency) }
  }

  /// Raises an operation of the queue, and records it if it runs or waits for others.
  mutating func raise(_ operation: Operation, to workerClass: WorkerClass) {
    let place = operation.admission.place
    switch place {
    case .waiting, .heldBack, .gated, .ready, .granted, .running: break
    case .none, .taken, .cancelled, .cancelledWithinLimit, .leaving: return
    }
    guard let word = operation.state.raiseQuality(level: workerClass.raisingLevel) else { return }
    switch place {
    case .ready: moveReady(operation, word, level: readyLevel(of: word))
    case .granted: policy?.moveGranted(operation, in: &self)
    default:
      guard place == .running || place == .gated || word.unfinishedDependencies > 0 else { return }
      raised.append(Raised(operation: operation, level: workerClass.raisingLevel))
    }
  }

  /// Reclaims the operations that threads have taken but not started, and raises the operations that they run.
  mutating func raiseBatches(to workerClass: WorkerClass) {
    batches.forEach { batch in
      guard workerClass.isMoreUrgent(than: batch.raisedClass) else { return }
      batch.raisedClass = workerClass
      reclaim(batch)
      // All of them are recorded. Their threads can release them at any moment, and the last reference must not be
      // released under the lock.
      func note(_ operation: Operation) {
        _ = operation.state.raiseQuality(level: workerClass.raisingLevel)
        raised.append(Raised(operation: operation, level: workerClass.raisingLevel))
      }
      batch.forEachUnfinished(note)
      batch.withRunning(note)
    }
  }
}
