extension OperationProtocol {
  /// The current state and each later state; the sequence ends after ``OperationState/finished``.
  ///
  /// ```swift
  /// for await state in operation.states { print(state) }
  /// ```
  ///
  /// An iteration always includes the final state, even if it begins late. It retains the operation and ends when its
  /// task is cancelled. An operation that is given a dependency while it is ready becomes pending again. A task that
  /// waits for the next state raises the operation, like a task that waits for ``untilFinished()``.
  @_disfavoredOverload
  public var states: OperationStates { OperationStates(operation: self) }
}

/// The state of an operation: how far it has progressed.
public enum OperationState: String, Sendable, Hashable, Codable, CaseIterable {
  /// The operation waits for dependencies.
  case pending
  /// Only its queue keeps the operation from starting.
  case ready
  /// The work of the operation is running.
  case executing
  /// The operation has ended: it succeeded, failed, or was cancelled.
  case finished
}

/// The states of an operation, one after the other.
public struct OperationStates: AsyncSequence, Sendable {
  let operation: Operation

  /// Begins with the current state.
  ///
  /// - Returns: An iterator that begins with the current state.
  public func makeAsyncIterator() -> Iterator {
    let (stream, continuation) = AsyncStream.makeStream(of: OperationState.self)
    let observer = StateObserver(continuation)
    return Iterator(
      states: stream.makeAsyncIterator(), token: KeyValueObservation(operation.add(observer)), operation: operation)
  }

  /// Delivers the states of an operation one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    var states: AsyncStream<OperationState>.AsyncIterator
    let token: KeyValueObservation
    let operation: Operation

    /// The next state, or nil after the end or when the task is cancelled.
    ///
    /// - Returns: The next state, or nil.
    public mutating func next() async -> OperationState? { await next(isolation: #isolation) }

    /// The next state, or nil after the end or when the task is cancelled.
    ///
    /// - Parameter actor: The isolation of the caller.
    /// - Returns: The next state, or nil.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> OperationState? {
      guard operation.state.current.phase != .finished else { return await states.next(isolation: actor) }
      var state: OperationState?
      await withPriority(raising: operation.raiseQuality) {
        await KnownWait.suspending(until: .state(of: operation), in: operation.queue) {
          state = await states.next(isolation: actor)
        }
      }
      return state
    }
  }
}

/// Converts the changes that observers are notified of into states.
private final class StateObserver: Observer, @unchecked Sendable {
  // `first` and `last` belong to the thread that adds the observer, then to the notifying thread. The list of observers
  // passes that role on under its lock.
  private let continuation: AsyncStream<OperationState>.Continuation
  private var first: OperationState?
  private var last: OperationState?

  init(_ continuation: AsyncStream<OperationState>.Continuation) {
    self.continuation = continuation
    super.init(of: [ObservedKey.Set(.isReady), ObservedKey.Set(.isExecuting), ObservedKey.Set(.isFinished)])
  }

  override func prepare(with object: AnyObject) { first = Self.state(of: object) }

  override func begin(with object: AnyObject, _ state: ObservedChange?) {
    if let first { yield(first) }
    yield(Self.state(of: object))
  }

  private static func state(of object: AnyObject) -> OperationState {
    let operation = unsafeDowncast(object, to: Operation.self)
    if operation.isFinished { return .finished }
    if operation.isExecuting { return .executing }
    return operation.isReady ? .ready : .pending
  }

  override func receive(_ change: ObservedChange, of object: AnyObject) {
    switch change.key {
    case .isReady where last == .pending || last == .ready:
      yield(unsafeDowncast(object, to: Operation.self).isReady ? .ready : .pending)
    case .isExecuting where change.flag == true:
      yield(.executing)
    case .isFinished where change.flag == true:
      yield(.finished)
    default:
      break
    }
  }

  private func yield(_ state: OperationState) {
    guard state != last, last != .finished else { return }
    // The operation was ready, even if no change reported that.
    if state == .executing, last == .pending { continuation.yield(.ready) }
    last = state
    continuation.yield(state)
    if state == .finished { continuation.finish() }
  }
}
