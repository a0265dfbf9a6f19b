import Headway

/// The state of an operation that the rules use.
struct ModelOperation {
  enum Phase {
    case pending, executing, finished
  }

  let kind: OperationKind
  let inside: Command?
  /// False for a barrier that has not been added.
  var exists: Bool
  var phase = Phase.pending
  /// The operation has finished, and its dependents no longer need to wait.
  var hasReleased = false
  var isCancelled = false
  /// In insertion order; released at the end (O8).
  var dependencies: [Int] = []
  /// D3: the operations that require this one to succeed, oldest requirement first.
  var successDependents: [Int] = []
  var priority = QueuePriority.normal
  var name: String?
  var failure: Failure?
  /// The condition that an override of `isReady` reads.
  var isAllowed = false
  /// The queue that holds it.
  var queue: Int?
  /// Q2: the operation is in a queue or has been in one.
  var wasAdded = false
  /// How often its work was run.
  var runs = 0
  /// It acted inside, which was not misuse.
  var actedInside = false
  var completionBlock: Int?
  /// The completion blocks that have been called.
  var completions: [Int] = []
  var cancellationHandlers = 0
  /// How many of the handlers have been called.
  var cancellations = 0
  var observation = Observation()

  init(_ blueprint: Blueprint) {
    kind = blueprint.kind
    inside = blueprint.inside
    exists = kind != .barrier
  }

  var isAsynchronous: Bool { kind == .asynchronous || kind == .posting }

  /// D3: it was cancelled because an operation that it required to succeed failed.
  var culpritHasFailed = false

  /// B5, D3: a cancelled operation is cancelled, regardless of the error that it recorded, unless it was cancelled
  /// because another one failed.
  var outcome: String? {
    guard phase == .finished else { return nil }
    if isCancelled { return culpritHasFailed ? "failure" : "cancelled" }
    return failure != nil ? "failure" : "success"
  }
}

/// The reason why an operation failed.
struct Failure: Equatable {
  /// D3: the operation that was required to succeed.
  var failedDependency: Int?
  /// The operation that has the error, or had it first.
  var mishap: String?
}

/// The notifications of the observers of one operation or queue.
struct Observation {
  enum Value: Equatable {
    case isCancelled(Bool), dependencies([Int]), isReady(Bool), isExecuting(Bool), isFinished(Bool)
    case queuePriority(QueuePriority)
    case operations([Int]), operationCount(Int), isSuspended(Bool), maxConcurrentOperationCount(Int)
  }

  private(set) var told: [Value] = []
  private var last: [Value]?
  /// No observer is notified any longer.
  var hasEnded = false

  var isObserved: Bool { last != nil }

  /// K1: with the current values, which observers receive at the beginning.
  mutating func begin(_ values: [Value]) {
    guard !isObserved else { return }
    last = values
    told = values
  }

  /// K2: notifies the observers of the values that have changed.
  mutating func change(_ values: [Value]) {
    guard let last, !hasEnded else { return }
    told += zip(values, last).filter { $0 != $1 }.map(\.0)
    self.last = values
  }
}

extension Observation.Value: CustomStringConvertible {
  var description: String {
    switch self {
    case .isCancelled(let value): "isCancelled \(value)"
    case .dependencies(let value): "dependencies \(value)"
    case .isReady(let value): "isReady \(value)"
    case .isExecuting(let value): "isExecuting \(value)"
    case .isFinished(let value): "isFinished \(value)"
    case .queuePriority(let value): "queuePriority \(value)"
    case .operations(let value): "operations \(value)"
    case .operationCount(let value): "operationCount \(value)"
    case .isSuspended(let value): "isSuspended \(value)"
    case .maxConcurrentOperationCount(let value): "maxConcurrentOperationCount \(value)"
    }
  }
}
