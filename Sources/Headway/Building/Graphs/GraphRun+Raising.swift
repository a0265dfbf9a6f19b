import Synchronization

/// Support for raising runs while threads of a low class take part.
///
/// These threads continue with the nodes that they have begun. Threads of the more urgent class help, and execute the
/// nodes on the stacks of the participants of the less urgent class. A helper of a less urgent class makes way for a
/// thread of that class after its current node.
///
/// A thread that requests another thread reads the class, sends the request to the pool of that class, and then reads
/// the class again. A thread that raises the run sets the class, then withdraws the requests from the pools of less
/// urgent classes. One of the two finds the request and sends it to the pool of the more urgent class instead.
///
/// The thread that raises the run is a user of it in the meantime, like participants, so no other run begins in its
/// memory. It reaches the run through the operation (`GraphOperation.raisableRun`). The thread that completes the run
/// removes it from there first.
extension GraphRun {
  /// Creates the work that requests threads of classes that are more urgent than the class of the first thread.
  func makeUrgentHelp() -> PerClass<UrgentGraphHelp?> {
    var help = PerClass<UrgentGraphHelp?>(nil)
    for other in WorkerClass.allCases where other.isMoreUrgent(than: workerClass) {
      help[other] = UrgentGraphHelp(self)
    }
    return help
  }

  /// Whether threads of a more urgent class than the worker's are requested.
  func isRaised(beyond worker: Worker) -> Bool {
    raisedClass.load(ordering: .relaxed).isMoreUrgent(than: worker.pool.workerClass)
  }

  /// Raises the run.
  ///
  /// The calling thread must be a user of the run.
  ///
  /// - Parameters:
  ///   - workerClass: The class of the threads to request.
  ///   - executor: The executor that provides the threads.
  func raise(to workerClass: WorkerClass, sendingFrom executor: any WorkExecutor) {
    var old = raisedClass.load(ordering: .relaxed)
    while workerClass.isMoreUrgent(than: old) {
      let (exchanged, original) = raisedClass.compareExchange(
        expected: old, desired: workerClass, ordering: .sequentiallyConsistent)
      if exchanged {
        moveRequests(to: workerClass, of: executor)
        // Threads that have already arrived might be slow, so request one more, which takes nodes from their stacks.
        if !isOver, lanes.hasNodes, addParticipant() { send(1, from: executor) }
        if isOver { withdraw(from: executor) }
        return
      }
      old = original
    }
  }

  /// Requests threads that have already been counted as participants.
  func send(_ count: Int, from executor: any WorkExecutor) {
    let workerClass = raisedClass.load(ordering: .sequentiallyConsistent)
    executor.summon(count, for: request(for: workerClass), on: workerClass)
    // The pool's lock orders this with a thread that has raised the run and withdrawn requests from the pool.
    guard self.workerClass != .normal else { return }
    let raised = raisedClass.load(ordering: .sequentiallyConsistent)
    if raised != workerClass { moveRequests(to: raised, of: executor) }
  }

  /// Moves the requests from the pools of less urgent classes to the pool of a class.
  private func moveRequests(to workerClass: WorkerClass, of executor: any WorkExecutor) {
    let count = withdrawRequests(lessUrgentThan: workerClass, from: executor)
    if count > 0 { send(count, from: executor) }
  }

  /// Withdraws the requests for threads.
  ///
  /// - Parameters:
  ///   - limit: Only requests for classes that are less urgent than this are withdrawn; nil for all.
  ///   - executor: The executor that provides the threads.
  /// - Returns: How many threads had not arrived yet. They count as participants.
  func withdrawRequests(lessUrgentThan limit: WorkerClass?, from executor: any WorkExecutor) -> Int {
    var count = 0
    for asked in WorkerClass.allCases where !workerClass.isMoreUrgent(than: asked) {
      if limit.map({ $0.isMoreUrgent(than: asked) }) ?? true {
        count += executor.withdraw(request(for: asked), on: asked)
      }
    }
    return count
  }

  /// Returns the work that requests threads of a class.
  private func request(for workerClass: WorkerClass) -> any HelpedWork {
    if let help = urgentHelp?[workerClass] { return help }
    return self
  }
}

/// A run that requests threads of a more urgent class than the class of the thread that has begun it.
final class UrgentGraphHelp: HelpedWork, @unchecked Sendable {  // `place` is protected by the executor's lock.
  private let run: GraphRun
  var place: Int?

  init(_ run: GraphRun) { self.run = run }

  var owner: ObjectIdentifier { run.owner }

  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    run.runOnWorker(of: workerClass, atMost: count)
  }
}
