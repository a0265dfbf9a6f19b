import Synchronization

/// Runs that are raised while threads of a low class are at them.
///
/// These threads continue with what they have begun; threads of the more urgent class come to help, and execute what is
/// on the stacks of the others. A helper of a less urgent class makes way for one of that class after its node.
///
/// A thread that asks for another one asks the pool of the class that it has read, and then reads the class again; a
/// thread that raises the run sets the class, and then takes what the pools of less urgent classes were asked for. One
/// of the two finds the request, and has the pool of the more urgent class asked in place of the other.
///
/// The thread that raises the run uses it meanwhile, as participants do, so that no other run begins. It gets to it
/// through the operation (`GraphRunOperation.raisableRun`), from which the thread that ends the run takes it first.
extension GraphRun {
  /// What asks for threads of the classes that are more urgent than that of the first thread.
  func makeUrgentHelp() -> PerClass<UrgentGraphHelp?> {
    var help = PerClass<UrgentGraphHelp?>(nil)
    for other in WorkerClass.allCases where other.isMoreUrgent(than: workerClass) {
      help[other] = UrgentGraphHelp(self)
    }
    return help
  }

  /// Whether threads of a more urgent class than that of a worker are sent for.
  func isRaised(beyond worker: Worker) -> Bool {
    raisedClass.load(ordering: .relaxed).isMoreUrgent(than: worker.pool.workerClass)
  }

  /// Raises the run, of which the calling thread is a user.
  ///
  /// - Parameters:
  ///   - workerClass: The class of which threads are to come.
  ///   - executor: What sends them.
  func raise(to workerClass: WorkerClass, sendingFrom executor: any WorkExecutor) {
    var old = raisedClass.load(ordering: .relaxed)
    while workerClass.isMoreUrgent(than: old) {
      let (exchanged, original) = raisedClass.compareExchange(
        expected: old, desired: workerClass, ordering: .sequentiallyConsistent)
      if exchanged {
        moveRequests(to: workerClass, of: executor)
        // Those that have come already may be slow: one more takes of what they have on their stacks.
        if !isOver, lanes.hasNodes, addParticipant() { send(1, from: executor) }
        if isOver { withdraw(from: executor) }
        return
      }
      old = original
    }
  }

  /// Sends for threads that have been counted as participants.
  func send(_ count: Int, from executor: any WorkExecutor) {
    let workerClass = raisedClass.load(ordering: .sequentiallyConsistent)
    executor.summon(count, for: request(for: workerClass), on: workerClass)
    // The pool's lock orders this with a thread that has raised the run, and looked at what the pool was asked for.
    guard self.workerClass != .normal else { return }
    let raised = raisedClass.load(ordering: .sequentiallyConsistent)
    if raised != workerClass { moveRequests(to: raised, of: executor) }
  }

  /// Has the pool of a class asked for what those of less urgent classes were asked for.
  private func moveRequests(to workerClass: WorkerClass, of executor: any WorkExecutor) {
    let count = withdrawRequests(lessUrgentThan: workerClass, from: executor)
    if count > 0 { send(count, from: executor) }
  }

  /// Takes back the requests for threads.
  ///
  /// - Parameters:
  ///   - limit: Only for threads of classes that are less urgent than this; nil for all.
  ///   - executor: What sends the threads.
  /// - Returns: How many threads were still to come. They count as participants.
  func withdrawRequests(lessUrgentThan limit: WorkerClass?, from executor: any WorkExecutor) -> Int {
    var count = 0
    for asked in WorkerClass.allCases where !workerClass.isMoreUrgent(than: asked) {
      if limit.map({ $0.isMoreUrgent(than: asked) }) ?? true {
        count += executor.withdraw(request(for: asked), on: asked)
      }
    }
    return count
  }

  /// What asks for threads of a class.
  private func request(for workerClass: WorkerClass) -> any HelpedWork {
    if let help = urgentHelp?[workerClass] { return help }
    return self
  }
}

/// A run where threads are sent for of a more urgent class than that of the thread that has begun it.
final class UrgentGraphHelp: HelpedWork, @unchecked Sendable {  // `place` is protected by the executor's lock.
  private let run: GraphRun
  var place: Int?

  init(_ run: GraphRun) { self.run = run }

  var owner: ObjectIdentifier { run.owner }

  func runOnWorker(of workerClass: WorkerClass?, atMost count: Int) -> Bool {
    run.runOnWorker(of: workerClass, atMost: count)
  }
}
