import Synchronization

extension OperationQueueProtocol {
  /// Calls an asynchronous function with each of the inputs, several at a time, and returns the results in their order.
  ///
  /// ```swift
  /// let sizes = try await queue.concurrentMap(addresses) { try await fetch($0).utf8.count }
  /// ```
  ///
  /// The number of simultaneous calls is the number of operations that the queue runs at the same time, or 64 if its
  /// ``OperationQueue/maxConcurrentOperationCount`` lets the system decide. The same number of operations of the queue
  /// make the calls. Each operation processes one input after another. The first error cancels the remaining calls, as
  /// does cancelling the task. This method returns when none of its calls is running.
  ///
  /// An operation that calls this method on its own queue keeps its concurrency slot while it waits. If every slot is
  /// used in this way, or if a barrier was added after the operation, none of them can proceed.
  ///
  /// - Parameters:
  ///   - inputs: The values to call `transform` with.
  ///   - transform: The function to call.
  /// - Returns: The result for each input.
  /// - Throws: The first error that `transform` threw; `CancellationError` if the task, or an operation that makes the
  ///   calls, was cancelled; ``QueueClosedError`` if the queue is closed.
  /// - Complexity: O(*n*) in the number of inputs. Adds only as many operations as run at the same time.
  public func concurrentMap<Input: Sendable, Output: Sendable>(
    _ inputs: some Sequence<Input>, _ transform: @escaping @Sendable (Input) async throws -> Output
  ) async throws -> [Output] {
    let inputs = Array(inputs)
    let outputs = MappedOutputs<Output>(count: inputs.count)
    try await takeNumbers(inputs.count) { outputs[$0] = try await transform(inputs[$0]) }
    return outputs.all
  }

  /// Calls a function with each number from 0 on, on the calling thread and other threads of the pool simultaneously,
  /// and returns when all calls have returned.
  ///
  /// This is the counterpart of `DispatchQueue.concurrentPerform(iterations:execute:)`. The number of simultaneous
  /// calls is the number of processors, or more if calls block, but at most the number of operations that the queue
  /// runs at the same time. The calls are not operations: suspending the queue or cancelling its operations does not
  /// affect them. After an error, no further call begins. When this method returns, the pool assigns no further threads
  /// to it.
  ///
  /// - Parameters:
  ///   - iterations: The number of calls.
  ///   - work: The function to call.
  /// - Throws: The first error that `work` threw.
  /// - Complexity: O(*n*), and one atomic addition per number.
  @available(*, noasync, message: "This blocks the thread: await it instead.")
  @_disfavoredOverload  // If the caller can await and `work` does not, the other overload is preferred.
  public func concurrentPerform<Failure: Error>(
    iterations: Int, execute work: @escaping @Sendable (Int) throws(Failure) -> Void
  ) throws(Failure) {
    guard iterations > 0 else { return }
    let (executor, placement) = state.withLock { ($0.executor, $0.admission.placement) }
    let failure = FirstError<Failure>()
    let calls = ConcurrentIterations(
      iterations, in: ThreadContext.operations.first, on: executor ?? WorkerPool.shared,
      of: .moreUrgent(placement.ownClass, WorkerClass(raisingLevel: ThreadContext.level)), atMost: width
    ) { number in
      guard !failure.isThere else { return }
      do throws(Failure) { try work(number) } catch { failure.note(error) }
    }
    calls.run()
    if let error = failure.error { throw error }
  }

  /// Calls an asynchronous function with each number from 0 on, several at a time, and returns when all calls have
  /// returned.
  ///
  /// ```swift
  /// try await queue.concurrentPerform(iterations: 3) { number in
  ///   _ = try await fetch(addresses[number])
  /// }
  /// ```
  ///
  /// The number of simultaneous calls is the number of operations that the queue runs at the same time, or 64 if its
  /// ``OperationQueue/maxConcurrentOperationCount`` lets the system decide. Unlike the calls of the blocking function,
  /// operations of the queue make these calls, as for ``concurrentMap(_:_:)``. The first error cancels the remaining
  /// calls, as does cancelling the task.
  ///
  /// - Parameters:
  ///   - iterations: The number of calls.
  ///   - work: The function to call.
  /// - Throws: The first error that `work` threw; `CancellationError` if the task, or an operation that makes the
  ///   calls, was cancelled; ``QueueClosedError`` if the queue is closed.
  /// - Complexity: O(*n*) in the number of iterations. Adds only as many operations as run at the same time.
  public func concurrentPerform(
    iterations: Int, operation work: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    try await takeNumbers(max(0, iterations), work)
  }
}

