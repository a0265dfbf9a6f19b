// The names that the most used members had before 0.2.0. They are removed in 0.3.0; see
// `Docs/decisions/0032-public-names.md`.

extension OperationProtocol {
  /// The former name of ``untilFinished()``.
  ///
  /// - Throws: See ``untilFinished()``.
  @available(*, deprecated, renamed: "untilFinished()")
  public func finished() async throws { try await untilFinished() }

  /// The former name of ``untilSucceeded()``.
  ///
  /// - Throws: See ``untilSucceeded()``.
  @available(*, deprecated, renamed: "untilSucceeded()")
  public func finishedSuccessfully() async throws { try await untilSucceeded() }

  /// The former name of ``firstDependencyCycle()``.
  ///
  /// - Returns: See ``firstDependencyCycle()``.
  @available(*, deprecated, renamed: "firstDependencyCycle()")
  public func dependencyCycle() -> [Operation]? { firstDependencyCycle() }
}

extension OperationQueueProtocol {
  /// The former name of ``untilAllOperationsAreFinished()``.
  ///
  /// - Throws: See ``untilAllOperationsAreFinished()``.
  @available(*, deprecated, renamed: "untilAllOperationsAreFinished()")
  public func finished() async throws { try await untilAllOperationsAreFinished() }

  /// The former form of ``OperationProtocol/diagnosis``.
  ///
  /// - Parameter operation: An operation of any queue.
  /// - Returns: Its ``OperationProtocol/diagnosis``.
  @available(*, deprecated, message: "Use the operation's `diagnosis`.")
  public func diagnose(_ operation: Operation) -> String { operation.diagnosis }

  /// The former name of ``failureHandler``.
  @available(*, deprecated, renamed: "failureHandler")
  public var onFailure: (@Sendable (Operation, any Error) -> Void)? {
    get { failureHandler }
    set { failureHandler = newValue }
  }

  /// The former name of ``maxOperationCount``.
  @available(*, deprecated, renamed: "maxOperationCount")
  public var pendingLimit: Int {
    get { maxOperationCount }
    set { maxOperationCount = newValue }
  }

  /// The former name of `addTask(name:dependingOn:operation:)`.
  ///
  /// - Parameters:
  ///   - name: The name of the operation.
  ///   - dependency: An operation that must succeed first.
  ///   - further: More operations that must succeed first.
  ///   - body: The function to run.
  /// - Returns: The operation.
  @available(*, deprecated, renamed: "addTask(name:dependingOn:operation:)")
  @discardableResult
  public func addTask<Success: Sendable>(
    name: String? = nil, after dependency: Operation, _ further: Operation...,
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) -> TaskOperation<Success> { addTask(name: name, dependingOn: [dependency] + further, operation: body) }

  /// The former name of `addTask(name:dependingOn:operation:)`.
  ///
  /// - Parameters:
  ///   - name: The name of the operation.
  ///   - dependencies: The operations that must succeed first.
  ///   - body: The function to run.
  /// - Returns: The operation.
  @available(*, deprecated, renamed: "addTask(name:dependingOn:operation:)")
  @discardableResult
  public func addTask<Success: Sendable>(
    name: String? = nil, after dependencies: [Operation],
    operation body: sending @escaping @isolated(any) () async throws -> Success
  ) -> TaskOperation<Success> { addTask(name: name, dependingOn: dependencies, operation: body) }

  /// The former name of ``maxThreadCount``.
  @available(*, deprecated, renamed: "maxThreadCount")
  public static var maximumThreadCount: Int {
    get { maxThreadCount }
    set { maxThreadCount = newValue }
  }

  /// The former name of ``concurrentMap(_:_:)``.
  ///
  /// - Parameters:
  ///   - inputs: The values to call `transform` with.
  ///   - transform: The function to call.
  /// - Returns: The result for each input.
  /// - Throws: See ``concurrentMap(_:_:)``.
  @available(*, deprecated, renamed: "concurrentMap(_:_:)")
  public func map<Input: Sendable, Output: Sendable>(
    _ inputs: some Sequence<Input>, _ transform: @escaping @Sendable (Input) async throws -> Output
  ) async throws -> [Output] { try await concurrentMap(inputs, transform) }
}

extension GroupOperation {
  /// The former name of ``operationQueue``.
  @available(*, deprecated, renamed: "operationQueue")
  public final var innerQueue: OperationQueue { operationQueue }
}

extension InvocationOperation {
  /// The former name of ``init(target:method:argument:)``.
  ///
  /// - Parameters:
  ///   - target: The object that has the method.
  ///   - method: The method.
  ///   - object: The argument of the method.
  @available(*, deprecated, renamed: "init(target:method:argument:)")
  public convenience init(target: Target, method: @escaping Method, object: Argument) {
    self.init(target: target, method: method, argument: object)
  }
}

extension OperationGraph {
  /// The former name of ``makeOperation(maxConcurrentNodeCount:recordingTimes:)``.
  ///
  /// - Parameters:
  ///   - maxConcurrentNodeCount: The maximum number of nodes that run at the same time.
  ///   - recordsTimes: Whether the operation records when each node ran.
  /// - Returns: The operation.
  @available(*, deprecated, renamed: "makeOperation(maxConcurrentNodeCount:recordingTimes:)")
  public func operation(maxConcurrentNodeCount: Int? = nil, recordsTimes: Bool = false) -> GraphOperation {
    makeOperation(maxConcurrentNodeCount: maxConcurrentNodeCount, recordingTimes: recordsTimes)
  }

  /// The former name of ``graphvizDescription(timings:)``.
  ///
  /// - Parameter times: The timings of nodes.
  /// - Returns: The description.
  @available(*, deprecated, renamed: "graphvizDescription(timings:)")
  public func dotDescription(times: [NodeTiming] = []) -> String { graphvizDescription(timings: times) }
}
