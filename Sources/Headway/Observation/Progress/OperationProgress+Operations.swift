import Synchronization

extension OperationExtensions {
  /// How far this operation has come.
  ///
  /// ``Operation/main()`` sets its `totalUnitCount` and counts `completedUnitCount` up. It is made when it is first
  /// asked for. Cancelling it cancels the operation, by its `cancellationHandler`: one that you set takes the place of
  /// that.
  @_disfavoredOverload
  public var progress: OperationProgress {
    if let progress = existingProgress { return progress }
    // It may get handlers and observers. Before there is one, so that the thread that starts the operation, or ends it,
    // looks for it; or this one sees that it has.
    state.announceUserObject()
    let made = makeProgress()
    let progress = links.withLock { links in
      if let progress = links.detailsCreatedIfNeeded.progress { return progress }
      links.detailsCreatedIfNeeded.progress = made
      return made
    }
    if state.current.isRunning { queue?.startUnit(of: self, with: progress) }
    progressWasMade()
    return progress
  }
}

extension Operation {
  final var existingProgress: OperationProgress? { links.withLock { $0.details?.progress } }
}

extension OperationQueue {
  /// The progress, if somebody has set how much there is to do; the queue keeps it alive.
  ///
  /// Seen without a lock.
  final var trackedProgress: Unmanaged<OperationProgress>? {
    guard let pointer = progressPointer.load(ordering: .acquiring) else { return nil }
    let progress = Unmanaged<OperationProgress>.fromOpaque(pointer)
    return progress._withUnsafeGuaranteedRef { $0.tracksOperations } ? progress : nil
  }

  /// An operation starts: its own progress counts from now on, if it has one already.
  final func startUnit(of operation: Operation) {
    guard let tracked = trackedProgress, operation.completesUnit, operation.state.current.hasUserObjects,
      let progress = operation.existingProgress
    else { return }
    tracked._withUnsafeGuaranteedRef { $0.adopt(progress) }
  }

  /// The progress of an operation that is running was asked for: what it would know, had it been made at the start.
  fileprivate final func startUnit(of operation: Operation, with progress: OperationProgress) {
    guard let tracked = trackedProgress, operation.completesUnit else { return }
    tracked._withUnsafeGuaranteedRef { tracked in
      tracked.adopt(progress)
      // The progress can be found by now: either the thread that cancels all finds it, or this one that it has.
      if tracked.isCancelled, operation.isCancelled { progress.cancel() }
    }
  }

  /// Cancels the operations that run, by their progress or, where nobody has asked for one, as that would; but not
  /// those whose progress is a part of another.
  ///
  /// O(*n*) in the number of operations in the queue.
  final func cancelRunningUnits() {
    guard let tracked = trackedProgress?.toOpaque() else { return }
    for operation in operations where operation.completesUnit && operation.state.current.isRunning {
      if operation.existingProgress == nil { operation.cancel() }
      // Another thread may have asked for it meanwhile.
      guard let progress = operation.existingProgress else { continue }
      let parent = progress.parent.map { Unmanaged.passUnretained($0).toOpaque() }
      if parent == nil || parent == tracked { progress.cancel() }
    }
  }

  /// An operation has finished, and is about to leave the queue: that completes one unit.
  ///
  /// - Returns: The progress, if it is to notify of that: ``OperationProgress/notifyIfFurther()`` is to follow.
  final func countUnit(of operation: Operation) -> Unmanaged<OperationProgress>? {
    guard let tracked = trackedProgress, operation.completesUnit else { return nil }
    return tracked._withUnsafeGuaranteedRef { $0.countUnit(of: operation) } ? tracked : nil
  }
}

extension Operation {
  /// Whether it is one of the units of its queue's progress: barriers are not, since nobody counts them when setting
  /// the total.
  fileprivate final var completesUnit: Bool { !isBarrier && isUnit }
}

extension OperationProgress {
  /// As the progress of a queue: whether operations count.
  ///
  /// Relaxed: setting the total while operations run tracks those that start after it was seen.
  fileprivate var tracksOperations: Bool { hasTotal.load(ordering: .relaxed) }

  /// What a progress is for that of a queue, under whose lock it changes.
  enum UnitState: UInt8, AtomicRepresentable {
    /// Nothing, so far.
    case none
    /// It is about to be made a part.
    case coming
    /// It stands for a unit.
    case adopted
    /// The operation has finished, and its unit was counted.
    case counted
  }

  /// As the progress of a queue: `child`, that of an operation that runs, counts as a fraction of one unit, unless it
  /// is a part of something already.
  ///
  /// A cancellation here was of what there was then, so it does not reach this child.
  fileprivate func adopt(_ child: OperationProgress) {
    // The operation may finish at any moment, if this is not the thread that runs it.
    let isComing = state.withLock { _ in child.unitState.move(from: .none, to: .coming) }
    guard isComing else { return }
    guard child.setParent(self) else {
      return state.withLock { _ in _ = child.unitState.move(from: .coming, to: .none) }
    }
    let isAdopted = state.withLock { state in
      guard child.unitState.move(from: .coming, to: .adopted) else { return false }
      state.parts.append(child, 1)
      return true
    }
    // The unit was counted meanwhile.
    guard isAdopted else { return child.removeParent() }
    // No handler is called, and nobody is notified: the operation has been claimed, and they may wait for it.
    hand(isPausedTo: child) { child.begin(isPaused: $0) }
    if child.isFinished { _ = count(child) }
    child.report()
  }

  /// Is paused from the start, with all parts, or not; calls no handlers.
  private func begin(isPaused: Bool) {
    let children = state.withLock { state in
      (state.isPaused, state.isPassedOnAsPaused) = (isPaused, isPaused)
      return state.parts.all
    }
    for child in children { child.begin(isPaused: isPaused) }
  }

  private func removeParent() {
    // Released after the lock.
    let old = state.withLock { state in
      defer { state.parent = nil }
      return state.parent
    }
    _ = old
  }

  /// As the progress of a queue: an operation has finished, which completes one unit.
  ///
  /// - Returns: Whether another hundredth may be done by it.
  fileprivate func countUnit(of operation: Operation) -> Bool {
    // Who asks for the progress first from now on sees that the operation has finished.
    let child = operation.state.current.hasUserObjects ? operation.existingProgress : nil
    let isPart = child.map { $0.parent === self } ?? false
    let mayBeFurther = state.withLock { state in
      let before = child?.unitState.exchange(.counted, ordering: .relaxed) ?? .none
      if let child, before == .adopted || (isPart && before == .none) {
        // Counted already, if it has done all of its own units.
        state.completed += state.parts.remove(child) ?? 0
      } else {
        state.completed += 1
      }
      // The fractions of children are not looked at. All units may be complete again, and the parent have to hear.
      return !state.parts.isEmpty || state.isTelling || state.completed >= state.total
        || Double(state.completed) / Double(state.total) * 100 >= Double(state.toldHundredth + 1)
    }
    if !mayBeFurther { report() }
    return mayBeFurther
  }
}

extension Atomic<OperationProgress.UnitState> {
  /// Under the lock of the queue's progress; whether it was so.
  fileprivate borrowing func move(from old: Value, to new: Value) -> Bool {
    compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
  }
}
