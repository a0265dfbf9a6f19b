import Synchronization

/// An operation that runs each node of an ``OperationGraph`` once.
///
/// ``OperationGraph/operation(maxConcurrentNodeCount:recordsTimes:)`` makes it.
///
/// The thread that starts the operation executes nodes, and workers of the pool help it where several could run at
/// once. It never waits for them: if none comes, it does all by itself. When it finds no more to do, it is free, and
/// the operation ends on the thread that executed the last node. In the limit of its queue, the operation counts as
/// one.
///
/// Inside the blocks, ``OperationQueue/current`` is the queue of this operation. They run at its quality of service and
/// ``Operation/threadPriority``.
///
/// *Cancelling* the operation is seen between nodes: what has not begun is not run, and the operation ends when the
/// blocks that have begun do. *The first error* that a block throws does the same, and ``Operation/error`` is an
/// ``OperationGraphError`` that names the node. *Progress* counts nodes.
public final class GraphRunOperation: Operation, @unchecked Sendable {
  // `reportedCount` and `executedCount` are atomic; a lock protects `raisableRun`; the memory of `times` is made before
  // the run and freed with the operation, and the thread that executes a node alone writes the element of that node;
  // the rest does not change.

  /// The graph.
  public let graph: OperationGraph

  /// How many nodes may run at once.
  public let maxConcurrentNodeCount: Int

  /// Whether ``nodeTimes`` are recorded.
  public let recordsTimes: Bool

  /// How many nodes the progress has counted.
  private let reportedCount = Atomic(0)
  /// How many nodes had been executed when the run ended; that publishes it.
  private let executedCount = Atomic(0)

  /// When each node ran, by its number.
  var times: UnsafeMutablePointer<GraphNodeTime>?
  /// When the run began, in nanoseconds of uptime.
  var beginning: UInt64 = 0

  init(of graph: OperationGraph, limit: Int, recordsTimes: Bool) {
    self.graph = graph
    maxConcurrentNodeCount = limit
    self.recordsTimes = recordsTimes
  }

  deinit { times?.deallocate() }

  /// True: the work may go on after ``Operation/start()`` has returned, on other threads.
  public override var isAsynchronous: Bool { true }

  override var endsWithMain: Bool { false }

  override func makeProgress() -> OperationProgress { makeProgress(totalUnitCount: Int64(graph.nodeCount)) }

  // MARK: The run

  /// No more lanes than that are made, so that looking through them takes no longer than what it saves.
  private static let mostLanes = 256

  override func run() {
    guard graph.nodeCount > 0 else { return end() }
    beginRecording()
    let limit = min(maxConcurrentNodeCount, graph.nodeCount, Self.mostLanes)
    let run = graph.recycledRuns.take() ?? GraphRun(nodeCount: graph.nodeCount, laneCount: limit)
    run.begin(self, limit: limit, home: graph.recycledRuns)
    if run.workerClass != .normal {
      raisableRun.withLock { $0 = run }
      // Raised before, it is raised here; raised later, the thread that does so finds the run.
      qualityWasRaised()
    }
    run.runOnFirstThread(self)
  }

  /// The run, while it may be raised: threads of a low class are at it.
  ///
  /// Protected by its lock, under which nothing is called or freed; another thread that uses the run has said so there.
  private let raisableRun = Guarded<GraphRun?>(nil)

  /// No thread that raises the operation gets to the run from now on.
  ///
  /// Called by the thread that ends the run.
  func runIsOver() { raisableRun.withLock { $0 = nil } }

  override func qualityWasRaised() {
    guard state.current.phase == .executing else { return }
    let user = raisableRun.withLock { run in run.map { (run: $0, executor: $0.addUser()) } }
    guard let (run, executor) = user else { return }
    run.raise(to: raisedClass(in: queue), sendingFrom: executor)
    run.releaseUser()
  }

  /// All nodes have been executed, or what has not begun is not to be.
  func endRun(executedCount: Int) {
    self.executedCount.store(executedCount, ordering: .relaxed)
    reportProgress(executedCount)
    end()
    // The progress may have been asked for in between: either this finds it, or the thread that asked finds the end.
    reportProgress(executedCount)
  }

  func nodeFailed(_ node: OperationGraph.Node, _ error: any Error) {
    // It has seen that it is to end early, which is no failure.
    if error is CancellationError, state.current.endsGraphRun { return }
    recordError(
      OperationGraphError(
        code: .nodeFailed, nodes: [node], nodeNames: [graph.name(of: node)], underlyingError: error))
  }

  // MARK: Progress

  /// Somebody may have asked for the progress: it counts each hundredth of the nodes, or each of few.
  func noteProgress(of run: GraphRun, _ executedCount: Int) {
    if executedCount % max(1, graph.nodeCount / 100) == 0 { reportProgress(run.lanes.executedCount) }
  }

  override func progressWasMade() {
    if state.current.phase == .finished { reportProgress(executedCount.load(ordering: .relaxed)) }
  }

  private func reportProgress(_ executedCount: Int) {
    guard state.current.hasUserObjects, let progress = existingProgress else { return }
    // Threads may come with their counts in another order: what one has reported, another does not report again.
    // Relaxed: it is but a number.
    let (before, after) = reportedCount.max(executedCount, ordering: .relaxed)
    if after > before { progress.complete(unitCount: Int64(after - before)) }
  }
}
