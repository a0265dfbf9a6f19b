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

/// Has queues to which work is added while others run.
protocol QueueRival: Rival {
  func makeQueue(width: QueueWidth, urgency: Urgency) -> any WorkQueue
}

/// Has queues whose waiting work can be cancelled.
protocol CancellingRival: Rival {
  func makeCancellableQueue() -> any CancellableQueue
}

enum QueueWidth {
  case one, many
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

/// All there are.
enum Rivals {
  static let all: [any Rival] = [
    HeadwayRival(), FoundationRival(), DispatchRival(), TaskRival(), ThreadPoolRival(),
  ]
}
