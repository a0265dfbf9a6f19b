import Headway

/// The visible state of a program at one moment, in the model or in the library.
struct Picture: Equatable {
  struct OperationPicture: Equatable {
    var isReady, isExecuting, isFinished, isCancelled, isAsynchronous: Bool
    var dependencies: [Int]
    var priority: QueuePriority
    var name: String?
    var outcome: String?
    var failure: Failure?
    var runs: Int
    var hasCompletionBlock: Bool
    var completions: [Int]
    var cancellations: Int
    /// The notifications of observers.
    var told: [Observation.Value]
    /// The operation waits for a cycle.
    var isStuck: Bool
  }

  struct QueuePicture: Equatable {
    var operations: [Int]
    var operationCount: Int
    var isSuspended: Bool
    var limit: Int
    var completedUnits: Int64
    var fractionCompleted: Double
    /// The queue requests threads and has no work for them.
    var asksForEver: Bool
    /// The notifications of observers.
    var told: [Observation.Value]
  }

  /// Nil for a barrier that has not been added.
  var operations: [OperationPicture?]
  var queues: [QueuePicture]
  var starts: [Int]
}

// MARK: The model

extension Picture {
  init(_ model: Model) {
    let stuck = model.stuck
    operations = model.operations.indices.map { number in
      let operation = model.operations[number]
      guard operation.exists else { return nil }
      return OperationPicture(
        isReady: model.isReady(number), isExecuting: operation.phase == .executing,
        isFinished: operation.phase == .finished, isCancelled: operation.isCancelled,
        isAsynchronous: operation.isAsynchronous, dependencies: operation.dependencies, priority: operation.priority,
        name: operation.name, outcome: operation.outcome, failure: operation.failure, runs: operation.runs,
        hasCompletionBlock: operation.completionBlock != nil, completions: operation.completions,
        cancellations: operation.cancellations, told: operation.observation.told, isStuck: stuck.contains(number))
    }
    queues = model.queues.map { queue in
      QueuePicture(
        operations: queue.operations, operationCount: queue.operations.count, isSuspended: queue.isSuspended,
        limit: queue.limit, completedUnits: queue.completed,
        fractionCompleted: queue.total > 0 ? Double(queue.completed) / Double(queue.total) : 0, asksForEver: false,
        told: queue.observation.told)
    }
    starts = model.starts
  }
}

// MARK: The library

extension Picture {
  init(_ real: RealProgram) {
    operations = real.operations.map { $0.map { Self.picture(of: $0, in: real) } }
    queues = real.queues.indices.map { number in
      let queue = real.queues[number]
      return QueuePicture(
        operations: queue.operations.map(real.number), operationCount: queue.operationCount,
        isSuspended: queue.isSuspended, limit: queue.maxConcurrentOperationCount,
        completedUnits: queue.progress.completedUnitCount, fractionCompleted: queue.progress.fractionCompleted,
        asksForEver: real.executors[number].isAskedForEver, told: real.queueWitnesses[number].seen.told)
    }
    starts = real.starts
  }

  private static func picture(of real: RealOperation, in program: RealProgram) -> OperationPicture {
    let (operation, seen) = (real.operation, real.witness.seen)
    let cycle = operation.firstDependencyCycle()
    return OperationPicture(
      isReady: operation.isReady, isExecuting: operation.isExecuting, isFinished: operation.isFinished,
      isCancelled: operation.isCancelled, isAsynchronous: operation.isAsynchronous,
      dependencies: operation.dependencies.map(program.number), priority: operation.queuePriority,
      name: operation.name, outcome: outcome(of: operation), failure: operation.error.map { failure($0, in: program) },
      runs: seen.runs, hasCompletionBlock: operation.completionBlock != nil, completions: seen.completions,
      cancellations: seen.cancellations, told: seen.told, isStuck: cycle != nil)
  }

  private static func outcome(of operation: Headway.Operation) -> String? {
    switch operation.outcome {
    case nil: nil
    case .success?: "success"
    case .failure?: "failure"
    case .cancelled?: "cancelled"
    }
  }

  private static func failure(_ error: any Error, in program: RealProgram) -> Failure {
    guard let error = error as? DependencyError else { return Failure(mishap: (error as? Mishap)?.name ?? "\(error)") }
    return Failure(
      failedDependency: program.number(of: error.failedDependency),
      mishap: error.underlyingError.map { ($0 as? Mishap)?.name ?? "\($0)" }
    )
  }
}

// MARK: Comparing

extension Picture {
  /// The first difference, in words; nil if there is none.
  func firstDifference(from expected: Picture) -> String? {
    guard self != expected else { return nil }
    for (number, (actual, expected)) in zip(operations, expected.operations).enumerated() where actual != expected {
      guard let actual, let expected else { return "operation \(number) exists: \(actual != nil)" }
      return Self.difference(actual, expected).map { "operation \(number), \($0)" }
    }
    for (number, (actual, expected)) in zip(queues, expected.queues).enumerated() where actual != expected {
      return Self.difference(actual, expected).map { "queue \(number), \($0)" }
    }
    return "starts: \(starts), and should be \(expected.starts)"
  }

  private static func difference(_ actual: Any, _ expected: Any) -> String? {
    for (actual, expected) in zip(Mirror(reflecting: actual).children, Mirror(reflecting: expected).children) {
      let (actualText, expectedText) = ("\(actual.value)", "\(expected.value)")
      if actualText != expectedText { return "\(actual.label ?? ""): \(actualText), and should be \(expectedText)" }
    }
    return nil
  }
}