extension OperationQueue {
  /// The maximum number of simultaneous calls: the number of operations that run at the same time, but at least 1.
  final var width: Int {
    let limit = maxConcurrentOperationCount
    return limit < 0 ? ConcurrentIterations.mostThreads : max(1, limit)
  }

  /// Calls `work` with each number from 0 on, from as many operations as run at the same time.
  fileprivate final func takeNumbers(
    _ count: Int, _ work: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    if count > 0, isClosed { throw QueueClosedError(queue: self) }
    let (next, failure) = (NextNumber(below: count), FirstError<any Error>())
    let operations = (0..<min(count, width)).map { _ in
      TaskOperation {
        while !failure.isThere, let number = next.take() {
          if Task.isCancelled { return failure.note(CancellationError()) }
          do { try await work(number) } catch { failure.note(error) }
        }
      }
    }
    let cancelAll: @Sendable () -> Void = { Operation.cancel(together: operations) }
    failure.onFirst = cancelAll
    await withTaskCancellationHandler {
      addOperations(operations, waitUntilFinished: false)
      await withPriority(raising: { for operation in operations { operation.raiseQuality(to: $0) } }) {
        for operation in operations { await operation.ended() }
      }
    } onCancel: {
      failure.note(CancellationError())
      cancelAll()
    }
    failure.onFirst = nil
    if let error = failure.error { throw error }
    for operation in operations { try operation.requireAcceptance() }
    // All operations were cancelled before they had taken the last number.
    if next.take() != nil { throw CancellationError() }
  }
}

/// A counter that distributes the numbers from 0 on among several threads.
private final class NextNumber: Sendable {
  private let count: Int
  private let next = Atomic<Int>(0)

  init(below count: Int) { self.count = count }

  /// Relaxed: it only distributes the numbers.
  func take() -> Int? {
    guard next.load(ordering: .relaxed) < count else { return nil }
    let number = next.add(1, ordering: .relaxed).oldValue
    return number < count ? number : nil
  }
}

/// The first of several errors.
private final class FirstError<Failure: Error>: Sendable {
  private struct State {
    var error: Failure?
    var handler: (@Sendable () -> Void)?
  }

  // Protected by its lock. Nothing is called or released under it.
  private let state = Guarded(State())
  /// Whether an error has occurred; readable without the lock.
  ///
  /// Relaxed: another call might begin an instant after the error.
  private let flag = Atomic<Bool>(false)

  var isThere: Bool { flag.load(ordering: .relaxed) }
  var error: Failure? { state.withLock { $0.error } }

  /// The closure to call when the first error occurs.
  var onFirst: (@Sendable () -> Void)? {
    get { state.withLock { $0.handler } }
    set {
      let old = state.withLock { state in
        defer { state.handler = newValue }
        return state.handler
      }
      withExtendedLifetime(old) {}
    }
  }

  func note(_ error: Failure) {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.error == nil else { return nil }
      state.error = error
      return state.handler
    }
    flag.store(true, ordering: .relaxed)
    handler?()
  }
}

/// The results of a function for several inputs.
private final class MappedOutputs<Output: Sendable>: @unchecked Sendable {
  // Each element is set once, by the operation that has taken its number. They are all read after the operations have
  // ended.
  private let elements: UnsafeMutableBufferPointer<Output?>

  init(count: Int) {
    elements = .allocate(capacity: count)
    elements.initialize(repeating: nil)
  }

  deinit {
    elements.deinitialize()
    elements.deallocate()
  }

  subscript(number: Int) -> Output? {
    get { elements[number] }
    set { elements[number] = newValue }
  }

  /// All results.
  ///
  /// Call this after each has been set.
  var all: [Output] { elements.compactMap(\.self) }
}
