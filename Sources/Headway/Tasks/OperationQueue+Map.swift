import Synchronization

extension OperationQueueExtensions {
  /// Calls an asynchronous function with each of the inputs, several at a time, and gives what it returns, in their
  /// order.
  ///
  /// ```swift
  /// let sizes = try await queue.map(addresses) { try await fetch($0).utf8.count }
  /// ```
  ///
  /// As many calls are under way as the queue runs operations at once; 64 where its
  /// ``OperationQueue/maxConcurrentOperationCount`` lets the system decide. They are made by so many operations of the
  /// queue, each of which takes one input after the other. The first error cancels the rest, as a cancellation of the
  /// task does; this returns when nothing of it runs any more.
  ///
  /// An operation of the queue that maps in the same queue keeps its own place meanwhile: with all places taken so, or
  /// with a barrier behind it, nobody goes on.
  ///
  /// - Parameters:
  ///   - inputs: The inputs.
  ///   - transform: What to call.
  /// - Returns: What it returned for each.
  /// - Throws: What `transform` threw first; `CancellationError` when the task, or an operation that calls it, was
  ///   cancelled.
  /// - Complexity: O(*n*) in the number of inputs; no more operations than run at once.
  public func map<Input: Sendable, Output: Sendable>(
    _ inputs: some Sequence<Input>, _ transform: @escaping @Sendable (Input) async throws -> Output
  ) async throws -> [Output] {
    let inputs = Array(inputs)
    let outputs = MappedOutputs<Output>(count: inputs.count)
    try await takeNumbers(inputs.count) { outputs[$0] = try await transform(inputs[$0]) }
    return outputs.all
  }

  /// Calls a function with each number from 0 on, on the calling thread and others of the pool at once, and returns
  /// when all calls have returned.
  ///
  /// What `DispatchQueue.concurrentPerform(iterations:execute:)` is. As many calls run at once as there are processors,
  /// and more when they block, but no more than the queue runs operations at once. They are no operations: neither a
  /// suspension nor a cancellation concerns them. After an error no further call begins. When this returns, the pool
  /// sends no more threads for it.
  ///
  /// - Parameters:
  ///   - iterations: How many numbers.
  ///   - work: What to call.
  /// - Throws: What `work` threw first.
  /// - Complexity: O(*n*), and an atomic addition for each number.
  @available(*, noasync, message: "This blocks the thread: await it instead.")
  @_disfavoredOverload  // Where it can be awaited, and the function to call does not await, the other one is meant.
  public func concurrentPerform<Failure: Error>(
    iterations: Int, execute work: @escaping @Sendable (Int) throws(Failure) -> Void
  ) throws(Failure) {
    guard iterations > 0 else { return }
    let (executor, placement) = state.withLock { ($0.executor, $0.admission.placement) }
    let failure = FirstError<Failure>()
    let calls = ConcurrentIterations(
      iterations, in: ThreadContext.operations.first, on: executor ?? WorkerPool.shared,
      of: .moreUrgent(placement.ownClass, WorkerClass(raisingLevel: WaitGraph.levelOfCaller)), atMost: width
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
  /// As many calls are under way as the queue runs operations at once; 64 where its
  /// ``OperationQueue/maxConcurrentOperationCount`` lets the system decide. Unlike those of the function that blocks,
  /// they are made by operations of the queue, as those of ``map(_:_:)`` are. The first error cancels the rest, as a
  /// cancellation of the task does.
  ///
  /// - Parameters:
  ///   - iterations: How many numbers.
  ///   - work: What to call.
  /// - Throws: What `work` threw first; `CancellationError` when the task, or an operation that calls it, was
  ///   cancelled.
  /// - Complexity: O(*n*) in the number of iterations; no more operations than run at once.
  public func concurrentPerform(
    iterations: Int, operation work: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    try await takeNumbers(max(0, iterations), work)
  }
}

extension OperationQueue {
  /// How many calls are under way at once: as many as operations run, one at least.
  final var width: Int {
    let limit = maxConcurrentOperationCount
    return limit < 0 ? ConcurrentIterations.mostThreads : max(1, limit)
  }

  /// Calls `work` with each number from 0 on, by as many operations as run at once.
  fileprivate final func takeNumbers(
    _ count: Int, _ work: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    let (next, failure) = (NextNumber(below: count), FirstError<any Error>())
    let operations = (0..<min(count, width)).map { _ in
      TaskOperation {
        while !failure.isThere, let number = next.take() {
          if Task.isCancelled { return failure.note(CancellationError()) }
          do { try await work(number) } catch { failure.note(error) }
        }
      }
    }
    let cancelAll: @Sendable () -> Void = { for operation in operations { operation.cancel() } }
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
    // All operations were cancelled before they had taken the last number.
    if next.take() != nil { throw CancellationError() }
  }
}

/// Numbers from 0 on that several threads share out among them.
private final class NextNumber: Sendable {
  private let count: Int
  private let next = Atomic<Int>(0)

  init(below count: Int) { self.count = count }

  /// Relaxed: it only shares out the numbers.
  func take() -> Int? {
    guard next.load(ordering: .relaxed) < count else { return nil }
    let number = next.add(1, ordering: .relaxed).oldValue
    return number < count ? number : nil
  }
}

/// The error that came first of several.
private final class FirstError<Failure: Error>: Sendable {
  private struct State {
    var error: Failure?
    var handler: (@Sendable () -> Void)?
  }

  // Protected by its lock, under which nothing is called or released.
  private let state = Guarded(State())
  /// Says without the lock that there is one.
  ///
  /// Relaxed: another call may begin an instant after it.
  private let flag = Atomic<Bool>(false)

  var isThere: Bool { flag.load(ordering: .relaxed) }
  var error: Failure? { state.withLock { $0.error } }

  /// What to call when there is one.
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

/// What a function has returned for each of several inputs.
private final class MappedOutputs<Output: Sendable>: @unchecked Sendable {
  // Each element is set once, by the operation that has taken its number, and all are read when those have ended.
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

  /// All, when each is there.
  var all: [Output] { elements.compactMap(\.self) }
}
