import Dispatch
import Synchronization

extension OperationQueueExtensions {
  /// Adds an operation that runs an asynchronous function, and gives its value.
  ///
  /// ```swift
  /// let page = queue.addTask { try await fetch(addresses[0]) }
  /// let image = queue.addTask(name: "render", after: page) { try await render(page.value) }
  /// ```
  ///
  /// A function that is to be isolated to an actor says so: `{ @MainActor in … }`.
  ///
  /// - Parameters:
  ///   - name: What to call the operation in descriptions and messages.
  ///   - dependencies: What must succeed before. If one of them fails or is cancelled, the operation is cancelled, with
  ///     a ``DependencyError`` that names it. For one that may fail, use ``Operation/addDependency(_:)``.
  ///   - body: What to run.
  /// - Returns: The operation, of which ``TaskOperation/value`` is what `body` returns.
  /// - Complexity: O(1), and as much for each dependency.
  @discardableResult
  public func addTask<Success: Sendable>(
    name: String? = nil, after dependencies: Operation...,
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) -> TaskOperation<Success> {
    addTask(name: name, after: dependencies, operation: body)
  }

  /// Adds an operation that runs an asynchronous function when all operations of a list have succeeded, and gives its
  /// value.
  ///
  /// - Parameters:
  ///   - name: What to call the operation in descriptions and messages.
  ///   - dependencies: What must succeed before. If one of them fails or is cancelled, the operation is cancelled, with
  ///     a ``DependencyError`` that names it.
  ///   - body: What to run.
  /// - Returns: The operation, of which ``TaskOperation/value`` is what `body` returns.
  /// - Complexity: O(*n*) in the number of dependencies.
  @discardableResult
  public func addTask<Success: Sendable>(
    name: String? = nil, after dependencies: [Operation],
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) -> TaskOperation<Success> {
    let operation = TaskOperation(body)
    if let name { operation.name = name }
    for dependency in dependencies { operation.addDependency(dependency, requiring: .success) }
    addOperation(operation)
    return operation
  }

  /// Adds an operation, and suspends the task until it has finished.
  ///
  /// When the task is cancelled, so is the operation; this returns when it has finished all the same.
  ///
  /// - Parameter operation: The operation.
  /// - Throws: What made the operation fail; `CancellationError` when it was cancelled.
  @_disfavoredOverload  // Of a task operation, the one that gives its value is meant.
  public func run(_ operation: Operation) async throws {
    addOperation(operation)
    await withTaskCancellationHandler {
      await withPriority(raising: operation.raiseQuality) { await operation.ended() }
    } onCancel: {
      operation.cancel()
    }
    try operation.requireSuccess()
  }

  /// Adds an operation, suspends the task until it has finished, and gives its value.
  ///
  /// When the task is cancelled, so is the operation; this returns when it has finished all the same.
  ///
  /// - Parameter operation: The operation.
  /// - Returns: Its value.
  /// - Throws: What made the operation fail; `CancellationError` when it was cancelled.
  public func run<Success>(_ operation: TaskOperation<Success>) async throws -> Success {
    try await run(operation as Operation)
    return try await operation.value
  }
}

extension OperationQueueExtensions {
  /// Says what to write in place of a block that awaits.
  ///
  /// - Parameter block: The block.
  @_disfavoredOverload
  @available(*, unavailable, message: "The block of an operation can't await: write addTask { } in place of this.")
  public func addOperation(_ block: @escaping @Sendable () async throws -> Void) {}

  /// Adds a block that is isolated to the main actor, as an operation of its own.
  ///
  /// ```swift
  /// OperationQueue.main.addOperation { @MainActor in print("done") }
  /// ```
  ///
  /// - Parameter block: What to run.
  /// - Precondition: The queue runs its operations on the main thread.
  public func addOperation(_ block: @escaping @MainActor @Sendable () -> Void) {
    require(
      state.withLock { $0.underlyingQueue != nil || $0.executor != nil },
      "A block of the main actor was added to \(label), which has other threads: use OperationQueue.main or addTask.")
    addOperation { MainActor.assumeIsolated { block() } }
  }
}

extension OperationQueue {
  /// The class of the pool's workers by which an operation of the queue is run.
  final func workerClass(of operation: Operation) -> WorkerClass {
    state.withLock { $0.admission.placement }.workerClass(of: operation)
  }

  /// Runs a part of an operation that is executing, where the operations of the queue run.
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
