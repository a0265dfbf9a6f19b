import Headway

/// One step of a program, which a model and the library carry out.
///
/// Operations and queues are named by their numbers in the program. Both sides skip a command that would be misuse when
/// its turn comes. As a result, a program stays valid no matter what is omitted.
enum Command: Equatable, Sendable {
  // Changes to operations.
  case depend(Int, on: Int, requiresSuccess: Bool)
  case removeDependency(Int, from: Int)
  case cancel(Int)
  case setPriority(Int, QueuePriority)
  case setCompletionBlock(Int, label: Int?)
  case onCancel(Int)
  case fail(Int)
  case setName(Int)
  case start(Int)
  /// Ends an asynchronous operation, with an error or without.
  case finish(Int, isFailure: Bool)
  /// Lets an operation with its own `isReady` be ready, or not.
  case allow(Int, Bool)
  case observe(Int)
  case wait(Int)

  // Changes to queues.
  case add(Int, queue: Int)
  case addBatch([Int], queue: Int)
  case cancelAll(queue: Int)
  case suspend(queue: Int, Bool)
  case limit(queue: Int, Int)
  case setTotal(queue: Int, Int64)
  case observeQueue(Int)
  case waitForAll(queue: Int)

  // The work of a queue's threads.
  /// Lets the queue start one operation.
  case step(queue: Int)
  /// Calls the completion block that has waited longest.
  case callCompletionBlock(queue: Int)
  /// Both, until there is nothing to do.
  case run(queue: Int)
}

/// The kind of an operation of a program.
enum OperationKind: CaseIterable, Sendable {
  /// A subclass with a `main()`.
  case plain
  /// Its `main()` throws.
  case failing
  /// A block operation with two blocks.
  case blocks
  /// A barrier block; it does not exist before it is added to a queue.
  case barrier
  /// Continues until the program finishes it.
  case asynchronous
  /// The same in the old style: overrides `start()` and the states, and posts the changes.
  case posting
  /// Overrides `isReady` and is ready when the program allows it.
  case held
}

/// An operation of a program, before it is created.
struct Blueprint: Equatable, Sendable {
  var kind: OperationKind
  /// Its work when it runs.
  var inside: Command?
}

// MARK: Descriptions

extension Command: CustomStringConvertible {
  var description: String {
    switch self {
    case .depend(let operation, let other, false): "\(operation) depends on \(other)"
    case .depend(let operation, let other, true): "\(operation) depends on the success of \(other)"
    case .removeDependency(let operation, let other): "\(operation) no longer depends on \(other)"
    case .cancel(let operation): "cancel \(operation)"
    case .setPriority(let operation, let priority): "give \(operation) the priority \(priority)"
    case .setCompletionBlock(let operation, let label?): "give \(operation) the completion block \(label)"
    case .setCompletionBlock(let operation, nil): "take the completion block of \(operation) away"
    case .onCancel(let operation): "register a handler for the cancellation of \(operation)"
    case .fail(let operation): "record an error for \(operation)"
    case .setName(let operation): "name \(operation)"
    case .start(let operation): "start \(operation) manually"
    case .finish(let operation, let isFailure): "finish \(operation)\(isFailure ? " with an error" : "")"
    case .allow(let operation, let isAllowed): "set that \(operation) is \(isAllowed ? "" : "not ")ready"
    case .observe(let operation): "observe \(operation)"
    case .wait(let operation): "wait for \(operation)"
    case .add(let operation, let queue): "add \(operation) to queue \(queue)"
    case .addBatch(let operations, let queue): "add \(operations) to queue \(queue) together"
    case .cancelAll(let queue): "cancel all of queue \(queue)"
    case .suspend(let queue, let isSuspended): "\(isSuspended ? "suspend" : "resume") queue \(queue)"
    case .limit(let queue, let limit): "limit queue \(queue) to \(limit)"
    case .setTotal(let queue, let total): "track the progress of queue \(queue) up to \(total)"
    case .observeQueue(let queue): "observe queue \(queue)"
    case .waitForAll(let queue): "wait for all of queue \(queue)"
    case .step(let queue): "let queue \(queue) start one"
    case .callCompletionBlock(let queue): "call a completion block of queue \(queue)"
    case .run(let queue): "run queue \(queue)"
    }
  }

  /// The operations that the command names.
  var operations: [Int] {
    switch self {
    case .depend(let operation, let other, _), .removeDependency(let operation, let other): [operation, other]
    case .addBatch(let operations, _): operations
    case .cancel(let operation), .setPriority(let operation, _), .setCompletionBlock(let operation, _),
      .onCancel(let operation), .fail(let operation), .setName(let operation), .start(let operation),
      .finish(let operation, _), .allow(let operation, _), .observe(let operation), .wait(let operation),
      .add(let operation, _):
      [operation]
    case .cancelAll, .suspend, .limit, .setTotal, .observeQueue, .waitForAll, .step, .callCompletionBlock, .run: []
    }
  }
}
