/// A piece of work.
typealias Body = @Sendable () -> Void

/// A way to run work beside the main thread.
///
/// What it can do is in the protocols that follow; a workload is measured with the rivals that have what it needs.
protocol Rival: Sendable {
  var name: String { get }
}

/// Runs work of which no piece waits for another.
protocol IndependentRival: Rival {
  /// Returns when the body has run that often, and all that was needed for it is freed.
  func run(count: Int, body: @escaping Body)
}

/// Runs work with dependencies.
protocol GraphRival: Rival {
  /// Builds what stands for the nodes, runs the body of each after those of its dependencies, and frees all.
  func run(_ graph: DependencyGraph, body: (Int) -> Body)
}

/// Runs one piece of work, then many beside each other, then one.
protocol FanRival: Rival {
  /// Does the same as ``GraphRival/run(_:body:)``, for a graph from `DependencyGraph.fan(_:)`.
  func runFan(_ graph: DependencyGraph, body: @escaping Body)
}

/// Runs independent work that is more than a block, where the rival has such a thing.
protocol OperationKindRival: Rival {
  /// Returns when all operations have finished, and all that was needed for them is freed.
  ///
  /// The body is both the work and the completion block of ``OperationKind/withCompletionBlock``, which may still run
  /// when this returns.
  func run(_ kind: OperationKind, count: Int, body: @escaping Body)
}

/// Runs asynchronous functions.
protocol FunctionRival: Rival {
  /// Returns when so many functions have called the body and returned, each of which suspends once before if asked to.
  func run(count: Int, suspending: Bool, body: @escaping Body)
}

/// Runs asynchronous functions, some at a time, after each other and beside calls that block.
protocol AsynchronousRival: FunctionRival {
  /// Returns the sum of what a function that calls the body returns for each number, with 64 calls under way at once.
  func map(count: Int, body: @escaping Body)

  /// Has so many items pass through three stages, each of which calls the body for each, and returns when all have.
  func stream(count: Int, body: @escaping Body)

  /// Starts so many functions that make a call that blocks; then makes functions that do nothing, one when the one
  /// before has returned.
  ///
  /// - Returns: The seconds in which `turns` of these have returned.
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

/// Has operations that others wait for.
protocol DependentRival: Rival {
  /// A suspended queue of operations of a subclass, each waiting for the one before.
  func makeSuspendedChain(count: Int, body: @escaping Body) -> AnyObject
}

/// Notifies others of what its work does.
///
/// Foundation's progress would be one of these, but on Linux it crashes when operations run beside each other.
protocol ObservableRival: Rival {
  /// Runs the same work as with the observation, without it.
  func runUnobserved(_ observation: Observation, count: Int, body: @escaping Body)

  /// Returns when the body has run that often and the observer was notified of all of it.
  func runObserved(_ observation: Observation, count: Int, body: @escaping Body)
}

/// Lays a graph out once, and runs it as often as one likes.
protocol ReusableGraphRival: Rival {
  /// Builds what stands for the nodes, each of which runs the body.
  func makeGraph(_ graph: DependencyGraph, body: @escaping Body) -> any ReusableGraph
}

protocol ReusableGraph: AnyObject {
  /// Returns when the body of each node has run.
  func run()
}

/// Has queues to which work is added while others run.
protocol QueueRival: Rival {
  func makeQueue(width: QueueWidth, urgency: Urgency) -> any WorkQueue
}

/// Has queues whose waiting work can be cancelled.
protocol CancellingRival: Rival {
  func makeCancellableQueue() -> any CancellableQueue
}

/// What an operation has beside its work.
enum OperationKind {
  /// A subclass that overrides `main()`.
  case subclass
  /// A subclass whose end is not that of `main()`, though it ends there.
  case asynchronous
  case withName
  case withCompletionBlock
}

/// Who is notified of what the work does.
enum Observation {
  /// An observer of a key path on each operation.
  case keyPath
  /// A task that takes the events of the queue.
  case events
  /// An observer of the progress of the queue.
  case progress
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
  /// For a rival that has blocks and nothing else: what would follow the work is done at its end.
  func run(_ kind: OperationKind, count: Int, body: @escaping Body) {
    guard kind == .withCompletionBlock else { return run(count: count, body: body) }
    run(count: count) {
      body()
      body()
    }
  }
}

/// All there are.
enum Rivals {
  static let all: [any Rival] = [
    HeadwayRival(), FoundationRival(), DispatchRival(), TaskRival(), DetachedTaskRival(), ThreadPoolRival(),
  ]
}
