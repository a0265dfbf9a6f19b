import Dispatch
import Synchronization

extension OperationQueueProtocol {
  /// Adds an operation that runs an asynchronous function and returns a value.
  ///
  /// ```swift
  /// let page = queue.addTask { try await fetch(addresses[0]) }
  /// let image = queue.addTask(name: "render", priority: .high, dependingOn: page) { try await render(page.value) }
  /// ```
  ///
  /// By default, the operation runs only if its dependencies succeed. An operation that handles their failure, or
  /// cleans up, requires only ``DependencyRequirement/completion``:
  ///
  /// ```swift
  /// let page = queue.addTask { try await fetch(addresses[0]) }
  /// let text = queue.addTask(dependingOn: page, requiring: .completion) { (try? await page.value) ?? "no page" }
  /// ```
  ///
  /// To isolate the function to an actor, annotate it: `{ @MainActor in … }`.
  ///
  /// - Parameters:
  ///   - name: The name of the operation in descriptions and messages.
  ///   - priority: The priority among the ready operations of the queue.
  ///   - qualityOfService: How important the work is to the user. By default, it matches the priority of the current
  ///     task.
  ///   - dependencies: The operations that must finish first.
  ///   - requirement: The outcome that the new operation requires of the dependencies. With
  ///     ``DependencyRequirement/success``, if one of them fails or is cancelled, the new operation is cancelled, with
  ///     a ``DependencyError`` that names it. If the dependencies have different requirements, create a
  ///     ``TaskOperation``, and use ``Operation/addDependency(_:requiring:)``.
  ///   - body: The function to run.
  /// - Returns: The operation. Its ``TaskOperation/value`` is the value that `body` returns.
  /// - Complexity: O(1) for the operation and for each dependency.
  @discardableResult
  public func addTask<Success: Sendable>(
    name: String? = nil, priority: QueuePriority = .normal, qualityOfService: QualityOfService? = nil,
    dependingOn dependencies: Operation..., requiring requirement: DependencyRequirement = .success,
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) -> TaskOperation<Success> {
    addTask(
      name: name, priority: priority, qualityOfService: qualityOfService, dependingOn: dependencies,
      requiring: requirement, operation: body)
  }

  /// Adds an operation that runs an asynchronous function and returns a value, after all operations of a list.
  ///
  /// - Parameters:
  ///   - name: The name of the operation in descriptions and messages.
  ///   - priority: The priority among the ready operations of the queue.
  ///   - qualityOfService: How important the work is to the user. By default, it matches the priority of the current
  ///     task.
  ///   - dependencies: The operations that must finish first.
  ///   - requirement: The outcome that the new operation requires of the dependencies. With
  ///     ``DependencyRequirement/success``, if one of them fails or is cancelled, the new operation is cancelled, with
  ///     a ``DependencyError`` that names it.
  ///   - body: The function to run.
  /// - Returns: The operation. Its ``TaskOperation/value`` is the value that `body` returns.
  /// - Complexity: O(*n*) in the number of dependencies.
  @discardableResult
  public func addTask<Success: Sendable>(
    name: String? = nil, priority: QueuePriority = .normal, qualityOfService: QualityOfService? = nil,
    dependingOn dependencies: [Operation], requiring requirement: DependencyRequirement = .success,
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) -> TaskOperation<Success> {
    let operation = TaskOperation(body)
    operation.configure(name, priority, qualityOfService, dependencies, requirement)
    addOperation(operation)
    return operation
  }

  /// Adds an operation, and suspends the task until it has finished.
  ///
  /// If the task is cancelled, the operation is cancelled. This method still returns only after the operation has
  /// finished.
  ///
  /// - Parameter operation: The operation to add and wait for.
  /// - Throws: The operation's error if it failed; `CancellationError` if it was cancelled.
  @_disfavoredOverload  // For a task operation, the overload that returns its value is preferred.
  public func run(_ operation: Operation) async throws {
    addOperation(operation)
    await withTaskCancellationHandler {
      await withPriority(raising: operation.raiseQuality) { await operation.ended() }
    } onCancel: {
      operation.cancel()
    }
    try operation.requireSuccess()
  }

  /// Adds an operation, suspends the task until it has finished, and returns its value.
  ///
  /// If the task is cancelled, the operation is cancelled. This method still returns only after the operation has
  /// finished.
  ///
  /// - Parameter operation: The operation to add and wait for.
  /// - Returns: The operation's ``TaskOperation/value``.
  /// - Throws: The operation's error if it failed; `CancellationError` if it was cancelled.
  public func run<Success>(_ operation: TaskOperation<Success>) async throws -> Success {
    try await run(operation as Operation)
    return try await operation.value
  }

  /// Adds an operation, suspends the task until it has finished, and returns its value.
  ///
  /// If the task is cancelled, the operation is cancelled. This method still returns only after the operation has
  /// finished.
  ///
  /// - Parameter operation: The operation to add and wait for.
  /// - Returns: The operation's ``AsynchronousValueOperation/value``.
  /// - Throws: The operation's error if it failed; `CancellationError` if it was cancelled.
  public func run<Success>(_ operation: AsynchronousValueOperation<Success>) async throws -> Success {
    try await run(operation as Operation)
    return try await operation.value
  }
}

extension OperationQueueProtocol {
  /// Shows what to write instead of a block that awaits.
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

  /// Runs a part of an operation that is executing, on the threads that run the operations of the queue.
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
