import Synchronization

extension OperationExtensions {
  /// The state now and each later one; ends after ``OperationState/finished``.
  ///
  /// ```swift
  /// for await state in operation.states { print(state) }
  /// ```
  ///
  /// An iteration never misses the end, whenever it begins. It holds the operation, and ends when its task is
  /// cancelled. An operation that is given a dependency while it is ready is pending again. A task that waits for the
  /// next state raises the operation as ``finished()`` does.
  @_disfavoredOverload
  public var states: OperationStates { OperationStates(operation: self) }
}

/// How far an operation is.
public enum OperationState: Sendable, Hashable, CaseIterable {
  /// It waits for dependencies.
  case pending
  /// Nothing but its queue keeps it from starting.
  case ready
  /// Its work runs.
  case executing
  /// It has ended: done, failed or cancelled.
  case finished
}

/// The states of an operation, one after the other.
public struct OperationStates: AsyncSequence, Sendable {
  let operation: Operation

  /// Begins with the state now.
  ///
  /// - Returns: An iterator.
  public func makeAsyncIterator() -> Iterator {
    let (stream, continuation) = AsyncStream.makeStream(of: OperationState.self)
    let observer = StateObserver(continuation)
    return Iterator(
      states: stream.makeAsyncIterator(), token: ObservationToken(operation.add(observer)), operation: operation)
  }

  /// Gives the states of an operation one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    var states: AsyncStream<OperationState>.AsyncIterator
    let token: ObservationToken
    let operation: Operation

    /// The next state, or nil after the end or when the task is cancelled.
    ///
    /// - Returns: The state.
    public mutating func next() async -> OperationState? { await next(isolation: #isolation) }

    /// The next state, or nil after the end or when the task is cancelled.
    ///
    /// - Parameter actor: The isolation of the caller.
    /// - Returns: The state.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> OperationState? {
      await withPriority(raising: operation.raiseQuality) { await states.next(isolation: actor) }
    }
  }
}

/// Turns the changes of which observers are notified into states.
private final class StateObserver: Observer, @unchecked Sendable {
  // `first` and `last` belong to the thread that adds the observer, and then to the one that notifies; the list of
  // observers hands that role on under its lock.
  private let continuation: AsyncStream<OperationState>.Continuation
  private let end = Atomic<Bool>(false)
  private var first: OperationState?
  private var last: OperationState?

  init(_ continuation: AsyncStream<OperationState>.Continuation) { self.continuation = continuation }

  var hasEnded: Bool { end.load(ordering: .acquiring) }

  func setEnded() { end.store(true, ordering: .releasing) }

  func prepare(with object: AnyObject) { first = Self.state(of: object) }

  func begin(with object: AnyObject, _ state: ObservedChange?) {
    if let first { yield(first) }
    yield(Self.state(of: object))
  }

  private static func state(of object: AnyObject) -> OperationState {
    let operation = unsafeDowncast(object, to: Operation.self)
    if operation.isFinished { return .finished }
    if operation.isExecuting { return .executing }
    return operation.isReady ? .ready : .pending
  }

  func receive(_ change: ObservedChange, of object: AnyObject) {
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
    // It was ready, whether or not somebody said so.
    if state == .executing, last == .pending { continuation.yield(.ready) }
    last = state
    continuation.yield(state)
    if state == .finished { continuation.finish() }
  }
}
