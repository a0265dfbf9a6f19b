import Synchronization

extension Operation {
  /// The implementation of ``qualityOfService``.
  final func setQuality(_ quality: QualityOfService) {
    let word = state.setQuality(level: quality.level)
    guard word.phase == .pending else { return }
    raiseDependencies(level: word.qualityLevel)
    if word.isEnqueued { queue?.operationChangedUrgency(self) }
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
    if word.isEnqueued, let queue { level = max(level, queue.knownQuality.level) }
    if level > 0 { Self.raise([dependency], level: level) }
  }

  /// Raises what this operation waits for, directly and through others.
  final func raiseDependencies(level: Int) {
    if level > 0, state.current.unfinishedDependencies > 0 { Self.raise(dependencies, level: level) }
  }

  /// An operation is raised at most four times in its life, so what all the raising costs is linear in the number of
  /// dependencies.
  private static func raise(_ operations: [Operation], level: Int) {
    var waiting = operations
    while let operation = waiting.popLast() {
      guard let word = operation.state.raiseQuality(level: level) else { continue }
      if word.isEnqueued { operation.queue?.operationChangedUrgency(operation) }
      operation.qualityWasRaised()
      if word.unfinishedDependencies > 0 { waiting.append(contentsOf: operation.dependencies) }
    }
  }
}
