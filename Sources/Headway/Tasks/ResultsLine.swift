/// The operations of one iteration over results, from their making until their values have been taken.
///
/// The task that makes them, the driver, waits for a place before each; the iterator takes what arrives.
final class ResultsLine<Output: Sendable>: Sendable {
  enum Arrival: Sendable {
    case operation(TaskOperation<Output>)
    /// The inputs have ended with an error.
    case failure(any Error)
  }

  private struct State {
    /// Those whose values have not been taken.
    var operations: [ObjectIdentifier: TaskOperation<Output>] = [:]
    var unfinishedCount = 0
    var driver: Task<Void, Never>?
    /// All operations have been made, unless the inputs ended with an error.
    var isDriven = false
    var error: (any Error)?
    var isCancelled = false
  }

  /// What the iterator takes, one after the other: in the order of the inputs, as soon as they are added; or as they
  /// end.
  let arrivals: AsyncStream<Arrival>
  private let arrival: AsyncStream<Arrival>.Continuation
  private let places: AsyncStream<Void>
  private let place: AsyncStream<Void>.Continuation
  private let isInOrder: Bool
  // Protected by its lock, under which nothing is called, and nothing of users' is released.
  private let state = Guarded(State())

  init(window: Int, isInOrder: Bool) {
    (arrivals, arrival) = AsyncStream.makeStream()
    (places, place) = AsyncStream.makeStream()
    self.isInOrder = isInOrder
    for _ in 0..<window { place.yield() }
  }

  /// Begins to call the function.
  ///
  /// - Parameters:
  ///   - queue: The queue of the operations.
  ///   - forEachCall: Gives the calls.
  func begin(_ queue: OperationQueue, _ forEachCall: @escaping OperationResults<Output>.Calls) {
    let driver = Task { await drive(queue, forEachCall) }
    let isCancelled = state.withLock { state in
      state.driver = driver
      return state.isCancelled
    }
    if isCancelled { driver.cancel() }
  }

  private func drive(_ queue: OperationQueue, _ forEachCall: OperationResults<Output>.Calls) async {
    var error: (any Error)?
    do {
      var places = places.makeAsyncIterator()
      try await forEachCall { call in
        guard await places.next(isolation: #isolation) != nil else { return false }
        return add(TaskOperation { try await call() }, to: queue)
      }
    } catch let thrown {
      error = thrown
    }
    finishIfOver { state in (state.isDriven, state.error) = (true, error) }
  }

  /// - Returns: False if all was cancelled.
  private func add(_ operation: TaskOperation<Output>, to queue: OperationQueue) -> Bool {
    let isCancelled = state.withLock { state in
      guard !state.isCancelled else { return true }
      state.operations[ObjectIdentifier(operation)] = operation
      state.unfinishedCount += 1
      return false
    }
    guard !isCancelled else { return false }
    if isInOrder { arrival.yield(.operation(operation)) }
    operation.callWhenEnded { [self] in
      if !isInOrder { arrival.yield(.operation(operation)) }
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

  /// The value of an operation has been taken: there is a place for another.
  func take(_ operation: TaskOperation<Output>) {
    let taken = state.withLock { $0.operations.removeValue(forKey: ObjectIdentifier(operation)) }
    place.yield()
    withExtendedLifetime(taken) {}
  }

  /// Cancels what is under way, and has nothing begin any more.
  ///
  /// - Returns: What was under way.
  @discardableResult
  func cancel() -> [TaskOperation<Output>] {
    let (driver, operations) = state.withLock { state in
      state.isCancelled = true
      return (state.driver, Array(state.operations.values))
    }
    driver?.cancel()
    for operation in operations { operation.cancel() }
    return operations
  }

  /// As ``cancel()``; returns when nothing of it runs any more.
  func cancelAll() async { for operation in cancel() { await operation.ended() } }
}

/// What an iterator owns: what is under way is cancelled with its last copy.
final class ResultsOwner<Output: Sendable>: Sendable {
  let line: ResultsLine<Output>

  init(_ line: ResultsLine<Output>) { self.line = line }

  deinit { line.cancel() }
}
