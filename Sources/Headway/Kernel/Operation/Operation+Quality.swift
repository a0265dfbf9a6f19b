import Synchronization

extension Operation {
  /// Implements the setter of ``qualityOfService``.
  final func setQuality(_ quality: QualityOfService) {
    let word = state.setQuality(level: quality.level)
    guard word.phase == .pending else { return }
    raiseDependencies(level: word.qualityLevel)
    guard word.isEnqueued, let queue else { return }
    Self.raiseFurther(queue.operationChangedUrgency(self))
    raiseResources(level: word.qualityLevel)
  }

  /// The quality of service that the operation runs at in a queue with the given quality.
  ///
  /// It is the highest among its own quality, the queue's, and the qualities of the operations and callers that wait
  /// for it.
  final func effectiveQuality(in queueQuality: QualityOfService) -> QualityOfService {
    let word = state.current
    let asked = max(word.ownQualityLevel, queueQuality.level)
    // An operation at `.default` is raised only to user-initiated or above. A lower level would make it less urgent
    // than it is.
    if asked == 0, word.raisedQualityLevel < QualityOfService.userInitiated.level { return .default }
    return QualityOfService(level: max(asked, word.raisedQualityLevel))
  }

  /// The class of workers that the operation or its queue was raised to; the lowest class if neither was raised.
  ///
  /// An operation without its own quality of service does not raise a low thread that has started it manually.
  final func raisedClass(in queue: OperationQueue?) -> WorkerClass {
    WorkerClass(raisingLevel: max(state.currentInOrder.raisedQualityLevel, queue?.levelInOrder ?? 0))
  }

  /// Raises the operation to at least the quality of service of a task of this priority, which waits for it.
  @Sendable final func raiseQuality(to priority: TaskPriority) {
    let level = QualityOfService(priority).level
    guard level > 0 else { return }
    Self.raise([self], level: level)
    raiseReports(level: level)
  }

  /// Raises the thread that notifies the observers of the finished operation or reports its end, because a caller waits
  /// for the notification or the report.
  ///
  /// The thread of a report is recorded with the operation like a thread that runs the operation. It is raised in the
  /// same way.
  final func raiseReports(level: Int) {
    guard state.current.phase == .finished, !isReported else { return }
    guard state.raiseQualityOfReports(level: level) != nil else { return }
    let workerClass = WorkerClass(raisingLevel: level)
    if workerClass != .background { WorkerPool.raiseThreads(of: self, to: workerClass) }
  }

  /// Raises a dependency that was added to at least the quality of service of this operation.
  final func raiseQuality(of dependency: Operation) {
    let word = state.current
    var level = word.qualityLevel
    if word.isEnqueued, let queue { level = max(level, queue.knownQuality.level) }
    if level > 0 { Self.raise([dependency], level: level) }
  }

  /// Raises the dependencies of this operation, direct and indirect.
  final func raiseDependencies(level: Int) {
    if level > 0, state.current.unfinishedDependencies > 0 { Self.raise(dependencies, level: level) }
  }

  /// Raises the operations that keep this operation's request for resources waiting.
  private final func raiseResources(level: Int) {
    if level > 0 { Self.raise(obstaclesAtResources(raisingTo: level), level: level) }
  }

  /// Raises the operation because its queue has been raised.
  final func queueWasRaised(level: Int) {
    let word = state.current
    guard word.phase != .finished else { return }
    qualityWasRaised()
    Self.raise(raiseOwn(word, level: level), level: level)
  }

  // MARK: Raising

  /// Raises operations and everything that they wait for, directly or indirectly.
  ///
  /// This includes dependencies, operations that a queue starts or finishes first (``Admission/raise(_:to:)``), earlier
  /// users and requesters of the same resources, and the operation that a thread is blocked on.
  ///
  /// An operation is raised at most four times in its life. As a result, the total cost of raising is linear in the
  /// number of dependencies and, for running operations, in the number of threads of the low classes.
  ///
  /// See `Docs/decisions/0030-raising.md`.
  static func raise(_ operations: [Operation], level: Int) {
    var raised: [Admission.Raised] = []
    for operation in operations { operation.mark(level: level, &raised) }
    raiseFurther(raised)
  }

  /// Raises the threads that run the marked operations, or the operations that these threads wait for.
  static func raiseFurther(_ operations: [Admission.Raised]) {
    var raised = operations
    while let (operation, level) = raised.popLast().map({ ($0.operation, $0.level) }) {
      let word = operation.state.current
      guard word.phase != .finished else { continue }
      operation.qualityWasRaised()
      for other in operation.raiseOwn(word, level: level) { other.mark(level: level, &raised) }
    }
  }

  /// Raises the threads of the operation, if it has no unfinished dependency.
  ///
  /// - Returns: The operations that it waits for.
  private final func raiseOwn(_ word: OperationWord, level: Int) -> [Operation] {
    if word.unfinishedDependencies > 0 { return dependencies }
    return raiseRunning(level: level) + obstaclesAtResources(raisingTo: level)
  }

  /// Marks the operation as raised and moves it in its queue, unless it is already that urgent.
  ///
  /// - Parameters:
  ///   - level: The level of quality of service.
  ///   - raised: Receives the operation, and others that its queue has marked because of it.
  private final func mark(level: Int, _ raised: inout [Admission.Raised]) {
    guard let word = state.raiseQuality(level: level) else { return }
    if word.isEnqueued, let queue { raised += queue.operationChangedUrgency(self) }
    raised.append(Admission.Raised(operation: self, level: level))
  }

  /// Raises the threads that run the operation or are about to, and the queues and calls that these threads wait for.
  ///
  /// - Returns: The operations that these threads are blocked on.
  private final func raiseRunning(level: Int) -> [Operation] {
    let workerClass = WorkerClass(raisingLevel: level)
    if workerClass != .background { WorkerPool.raiseThreads(of: self, to: workerClass) }
    guard state.current.phase == .executing else { return [] }
    // A wait that begins later finds the operation raised, because the wait is recorded first: see `KnownWait.block`.
    let waits = waits
    for wait in waits { wait.queue?.raiseAll(to: workerClass) }
    queueOfParts?.raiseAll(to: workerClass)
    for calls in helpedCalls { calls.raise(to: workerClass) }
    return waits.flatMap(\.operations)
  }
}
