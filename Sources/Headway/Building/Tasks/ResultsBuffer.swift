import Synchronization

/// The operations of one iteration over results, from their creation until the iterator takes them.
///
/// A task, the driver, creates the operations. It waits for a free place before it creates each one.
final class ResultsBuffer: Sendable {
  // The buffer is not generic, unlike the iterator, because looking up the types of generic properties takes as long as
  // a small operation.

  /// Adds an operation for each input, until no further operations may be created.
  typealias Driver = @Sendable (ResultsBuffer, OperationQueue) async throws -> Void

  /// An operation that has ended.
  private struct Ended {
    let number: Int
    let isSuccess: Bool
  }

  private struct State {
    /// How many operations can be created now.
    var places: Int
    /// The driver, if it waits for a place.
    var driverWaiter: Waiter?
    /// How many operations have been created.
    var count = 0
    /// The operations that have not been taken, by number.
    var operations: [Int: Operation] = [:]
    var unfinishedCount = 0
    /// The operations that have ended, in result order.
    ///
    /// An element is nil if its operation has not ended but must be taken before an operation that has ended.
    var ended = FirstInFirstOut<Ended?>()
    /// How many operations have been taken.
    var takenCount = 0
    /// The tasks that wait for a result.
    var consumers = WaiterList()
    var driver: Task<Void, Never>?
    /// The priority that the driver and the operations were raised to.
    var priority = TaskPriority.background
    var hasBegun = false
    /// The driver has finished: it creates no further operations.
    var isDriven = false
    /// The error of the sequence of inputs.
    var error: (any Error)?
    /// No further operations may be created.
    var isCancelled = false
    /// All operations with higher numbers have been cancelled, or a thread is about to cancel them.
    var lastUncancelled = Int.max

    /// Whether the next result is available, or no further result follows.
    var isNextAvailable: Bool {
      ended.isEmpty ? isDriven && unfinishedCount == 0 : ended[0] != nil
    }
  }

  private let isInOrder: Bool
  /// The iteration has returned its last result, or has thrown an error.
  ///
  /// Set once. A task that is about to wait reads it under the lock. ``end()`` sets it and then acquires the lock, so
  /// it wakes every task that has not seen it.
  private let over = Atomic<Bool>(false)
  // Protected by its lock. Nothing is called and no user object is released under it.
  private let state: Guarded<State>

  init(maxInFlightCount: Int, isInOrder: Bool) {
    self.isInOrder = isInOrder
    state = Guarded(State(places: maxInFlightCount))
  }

  var isOver: Bool { over.load(ordering: .acquiring) }

  /// Ends the iteration for all copies of the iterator.
  func end() {
    over.store(true, ordering: .releasing)
    wake(state.withLock { $0.consumers.removeAll() })
  }

  private func wake(_ waiters: [Waiter]) { for waiter in waiters { waiter.wake() } }

  // MARK: Making operations

