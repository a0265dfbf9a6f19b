/// A piece of work.
typealias Body = @Sendable () -> Void

/// A way to run work outside the main thread.
///
/// The following protocols describe its capabilities. A workload is measured with the rivals that have the required
/// capabilities.
protocol Rival: Sendable {
  var name: String { get }
}

/// Runs independent pieces of work.
protocol IndependentRival: Rival {
  /// Returns when the body has run `count` times, and all memory for that has been freed.
  func run(count: Int, body: @escaping Body)
}

/// Runs work with dependencies.
protocol GraphRival: Rival {
  /// Builds the representation of the nodes, runs the body of each node after its dependencies' bodies, and frees
  /// everything.
  func run(_ graph: DependencyGraph, body: (Int) -> Body)
}

/// Runs one piece of work, then many concurrently, then one.
protocol FanRival: Rival {
  /// Does the same as ``GraphRival/run(_:body:)``, for a graph from `DependencyGraph.fan(_:)`.
  func runFan(_ graph: DependencyGraph, body: @escaping Body)
}

/// Runs independent operations that are more than a block, if the rival has such operations.
protocol OperationKindRival: Rival {
  /// Returns when all operations have finished, and all memory for them has been freed.
  ///
  /// The body is both the work and the completion block of ``OperationKind/withCompletionBlock``. The completion block
  /// might still be running when this method returns.
  func run(_ kind: OperationKind, count: Int, body: @escaping Body)
}

/// Runs asynchronous functions.
protocol FunctionRival: Rival {
  /// Returns when this many functions have called the body and returned.
  ///
  /// If `suspending` is true, each function suspends once before it returns.
  func run(count: Int, suspending: Bool, body: @escaping Body)
}

/// Runs asynchronous functions: several at a time, in sequence, and next to calls that block.
protocol AsynchronousRival: FunctionRival {
  /// Calls a function that calls the body for each number, with 64 calls in progress at the same time, and collects
  /// the values that it returns.
  func map(count: Int, body: @escaping Body)

  /// Passes this many items through three stages that call the body for each item, then returns when all items have
  /// passed.
  func stream(count: Int, body: @escaping Body)

  /// Starts this many functions that make a blocking call.
  ///
  /// Then creates functions that do nothing, each after the previous one has returned.
  ///
  /// - Returns: The time in seconds until `turns` of these calls have returned.
  func secondsOfTurns(_ turns: Int, besideBlocking count: Int, call: @escaping Body) -> Double
}

extension Rival {
  /// Blocks the thread until the function has returned.
  func blocking(_ body: @escaping @Sendable () async -> Void) {
    let done = Semaphore()
    Task.detached {
      await body()
      done.signal()
    }
    done.wait()
  }
}

/// Has operations that depend on each other.
protocol DependentRival: Rival {
  /// Returns a suspended queue with a chain of operations of a subclass.
  func makeSuspendedChain(count: Int, body: @escaping Body) -> AnyObject
}

/// Notifies observers of its work.
///
/// Foundation's progress would be one of these progresses, but on Linux it crashes when operations run concurrently.
protocol ObservableRival: Rival {
  /// Runs the same work as with the observation, but without it.
  func runUnobserved(_ observation: Observation, count: Int, body: @escaping Body)

  /// Returns when the body has run `count` times and the observer has been notified of all of it.
  func runObserved(_ observation: Observation, count: Int, body: @escaping Body)
}

/// Has operations and queues with policies.
protocol PolicyRival: Rival {
  /// Returns a function that runs block operations with the policies, or without any.
  ///
  /// It returns when the body has run `count` times, and all memory except that of the policies has been freed. The
  /// policies are created before.
  func preparedRun(_ restriction: Restriction?, count: Int) -> (_ body: @escaping Body) -> Void

  /// Returns a suspended queue with block operations, which might have different delays of hours.
  func makeWaitingQueue(count: Int, delayed: Bool, body: @escaping Body) -> any CancellableQueue

  /// Returns a queue that limits how many operations start per second.
  func makeQueue(startsPerSecond: Int) -> any WorkQueue
}

/// Builds a graph once, then runs it any number of times.
protocol ReusableGraphRival: Rival {
  /// Builds the representation of the nodes.
  ///
  /// Each node runs the body.
  func makeGraph(_ graph: DependencyGraph, body: @escaping Body) -> any ReusableGraph
}

protocol ReusableGraph: AnyObject {
  /// Returns when the body of each node has run.
  func run()
}

/// Has queues that accept work while other work is running.
protocol QueueRival: Rival {
  func makeQueue(width: QueueWidth, urgency: Urgency) -> any WorkQueue
}

/// Has queues whose waiting work can be cancelled.
protocol CancellingRival: Rival {
  func makeCancellableQueue() -> any CancellableQueue
}

/// The properties of an operation in addition to its work.
enum OperationKind {
  /// A subclass that overrides `main()`.
  case subclass
  /// A subclass that does not necessarily finish when `main()` returns, although it finishes there.
  case asynchronous
  case withName
  case withCompletionBlock
}

/// The observer of the work.
enum Observation {
  /// An observer of a key path on each operation.
  case keyPath
  /// A task that receives the events of the queue.
  case events
  /// An observer of the progress of the queue.
  case progress
}

/// The names that the policies of operations use, in turn.
enum Restriction {
  /// One name each, of at most so many, which the operation uses exclusively.
  case exclusiveNames(Int)
  /// One key each, of at most so many.
  case keys(Int)
}

enum QueueWidth {
  case one, oneInOrder, many
}

enum Urgency {
  case background, usual, interactive
}

protocol WorkQueue: AnyObject, Sendable {
  func add(_ body: @escaping Body)
  func suspend()
  func resume()
  func waitUntilEmpty()
}

protocol CancellableQueue: WorkQueue {
  func cancelAll()
}

extension QueueRival {
  func makeQueue() -> any WorkQueue { makeQueue(width: .many, urgency: .usual) }
}

extension FanRival where Self: GraphRival {
  func runFan(_ graph: DependencyGraph, body: @escaping Body) { run(graph) { _ in body } }
}

extension OperationKindRival where Self: IndependentRival {
  /// If a rival has only blocks, the block also does the work that would follow it.
  func run(_ kind: OperationKind, count: Int, body: @escaping Body) {
    guard kind == .withCompletionBlock else { return run(count: count, body: body) }
    run(count: count) {
      body()
      body()
    }
  }
}

/// All rivals.
enum Rivals {
  static let all: [any Rival] = [
    HeadwayRival(), FoundationRival(), DispatchRival(), TaskRival(), DetachedTaskRival(), ThreadPoolRival(),
  ]
}
