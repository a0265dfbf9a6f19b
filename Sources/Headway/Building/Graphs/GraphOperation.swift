import Synchronization

/// An operation that runs each node of an ``OperationGraph`` once.
///
/// Create a graph operation with ``OperationGraph/makeOperation(maxConcurrentNodeCount:recordingTimes:)``.
///
/// The thread that starts the operation executes nodes, and workers of the pool help it if several nodes could run at
/// the same time. The thread never waits for them: if none arrives, it executes all nodes itself. When it finds no
/// further nodes, it is free, and the operation ends on the thread that executed the last node. The operation counts as
/// one operation in the limit of its queue.
///
/// Inside the blocks, ``OperationQueue/current`` is the queue of this operation. The blocks run at the operation's
/// quality of service and ``Operation/threadPriority``.
///
/// *Cancelling* the operation takes effect between nodes: nodes that have not begun are not run, and the operation ends
/// when the running blocks have returned. *The first error* that a block throws has the same effect, and
/// ``Operation/error`` is an ``OperationGraphError`` that names the node. *Progress* counts nodes.
public final class GraphOperation: Operation, @unchecked Sendable {
  // `reportedCount` and `executedCount` are atomic. A lock protects `raisableRun`. The memory of `times` is allocated
  // before the run and freed with the operation, and only the thread that executes a node writes that node's element.
  // The rest does not change.

  /// The graph that the operation runs.
  public let graph: OperationGraph

  /// The maximum number of nodes that run at the same time.
  public let maxConcurrentNodeCount: Int

  /// Whether ``nodeTimings`` are recorded.
  public let recordsTimes: Bool

  /// The number of nodes that the progress has counted.
  private let reportedCount = Atomic(0)
  /// The number of nodes that had been executed when the run ended.
  ///
  /// The end of the run publishes it.
  private let executedCount = Atomic(0)

  /// The time of each node, indexed by its number.
  var times: UnsafeMutablePointer<GraphNodeTime>?
  /// The time when the run began, in nanoseconds of uptime.
  var beginning: UInt64 = 0

  init(of graph: OperationGraph, limit: Int, recordingTimes: Bool) {
    self.graph = graph
    maxConcurrentNodeCount = limit
    self.recordsTimes = recordingTimes
  }

  deinit { times?.deallocate() }

  /// Always true: the work can continue on other threads after ``Operation/start()`` has returned.
  public override var isAsynchronous: Bool { true }

  override var endsWithMain: Bool { false }

  override func makeProgress() -> OperationProgress { makeProgress(totalUnitCount: Int64(graph.nodeCount)) }

  // MARK: The run

  /// The maximum number of lanes.
  ///
  /// With more, searching the lanes would take longer than it saves.
  private static let mostLanes = 256

  override func run() {
    guard graph.nodeCount > 0 else { return end() }
    beginRecording()
    let limit = min(maxConcurrentNodeCount, graph.nodeCount, Self.mostLanes)
    let run = graph.recycledRuns.take() ?? GraphRun(nodeCount: graph.nodeCount, laneCount: limit)
    run.begin(self, limit: limit, home: graph.recycledRuns)
    if run.workerClass != .normal {
      raisableRun.withLock { $0 = run }
      // If the operation was raised before this point, this raises the run. If it is raised later, the thread that
      // raises it finds the run.
      qualityWasRaised()
    }
    run.runOnFirstThread(self)
  }

  /// The run, while it can be raised because threads of a low class take part.
  ///
  /// Protected by its lock. Nothing is called or freed under it. A thread that raises the run registers as a user of it
  /// under this lock.
  private let raisableRun = Guarded<GraphRun?>(nil)

  /// Prevents threads that raise the operation from reaching the run.
  ///
  /// Called by the thread that completes the run.
  func runIsOver() { raisableRun.withLock { $0 = nil } }

  override func qualityWasRaised() {
    guard state.current.phase == .executing else { return }
    let user = raisableRun.withLock { run in run.map { (run: $0, executor: $0.addUser()) } }
    guard let (run, executor) = user else { return }
    run.raise(to: raisedClass(in: queue), sendingFrom: executor)
    run.releaseUser()
  }

  /// Finishes the operation: all nodes have been executed, or the remaining ones must not begin.
  func endRun(executedCount: Int) {
    self.executedCount.store(executedCount, ordering: .relaxed)
    reportProgress(executedCount)
    end()
    // The progress might have been created in between. Either this call finds it, or the thread that created it sees
    // that the operation has finished.
    reportProgress(executedCount)
  }

  func nodeFailed(_ node: OperationGraph.Node, _ error: any Error) {
    // The node has ended because the run must end early, which is not a failure.
    if error is CancellationError, state.current.endsGraphRun { return }
    recordError(
      OperationGraphError(
        code: .nodeFailed, nodes: [node], nodeNames: [graph.name(of: node)], underlyingError: error))
  }

  // MARK: Progress

  /// Counts each hundredth of the nodes, or each node if there are few, in the progress, which another thread might
  /// have requested.
  func noteProgress(of run: GraphRun, _ executedCount: Int) {
    if executedCount % max(1, graph.nodeCount / 100) == 0 { reportProgress(run.lanes.executedCount) }
  }

  override func progressWasCreated() {
    if state.current.phase == .finished { reportProgress(executedCount.load(ordering: .relaxed)) }
  }

  private func reportProgress(_ executedCount: Int) {
    guard state.current.hasUserObjects, let progress = existingProgress else { return }
    // Threads can report their counts out of order. Nodes that one thread has reported are not reported again. Relaxed:
    // this is only a number.
    let (before, after) = reportedCount.max(executedCount, ordering: .relaxed)
    if after > before { progress.completeUnits(Int64(after - before)) }
  }
}
