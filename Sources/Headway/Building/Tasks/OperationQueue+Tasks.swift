import Dispatch
import Synchronization

extension OperationQueueProtocol {
  /// Adds an operation that runs an asynchronous function and returns a value.
  ///
  /// ```swift
  /// let page = queue.addTask { try await fetch(addresses[0]) }
  /// let image = queue.addTask("render", .priority(.high), .dependingOn(page)) { try await render(page.value) }
  /// ```
  ///
  /// By default, the operation runs only if its dependencies succeed. An operation that handles their failure, or
  /// cleans up, requires only ``DependencyRequirement/completion``:
  ///
  /// ```swift
  /// let page = queue.addTask { try await fetch(addresses[0]) }
  /// let text = queue.addTask(.dependingOn(page, requiring: .completion)) { (try? await page.value) ?? "no page" }
  /// ```
  ///
  /// To isolate the function to an actor, annotate it: `{ @MainActor in … }`.
  ///
  /// - Parameters:
  ///   - options: The name, the priority, the policy and the dependencies of the operation. A string literal is its
  ///     name.
  ///   - body: The function to run.
  /// - Returns: The operation that was added. Its ``TaskOperation/value`` is the value that `body` returns.
  /// - Complexity: O(*n*) in the number of options and dependencies.
  @discardableResult
  public func addTask<Success: Sendable>(
    _ options: OperationOption..., operation body: sending @escaping @isolated(any) () async throws -> Success
  ) -> TaskOperation<Success> {
    let operation = TaskOperation(TaskBody.function(body), options)
    addOperation(operation)
    return operation
  }

  /// Adds an operation that runs an asynchronous function, which receives the number of the attempt.
  ///
  /// ```swift
  /// let page = queue.addTask("load", .retry(.exponential(maxAttemptCount: 5))) { attempt in
  ///   try await fetch(addresses[attempt % addresses.count])
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - options: The name, the priority, the policy and the dependencies of the operation.
  ///   - body: The function to run. It receives the number of the attempt, from 1.
  /// - Returns: The operation that was added. Its ``TaskOperation/value`` is the value that `body` returns.
  /// - Complexity: O(*n*) in the number of options and dependencies.
  @discardableResult
  public func addTask<Success: Sendable>(
    _ options: OperationOption...,
    operation body: sending @escaping @isolated(any) (_ attempt: Int) async throws -> Success
  ) -> TaskOperation<Success> {
    let operation = TaskOperation(TaskBody.functionOfAttempt(body), options)
    addOperation(operation)
    return operation
  }

  /// Adds an operation that runs an asynchronous function, once the queue holds fewer than ``maxOperationCount``
  /// operations.
  ///
  /// ```swift
  /// queue.maxOperationCount = 100
  /// for address in addresses {
  ///   try await queue.addTaskWhenBelowLimit { _ = try await fetch(address) }
  /// }
  /// ```
  ///
  /// The method suspends while the queue is full, like ``addOperationWhenBelowLimit(_:)-(Operation)``. It returns when
  /// the operation has been added, without waiting for the operation to finish.
  ///
  /// - Parameters:
  ///   - options: The name, the priority, the policy and the dependencies of the operation.
  ///   - body: The function to run.
  /// - Returns: The operation that was added. Its ``TaskOperation/value`` is the value that `body` returns.
  /// - Throws: `CancellationError` if the calling task is cancelled before a place is free. In that case, nothing was
  ///   added. ``QueueClosedError`` if the queue is closed.
  /// - Complexity: O(*n*) in the number of options and dependencies.
  @discardableResult
  public func addTaskWhenBelowLimit<Success: Sendable>(
    _ options: OperationOption..., operation body: sending @escaping @isolated(any) () async throws -> Success
  ) async throws -> TaskOperation<Success> {
    let operation = TaskOperation(TaskBody.function(body), options)
    try await addOperationWhenBelowLimit(operation)
    return operation
  }
}

extension OperationQueueProtocol {
  /// Shows the replacement for a block that awaits.
  ///
  /// - Parameter block: A block that awaits.
  @_disfavoredOverload
  @available(*, unavailable, message: "The block of an operation can't await: write addTask { } instead.")
  public func addOperation(_ block: @escaping @Sendable () async throws -> Void) {}

  /// Adds a block that is isolated to the main actor, as a separate operation.
  ///
  /// ```swift
  /// OperationQueue.main.addOperation { @MainActor in print("done") }
  /// ```
  ///
  /// - Parameter block: The block to run on the main thread.
  /// - Precondition: The queue runs its operations on the main thread.
  public func addOperation(_ block: @escaping @MainActor @Sendable () -> Void) {
    require(
      state.withLock { $0.underlyingQueue != nil || $0.executor != nil },
      "A block of the main actor was added to \(label), which has other threads: use OperationQueue.main or addTask.")
    addOperation { MainActor.assumeIsolated { block() } }
  }
}

extension OperationQueue {
  /// Returns the class of the pool's workers that run an operation of the queue.
  final func workerClass(of operation: Operation) -> WorkerClass {
    state.withLock { $0.admission.placement }.workerClass(of: operation)
  }

  /// Runs part of an operation that is executing, on the threads that run the operations of the queue.
  final func submit(_ work: any PoolWork, of operation: Operation) {
    let (executor, underlyingQueue, placement) = state.withLock {
      ($0.executor, $0.underlyingQueue, $0.admission.placement)
    }
    if let executor {
      executor.submit(work, count: 1)
    } else if let underlyingQueue {
      underlyingQueue.async { _ = work.runOnWorker(of: nil, atMost: 1) }
    } else {
      WorkerPool.pool(of: placement.workerClass(of: operation)).submit(work, count: 1)
    }
  }
}
