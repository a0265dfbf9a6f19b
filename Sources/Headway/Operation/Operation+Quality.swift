import Synchronization

extension Operation {
  /// The implementation of ``qualityOfService``.
  final func setQuality(_ quality: QualityOfService) {
    let word = state.setQuality(level: quality.level)
    guard word.phase == .pending else { return }
    raiseDependencies(level: word.qualityLevel)
    if word.isEnqueued, let queue { Self.raiseFurther(queue.operationChangedUrgency(self)) }
  }

  /// At which quality of service the operation runs in a queue of the given one: the higher of the two, and of what
  /// waits for it.
  final func effectiveQuality(in queueQuality: QualityOfService) -> QualityOfService {
    let word = state.current
    let asked = max(word.ownQualityLevel, queueQuality.level)
    // Of an operation of which nothing was said, one that is less urgent than that must not make less.
    if asked == 0, word.raisedQualityLevel < QualityOfService.userInitiated.level { return .default }
    return QualityOfService(level: max(asked, word.raisedQualityLevel))
  }

  /// The class of workers to which the operation or its queue was raised; the lowest class if neither was.
  ///
  /// An operation without a quality of service of its own does not raise a low thread that has started it manually.
  final func raisedClass(in queue: OperationQueue?) -> WorkerClass {
    WorkerClass(raisingLevel: max(state.currentInOrder.raisedQualityLevel, queue?.levelInOrder ?? 0))
  }

  /// A task of this priority waits for the operation, which runs at no lower quality.
  @Sendable final func raiseQuality(to priority: TaskPriority) {
    let level = QualityOfService(priority).level
    guard level > 0 else { return }
    Self.raise([self], level: level)
    raiseReports(level: level)
  }

  /// The operation has finished, and a caller waits until its observers have been notified, or until its end is
  /// reported: raises the thread that is at that.
  ///
  /// The thread of a report is at the operation, as a thread is that runs it, and is raised in the same way.
  final func raiseReports(level: Int) {
    guard state.current.phase == .finished, !isReported else { return }
    guard state.raiseQualityOfReports(level: level) != nil else { return }
    let workerClass = WorkerClass(raisingLevel: level)
    if workerClass != .background { WorkerPool.raiseThreads(of: self, to: workerClass) }
  }

  /// A dependency was added: it runs at no lower quality than this operation.
  final func raiseQuality(of dependency: Operation) {
    let word = state.current
    var level = word.qualityLevel
    if word.isEnqueued, let queue { level = max(level, queue.knownQuality.level) }
    if level > 0 { Self.raise([dependency], level: level) }
  }

  /// Raises what this operation waits for, directly and through others.
  final func raiseDependencies(level: Int) {
    if level > 0, state.current.unfinishedDependencies > 0 { Self.raise(dependencies, level: level) }
  }

  /// The queue of the operation has been raised.
  final func queueWasRaised(level: Int) {
    let word = state.current
    guard word.phase != .finished else { return }
    qualityWasRaised()
    Self.raise(word.unfinishedDependencies > 0 ? dependencies : raiseRunning(level: level), level: level)
  }

  // MARK: Raising

  /// Raises operations, and what they wait for, directly and through others.
  ///
  /// This is how everything is raised that an operation or a caller waits for: dependencies, what a queue starts or
  /// finishes first (``Admission/raise(_:to:)``), and what a thread is blocked on.
  ///
  /// An operation is raised at most four times in its life. So what all the raising costs is linear in the number of
  /// dependencies and, for operations that run, in the number of threads of the low classes.
  static func raise(_ operations: [Operation], level: Int) {
    var raised: [Admission.Raised] = []
    for operation in operations { operation.mark(level: level, &raised) }
    raiseFurther(raised)
  }

  /// Raises what operations that have been marked run on, or wait for.
  static func raiseFurther(_ operations: [Admission.Raised]) {
    var raised = operations
    while let (operation, level) = raised.popLast().map({ ($0.operation, $0.level) }) {
      let word = operation.state.current
      guard word.phase != .finished else { continue }
      operation.qualityWasRaised()
      let others = word.unfinishedDependencies > 0 ? operation.dependencies : operation.raiseRunning(level: level)
      for other in others { other.mark(level: level, &raised) }
    }
  }

  /// Marks the operation as raised, and moves it in its queue; not if it is that urgent already.
  ///
  /// - Parameters:
  ///   - level: The level of quality of service.
  ///   - raised: Takes the operation, and others that its queue has marked because of that.
  private final func mark(level: Int, _ raised: inout [Admission.Raised]) {
    guard let word = state.raiseQuality(level: level) else { return }
    if word.isEnqueued, let queue { raised += queue.operationChangedUrgency(self) }
    raised.append(Admission.Raised(operation: self, level: level))
  }

  /// Raises the threads that run the operation, or are about to, and what these wait for.
  ///
  /// - Returns: The operations for which these threads are blocked.
  private final func raiseRunning(level: Int) -> [Operation] {
    let workerClass = WorkerClass(raisingLevel: level)
    if workerClass != .background { WorkerPool.raiseThreads(of: self, to: workerClass) }
    guard state.current.phase == .executing else { return [] }
    // A wait that begins later finds the operation raised, since it is noted first: see `WaitGraph.block`.
    let waits = waits
    for wait in waits { wait.queue?.raiseAll(to: workerClass) }
    queueOfParts?.raiseAll(to: workerClass)
    for calls in helpedCalls { calls.raise(to: workerClass) }
    return waits.compactMap(\.operation)
  }
}
