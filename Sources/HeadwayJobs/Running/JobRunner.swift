import Headway

/// Runs the jobs of one type: decodes the payload, and creates the operation of an attempt.
struct JobRunner: Sendable {
  let kind: JobKind
  let version: Int
  /// The kind of the type and its aliases.
  let kinds: [JobKind]
  /// The middleware of the worker, followed by the middleware of the type.
  let middleware: [any JobMiddleware]
  /// Runs several jobs at a time; nil if each job runs alone.
  let chunk: ChunkRunner?
  /// Creates the operation of an attempt, which keeps its result in the given object.
  let makeOperation: @Sendable (JobContext, AttemptResult) throws -> Operation

  init<Type: Job>(_ type: Type.Type, middleware outer: [any JobMiddleware]) {
    let middleware = outer + Type.middleware
    self.middleware = middleware
    kind = Type.kind
    version = Type.version
    kinds = Type.kinds
    chunk = ChunkRunner.runner(type)
    makeOperation = { context, result in
      let job = try context.job.decoded(as: Type.self)
      guard middleware.isEmpty else {
        let chain = JobMiddlewareChain(context, middleware[...]) { try await result.keep(job.result(in: context)) }
        return TaskOperation {
          try context.begin()
          try await context.runInOperation { try await chain() }
        }
      }
      if let job = job as? any OperationJob {
        // A task operation has the task-local values of the code that creates it.
        let operation = try JobContext.$current.withValue(context) { try job.makeNewOperation(in: context) }
        context.noteBeginning(of: operation)
        return operation
      }
      return TaskOperation {
        try context.begin()
        try await context.runInOperation { try await result.keep(context.encodedResult(job.perform(in: context))) }
      }
    }
  }
}

extension Job {
  /// Runs the code of the job inside middleware.
  ///
  /// - Returns: The encoded result; nil if there is none.
  fileprivate func result(in context: JobContext) async throws -> JobPayload? {
    guard let job = self as? any OperationJob else { return try await context.encodedResult(perform(in: context)) }
    // The attempt already has a slot of the worker's queue, so the operation needs a queue without a limit.
    let operation = try job.makeNewOperation(in: context)
    if let quality = context.job.settings.qualityOfService { operation.qualityOfService = quality }
    do {
      try await OperationQueue().run(operation)
    } catch {
      // Code of the application has cancelled the operation, so the attempt is cancelled, too.
      if operation.isCancelled, !Task.isCancelled { context.cancelOperation() }
      throw operation.error ?? error
    }
    return nil
  }
}

extension OperationJob {
  /// Creates the operation of an attempt and checks that the operation is new.
  fileprivate func makeNewOperation(in context: JobContext) throws -> Operation {
    let operation = try makeOperation(in: context)
    guard OperationQueue.accepts(operation) else {
      throw JobError(
        .usedOperation,
        "makeOperation(in:) of the kind \(Self.kind) returned \(operation), which is in a queue or has run. Create a "
          + "new operation each time.")
    }
    return operation
  }
}
