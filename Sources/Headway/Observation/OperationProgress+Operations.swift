import Synchronization

extension OperationExtensions {
  /// How far this operation has come.
  ///
  /// ``Operation/main()`` sets its `totalUnitCount` and counts `completedUnitCount` up. It is made when it is first
  /// asked for. Cancelling it cancels the operation, by its `cancellationHandler`: one that you set takes the place of
  /// that.
  public var progress: OperationProgress {
    if let progress = existingProgress { return progress }
    // It may get handlers and observers.
    state.announceUserObject()
    let made = OperationProgress(totalUnitCount: expectedUnitCount)
    made.cancellationHandler = { [weak self] in self?.cancel() }
    return links.withLock { links in
      if let progress = links.madeDetails.progress { return progress }
      links.madeDetails.progress = made
      return made
    }
  }
}

extension Operation {
  final var existingProgress: OperationProgress? { links.withLock { $0.details?.progress } }
}

extension OperationQueue {
  /// The progress, if somebody has set how much there is to do.
  ///
  /// Seen without a lock when nobody has asked for the progress yet.
  final var trackedProgress: OperationProgress? {
    guard hasProgress.load(ordering: .acquiring), let progress = knownProgress.withLock({ $0 }) else { return nil }
    return progress.tracksOperations ? progress : nil
  }
}

extension OperationProgress {
  /// As the progress of a queue: whether operations count.
  ///
  /// Relaxed: setting the total while operations run tracks those that start after it was seen.
  fileprivate var tracksOperations: Bool { hasTotal.load(ordering: .relaxed) }

  /// As the progress of a queue: an operation starts, and its own progress counts as a fraction of one unit.
  func startUnit(of operation: Operation) { adopt(operation.progress) }

  /// As the progress of a queue: an operation has finished, which completes one unit.
  ///
  /// Notifies nobody: ``notifyIfFurther()`` is to follow.
  func countUnit(of operation: Operation) {
    if let progress = operation.existingProgress, progress.parent === self {
      _ = count(progress)
    } else {
      state.withLock { $0.completed += 1 }
    }
  }
}
