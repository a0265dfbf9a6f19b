import Headway

/// Runs the jobs of one type: decodes the payload, and creates the operation of an attempt.
struct JobRunner: Sendable {
  let kind: JobKind
  let version: Int
  /// The kind of the type and its aliases.
  let kinds: [JobKind]
  /// Creates the operation of an attempt, which keeps its result in the given object.
  let makeOperation: @Sendable (JobContext, AttemptResult) throws -> Operation

  init<Type: Job>(_ type: Type.Type) {
    kind = Type.kind
    version = Type.version
    kinds = Type.kinds
    makeOperation = { context, result in
      let job = try context.job.decoded(as: Type.self)
      if let job = job as? any OperationJob {
        // A task operation has the task-local values of the code that creates it.
        let operation = try JobContext.$current.withValue(context) { try job.makeOperation(in: context) }
        guard OperationQueue.accepts(operation) else {
          throw JobError(
            .usedOperation,
            "makeOperation(in:) of the kind \(Type.kind) returned \(operation), which is in a queue or has run. "
              + "Create a new operation each time.")
        }
        context.noteBeginning(of: operation)
        return operation
      }
      return TaskOperation {
        try context.begin()
        try await context.run { try await result.keep(context.encodedResult(job.perform(in: context))) }
      }
    }
  }
}