  /// Begins to call the function.
  ///
  /// Only the first call has an effect.
  ///
  /// - Parameters:
  ///   - queue: The queue that runs the operations.
  ///   - addAll: Adds the operations.
  func begin(_ queue: OperationQueue, _ addAll: @escaping Driver) {
    let isFirst = state.withLock { state in
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    guard isFirst else { return }
    // On the pool, because requesting an input can block.
    let driver = Task(executorPreference: PoolTaskExecutor.shared) {
      var failure: (any Error)?
      do { try await addAll(self, queue) } catch { failure = error }
      self.change { state in (state.isDriven, state.error) = (true, failure) }
    }
    let isCancelled = state.withLock { state in
      state.driver = driver
      return state.isCancelled
    }
    if isCancelled { driver.cancel() }
  }

  /// Waits until another operation can be created.
  ///
  /// - Returns: False if no further operations may be created.
  func takePlace() async -> Bool {
    while true {
      let answer = state.withLock { state -> Bool? in
        guard !state.isCancelled else { return false }
        guard state.places > 0 else { return nil }
        state.places -= 1
        return true
      }
      if let answer { return answer }
      await WaiterList.suspend { waiter in
        state.withLock { state in
          guard state.places == 0, !state.isCancelled else { return false }
          state.driverWaiter = waiter
          return true
        }
      }
    }
  }

  /// Adds an operation to the queue, in a place that was taken for it.
  ///
  /// - Returns: False if no further operations may be created.
  /// - Throws: ``QueueClosedError`` if the queue is closed; `CancellationError` if the queue belongs to a group that
  ///   has finished.
  func add(_ operation: () -> Operation, to queue: OperationQueue) throws -> Bool {
    guard !queue.isClosed else { throw QueueClosedError(queue: queue) }
    // A group that is closing waits for additions that have begun.
    guard queue.beginAddition() else { throw CancellationError() }
    defer { queue.endAddition() }
    let operation = operation()
    let number = state.withLock { state -> Int? in
      guard !state.isCancelled else { return nil }
      state.operations[state.count] = operation
      state.unfinishedCount += 1
      state.count += 1
      return state.count - 1
    }
    guard let number else { return false }
    operation.callWhenEnded { [self] in
      let isSuccess = if case .success? = operation.outcome { true } else { false }
      change { state in
        // Under the same lock, and before others are cancelled, so that their cancellation is not the first error.
        if !isSuccess { state.isCancelled = true }
        state.unfinishedCount -= 1
        let position = isInOrder ? number - state.takenCount : state.ended.count
        while state.ended.count <= position { state.ended.append(nil) }
        state.ended[position] = Ended(number: number, isSuccess: isSuccess)
      }
      if !isSuccess { cancelElsewhere(behind: isInOrder ? number : -1) }
    }
    queue.addOperation(operation)
    return true
  }

  /// Changes the state and wakes the tasks that wait for a result if one is available or none follows.
  private func change(_ change: (inout State) -> Void) {
    let woken = state.withLock { state in
      change(&state)
      return state.isNextAvailable ? state.consumers.removeAll() : []
    }
    wake(woken)
  }

  // MARK: Taking operations

  private enum Next {
    case operation(Operation)
    case end((any Error)?)
    case none
  }

  /// Waits until the next result is available, and takes its operation, which frees a place for another.
  ///
  /// - Returns: The operation; nil at the end.
  /// - Throws: The error of the sequence of inputs; `CancellationError` if the task is cancelled.
  func next() async throws -> Operation? {
    while true {
      switch takeNext(for: Task.currentPriority) {
      case .operation(let operation):
        return operation
      case .end(let error):
        end()
        if let error { throw error }
        return nil
      case .none:
        if isOver { return nil }
      }
      try await withPriority(raising: { self.raise(to: $0) }) {
        try await KnownWait.suspending(until: .result(of: { self.awaited }), in: nil) {
          try await WaiterList.suspend { waiter in
            self.state.withLock { state in
              guard !state.isNextAvailable, !self.isOver else { return false }
              state.consumers.append(waiter)
              return true
            }
          } removing: { identifier in
            self.state.withLock { $0.consumers.remove(identifier) }
          }
        }
      }
    }
  }

  /// One of these operations must end before the next result is available.
  ///
  /// Empty if another operation may be created first.
  private var awaited: [Operation] {
    state.withLock { state in
      if isInOrder { return state.operations[state.takenCount].map { [$0] } ?? [] }
      return state.places > 0 && !state.isDriven ? [] : Array(state.operations.values)
    }
  }

  private func takeNext(for priority: TaskPriority) -> Next {
    let isUrgent = QualityOfService(priority) != .default
    let (next, driver, raises) = state.withLock { state -> (Next, Waiter?, Bool) in
      guard state.isNextAvailable, !isOver else { return (.none, nil, false) }
      guard let ended = state.ended.popFirst() ?? nil,
        let operation = state.operations.removeValue(forKey: ended.number)
      else { return (.end(state.error.take()), nil, false) }
      // The caller throws its error. Other copies of the iterator throw none.
      if !ended.isSuccess { over.store(true, ordering: .releasing) }
      state.takenCount += 1
      state.places += 1
      return (.operation(operation), state.driverWaiter.take(), isUrgent && state.priority < priority)
    }
    driver?.wake()
    if raises { raise(to: priority) }
    return next
  }

  // MARK: Raising

  /// Raises the driver and the operations: a task of this priority waits for a result.
  ///
  /// Operations that are created later have the driver's priority.
  private func raise(to priority: TaskPriority) {
    let raised = state.withLock { state -> (Task<Void, Never>?, [Operation])? in
      guard state.priority < priority else { return nil }
      state.priority = priority
      return (state.driver, Array(state.operations.values))
    }
    guard let (driver, operations) = raised else { return }
    driver?.escalate(to: priority)
    for operation in operations { operation.raiseQuality(to: priority) }
  }

  // MARK: Cancelling

  /// Cancels the operations that were created after the given one, and prevents the creation of more operations.
  ///
  /// - Parameter number: The number of the given operation; -1 to cancel all.
  /// - Returns: The operations that were cancelled.
  @discardableResult
  func cancel(behind number: Int = -1) -> [Operation] {
    let (driver, waiter, operations) = state.withLock { state in
      state.isCancelled = true
      let later = state.operations.filter { $0.key > number }.map(\.value)
      return (state.driver, state.driverWaiter.take(), later)
    }
    driver?.cancel()
    waiter?.wake()
    Operation.cancel(together: operations)
    return operations
  }

  /// Does the same on another thread, because it runs user code: cancellation handlers.
  ///
  /// This takes O(*n*) in the number of operations. Therefore operations that end because of it do not cause it again.
  private func cancelElsewhere(behind number: Int) {
    let isDone = state.withLock { state in
      let isDone = state.lastUncancelled <= number
      state.lastUncancelled = min(state.lastUncancelled, number)
      return isDone
    }
    guard !isDone else { return }
    WorkerPool.shared.submit(PoolBlock { self.cancel(behind: number) }, count: 1)
  }

  /// Cancels all operations and returns when none of the calls is running.
  func cancelAll() async { for operation in cancel() { await operation.ended() } }
}

/// The object that an iterator owns.
///
/// When its last copy is released, the running calls are cancelled.
final class ResultsOwner: Sendable {
  let buffer: ResultsBuffer

  init(_ buffer: ResultsBuffer) { self.buffer = buffer }

  deinit { buffer.cancel() }
}
