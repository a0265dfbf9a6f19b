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

  /// A task of this priority waits for the operation, which runs at no lower quality.
  @Sendable final func raiseQuality(to priority: TaskPriority) {
    let level = QualityOfService(priority).level
    if level > 0 { Self.raise([self], level: level) }
  }

  /// A dependency was added: it runs at no lower quality than this operation.
  final func raiseQuality(of dependency: Operation) {
    let word = state.current
    var level = word.qualityLevel
    if word.isEnqueued, let queue {
      level = max(level, queue.knownQuality.level, queue.urgency(behind: self).raisingLevel)
    }
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

  /// Raises operations, and what they wait for, directly and through others.
  ///
  /// An operation is raised at most four times in its life, so what all the raising costs is linear in the number of
  /// dependencies; and for one that runs on a thread of a low class, in the number of such threads.
  static func raise(_ operations: [Operation], level: Int) {
    raiseAll(operations.map { Raised(operation: $0, level: level, isMarked: false) })
  }

  /// Raises what operations wait for that a queue has raised.
  static func raiseFurther(_ raised: [Admission.Raised]) {
    guard !raised.isEmpty else { return }
    raiseAll(raised.map { Raised(operation: $0.operation, level: $0.level, isMarked: true) })
  }

  private struct Raised {
    let operation: Operation
    let level: Int
    /// Its word says already that it is raised.
    let isMarked: Bool
  }

  private static func raiseAll(_ operations: [Raised]) {
    var waiting = operations
    while let next = waiting.popLast() {
      let (operation, level) = (next.operation, next.level)
      let word: OperationWord
      if next.isMarked {
        word = operation.state.current
      } else {
        guard let raised = operation.state.raiseQuality(level: level) else { continue }
        word = raised
        if word.isEnqueued, let further = operation.queue?.operationChangedUrgency(operation) {
          for raised in further {
            waiting.append(Raised(operation: raised.operation, level: raised.level, isMarked: true))
          }
        }
      }
      guard word.phase != .finished else { continue }
      operation.qualityWasRaised()
      let others = word.unfinishedDependencies > 0 ? operation.dependencies : operation.raiseRunning(level: level)
      for other in others { waiting.append(Raised(operation: other, level: level, isMarked: false)) }
    }
  }

  /// Raises what the operation is at, if it runs, or a thread has taken it to run.
  ///
  /// - Returns: What it is blocked on.
  private final func raiseRunning(level: Int) -> [Operation] {
    let workerClass = WorkerClass(raisingLevel: level)
    if workerClass != .background { WorkerPool.raiseThreads(of: self, to: workerClass) }
    guard state.current.phase == .executing else { return [] }
    let (operation, queue) = waitsFor
    queue?.raiseAll(to: workerClass)
    return operation.map { [$0] } ?? []
  }
}
