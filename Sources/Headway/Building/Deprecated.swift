// The forms of 0.2.0, which the next version removes.

extension OperationQueueProtocol {
  /// Adds an operation that runs an asynchronous function after other operations.
  ///
  /// - Parameters:
  ///   - name: The operation's name; nil for none.
  ///   - dependencies: The operations that must succeed first.
  ///   - body: The function to run.
  /// - Returns: The operation, which is already in the queue.
  @available(*, deprecated, message: "Write addTask(\"name\", .dependingOn(operation)) { }")
  @_disfavoredOverload
  @discardableResult
  public func addTask<Success: Sendable>(
    name: String? = nil, dependingOn dependencies: Operation...,
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) -> TaskOperation<Success> {
    addTask(.name(name), .dependingOn(dependencies), operation: body)
  }

  /// Adds an operation that runs an asynchronous function after all operations of a list.
  ///
  /// - Parameters:
  ///   - name: The operation's name; nil for none.
  ///   - dependencies: The operations that must succeed first.
  ///   - body: The function to run.
  /// - Returns: The operation, which is already in the queue.
  @available(*, deprecated, message: "Write addTask(\"name\", .dependingOn(operations)) { }")
  @_disfavoredOverload
  @discardableResult
  public func addTask<Success: Sendable>(
    name: String? = nil, dependingOn dependencies: [Operation],
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) -> TaskOperation<Success> {
    addTask(.name(name), .dependingOn(dependencies), operation: body)
  }
}

extension TaskOperation {
  /// Creates an operation that runs an asynchronous function.
  ///
  /// - Parameter body: The function to run.
  @available(*, deprecated, renamed: "init(operation:)")
  @_disfavoredOverload
  public convenience init(_ body: sending @escaping @isolated(any) () async throws -> Success) {
    self.init(operation: body)
  }
}
