/// The operations of one iteration over results, from their making until their values have been taken.
///
/// The task that makes them, the driver, waits for a place before each; the iterator takes what arrives.
final class ResultsBuffer<Output: Sendable>: Sendable {
  enum Arrival: Sendable {
    case operation(TaskOperation<Output>, number: Int)
    /// The inputs have ended with an error.
    case failure(any Error)
  }

  private struct State {
    /// How many more may be made.
    var places: Int
    /// How many have been made.
    var count = 0
    /// Those whose values have not been taken, by number.
    var operations: [Int: TaskOperation<Output>] = [:]
    var unfinishedCount = 0
    var driver: Task<Void, Never>?
    /// To what the driver and the operations were raised.
    var priority: TaskPriority?
    var hasBegun = false
    /// All operations have been made, or no more are to be.
    var isDriven = false
    /// That of the inputs.
    var error: (any Error)?
    /// No more are to be made.
    var isCancelled = false
    /// All operations with higher numbers have been cancelled, or a thread is about to do so.
    var lastUncancelled = Int.max
    /// The last has been given, or an error.
    var isOver = false
  }

  /// What the iterator takes, one after the other: in the order of the inputs, as soon as they are added; or as they
  /// end.
  let arrivals: AsyncStream<Arrival>
  private let arrival: AsyncStream<Arrival>.Continuation
  /// Tells the driver that there is a place.
  private let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private let isInOrder: Bool
  // Protected by its lock, under which nothing is called, and nothing of users' is released.
  private let state: Guarded<State>

  init(window: Int, isInOrder: Bool) {
    (arrivals, arrival) = AsyncStream.makeStream()
    (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.isInOrder = isInOrder
    state = Guarded(State(places: window))
  }

  var isOver: Bool { state.withLock { $0.isOver } }

  func end() { state.withLock { $0.isOver = true } }

  // MARK: Making operations

  /// Begins to call the function, the first time.
  ///
  /// - Parameters:
  ///   - queue: The queue of the operations.
  ///   - forEachCall: Gives the calls.
  func begin(_ queue: OperationQueue, _ forEachCall: @escaping OperationResults<Output>.Calls) {
    let isFirst = state.withLock { state in
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    guard isFirst else { return }
    // On the pool, since to ask for an input may block.
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
        // A queue that comes to an end waits for those who are about to add.
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

  /// - Returns: False if no more are to be made.
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

  /// After a change, by which the last result may be there.
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

  /// The value of an operation has been taken: there is a place for another.
  func take(_ number: Int) {
    let taken = state.withLock { state in
      state.places += 1
      return state.operations.removeValue(forKey: number)
    }
    signal.yield()
    withExtendedLifetime(taken) {}
  }

  // MARK: Raising

  /// A task of this priority waits for a result.
  ///
  /// Operations that are made later have the driver's priority.
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

  /// Cancels what was made after an operation, and has no more made.
  ///
  /// - Parameter number: That of the operation; -1 for all.
  /// - Returns: What was cancelled.
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

  /// The same on another thread, since it runs users' code: handlers of cancellations.
  ///
  /// This takes O(*n*) in the number of operations. So those that end by it do not cause it again.
  private func cancelElsewhere(behind number: Int) {
    let isDone = state.withLock { state in
      let isDone = state.lastUncancelled <= number
      state.lastUncancelled = min(state.lastUncancelled, number)
      return isDone
    }
    guard !isDone else { return }
    WorkerPool.shared.submit(PoolBlock { self.cancel(behind: number) }, count: 1)
  }

  /// Cancels all; returns when no call runs any more.
  func cancelAll() async { for operation in cancel() { await operation.ended() } }
}

/// What an iterator owns: what is under way is cancelled with its last copy.
final class ResultsOwner<Output: Sendable>: Sendable {
  let line: ResultsBuffer<Output>

  init(_ line: ResultsBuffer<Output>) { self.line = line }

  deinit { line.cancel() }
}
