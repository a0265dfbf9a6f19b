/// The operations of one iteration over results, from their creation until their values have been taken.
///
/// A task, the driver, creates the operations, and waits for a place before each one. The iterator takes them as they
/// arrive.
final class ResultsBuffer<Output: Sendable>: Sendable {
  enum Arrival: Sendable {
    case operation(TaskOperation<Output>, number: Int)
    /// The sequence of inputs has ended with an error.
    case failure(any Error)
  }

  private struct State {
    /// How many operations can be created now.
    var places: Int
    /// How many operations have been created.
    var count = 0
    /// The operations whose values have not been taken, by number.
    var operations: [Int: TaskOperation<Output>] = [:]
    var unfinishedCount = 0
    var driver: Task<Void, Never>?
    /// The priority that the driver and the operations were raised to.
    var priority: TaskPriority?
    var hasBegun = false
    /// The driver has finished: it creates no further operations.
    var isDriven = false
    /// The error of the sequence of inputs.
    var error: (any Error)?
    /// No further operations may be created.
    var isCancelled = false
    /// All operations with higher numbers have been cancelled, or a thread is about to cancel them.
    var lastUncancelled = Int.max
    /// The iteration has returned its last result, or has thrown an error.
    var isOver = false
  }

  /// The operations that the iterator takes: in the order of the inputs, as soon as they are added, or in the order of
  /// their ends.
  let arrivals: AsyncStream<Arrival>
  private let arrival: AsyncStream<Arrival>.Continuation
  /// Notifies the driver that there is a place.
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private let isInOrder: Bool
  // Protected by its lock. Nothing is called and no user object is released under it.
  private let state: Guarded<State>

  init(maxInFlightCount: Int, isInOrder: Bool) {
    (arrivals, arrival) = AsyncStream.makeStream()
    (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.isInOrder = isInOrder
    state = Guarded(State(places: maxInFlightCount))
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  func end() { state.withLock { $0.isOver = true } }

  // MARK: Making operations

  /// Begins to call the function.
  ///
  /// Only the first call has an effect.
  ///
  /// - Parameters:
  ///   - queue: The queue that runs the operations.
  ///   - forEachCall: Provides the calls.
  func begin(_ queue: OperationQueue, _ forEachCall: @escaping OperationResults<Output>.Calls) {
    let isFirst = state.withLock { state in
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    guard isFirst else { return }
    // On the pool, because requesting an input can block.
    let driver = Task(executorPreference: PoolTaskExecutor.shared) { await self.drive(queue, forEachCall) }
    let isCancelled = state.withLock { state in
      state.driver = driver
      return state.isCancelled
    }
    if isCancelled { driver.cancel() }
  }

  private func drive(_ queue: OperationQueue, _ forEachCall: OperationResults<Output>.Calls) async {
    var error: (any Error)?
    do {
      var signals = signals.makeAsyncIterator()
      try await forEachCall { call in
        while !takePlace() {
          guard await signals.next(isolation: #isolation) != nil else { return false }
        }
        guard !queue.isClosed else { throw QueueClosedError(queue: queue) }
        // A group that is closing waits for additions that have begun.
        guard queue.beginAddition() else { throw CancellationError() }
        defer { queue.endAddition() }
        return add(TaskOperation { try await call() }, to: queue)
      }
    } catch let thrown {
      error = thrown
    }
    finishIfOver { state in (state.isDriven, state.error) = (true, error) }
  }

  private func takePlace() -> Bool {
    state.withLock { state in
      guard state.places > 0 else { return false }
      state.places -= 1
      return true
    }
  }

  /// - Returns: False if no further operations may be created.
  private func add(_ operation: TaskOperation<Output>, to queue: OperationQueue) -> Bool {
    let number = state.withLock { state -> Int? in
      guard !state.isCancelled else { return nil }
      state.operations[state.count] = operation
      state.count += 1
      state.unfinishedCount += 1
      return state.count - 1
    }
    guard let number else { return false }
    if isInOrder { arrival.yield(.operation(operation, number: number)) }
    operation.callWhenEnded { [self] in
      if !isInOrder { arrival.yield(.operation(operation, number: number)) }
      if case .success? = operation.outcome {} else { cancelElsewhere(behind: isInOrder ? number : -1) }
      finishIfOver { $0.unfinishedCount -= 1 }
    }
    queue.addOperation(operation)
    return true
  }

  /// Finishes the sequence of arrivals if the last result is available after a change.
  private func finishIfOver(after change: (inout State) -> Void) {
    let (isOver, error) = state.withLock { state in
      change(&state)
      return (state.isDriven && state.unfinishedCount == 0, state.error)
    }
    guard isOver else { return }
    if let error { arrival.yield(.failure(error)) }
    arrival.finish()
  }

  // MARK: Taking their values

  /// Takes an operation out, because its value has been taken.
  ///
  /// This makes a place for another.
  func take(_ number: Int) {
    let taken = state.withLock { state in
      state.places += 1
      return state.operations.removeValue(forKey: number)
    }
    signal.yield()
    withExtendedLifetime(taken) {}
  }

  // MARK: Raising

  /// Raises the driver and the operations: a task of this priority waits for a result.
  ///
  /// Operations that are created later have the driver's priority.
  func raise(to priority: TaskPriority) {
    let raised = state.withLock { state -> (Task<Void, Never>?, [TaskOperation<Output>])? in
      guard state.priority ?? .background < priority else { return nil }
      state.priority = priority
      return (state.driver, Array(state.operations.values))
    }
    guard let (driver, operations) = raised else { return }
    driver?.escalate(to: priority)
    for operation in operations { operation.raiseQuality(to: priority) }
  }

  // MARK: Cancelling

  /// Cancels the operations that were created after the given one, and prevents the creation of others.
  ///
  /// - Parameter number: The number of the given operation; -1 to cancel all.
  /// - Returns: The operations that were cancelled.
  @discardableResult
  func cancel(behind number: Int = -1) -> [TaskOperation<Output>] {
    let (driver, operations) = state.withLock { state in
      state.isCancelled = true
      return (state.driver, state.operations.filter { $0.key > number }.map(\.value))
    }
    driver?.cancel()
    for operation in operations { operation.cancel() }
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

  /// Cancels all operations, and returns when none of the calls is running.
  func cancelAll() async { for operation in cancel() { await operation.ended() } }
}

/// The object that an iterator owns.
///
/// When its last copy is released, the running calls are cancelled.
final class ResultsOwner<Output: Sendable>: Sendable {
  let line: ResultsBuffer<Output>

  init(_ line: ResultsBuffer<Output>) { self.line = line }

  deinit { line.cancel() }
}
