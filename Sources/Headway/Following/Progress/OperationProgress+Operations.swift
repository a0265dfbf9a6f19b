import Synchronization

extension OperationProtocol {
  /// The progress of this operation.
  ///
  /// ``Operation/main()`` sets its `totalUnitCount` and increments its `completedUnitCount`. The progress is created
  /// when this property is first read. Cancelling it cancels the operation, through its `cancellationHandler`; a
  /// handler that you set replaces the default one.
  @_disfavoredOverload
  public var progress: OperationProgress {
    if let progress = existingProgress { return progress }
    // A progress can refer to user objects: its handlers and observers. Announce that before the progress exists. Then
    // the thread that starts or finishes the operation looks for it, or this thread sees that the operation has started
    // or ended.
    state.announceUserObject()
    let made = makeProgress()
    let progress = links.withLock { links in
      if let progress = links.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded.progress { return progress }
      links.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded.progress = made
      return made
    }
    if state.current.isRunning { queue?.startUnit(of: self, with: progress) }
    progressWasCreated()
    return progress
  }
}

extension Operation {
  final var existingProgress: OperationProgress? { links.withLock { $0.details?.pointee.rareDetails?.progress } }
}

extension OperationProgress: OperationFollower {
  static func note(
    _ transition: Transition, of operation: Operation, in queue: OperationQueue?, _ effects: inout Effects
  ) {
    switch transition {
    case .started: queue?.startUnit(of: operation)
    case .finished: if let progress = queue?.countUnit(of: operation) { effects.notify(progress) }
    default: break
    }
  }
}

extension OperationQueue {
  /// The progress, if its total has been set.
  ///
  /// The queue keeps it alive.
  ///
  /// Read without a lock.
  final var trackedProgress: Unmanaged<OperationProgress>? {
    guard let pointer = progressPointer.load(ordering: .acquiring) else { return nil }
    let progress = Unmanaged<OperationProgress>.fromOpaque(pointer)
    return progress._withUnsafeGuaranteedRef { $0.tracksOperations } ? progress : nil
  }

  /// Makes the operation's own progress, if it exists, count for the queue's progress.
  ///
  /// Called when the operation starts.
  fileprivate final func startUnit(of operation: Operation) {
    guard operation.state.current.hasUserObjects, let tracked = trackedProgress, operation.completesUnit,
      let progress = operation.existingProgress
    else { return }
    tracked._withUnsafeGuaranteedRef { $0.adopt(progress, operation.knownProgressUnitCount) }
  }

  /// Makes a progress that was created while its operation runs count as if it had existed at the start.
  fileprivate final func startUnit(of operation: Operation, with progress: OperationProgress) {
    guard let tracked = trackedProgress, operation.completesUnit else { return }
    tracked._withUnsafeGuaranteedRef { tracked in
      tracked.adopt(progress, operation.knownProgressUnitCount)
      // Other threads can find the progress by now. As a result, either the thread that cancels all operations finds
      // it, or this thread sees that it cancelled them.
      if tracked.isCancelled, operation.isCancelled { progress.cancel() }
    }
  }

  /// Cancels the running operations through their progress, or directly if they have none.
  ///
  /// Does not cancel operations whose progress is part of another progress.
  ///
  /// O(*n*) in the number of operations in the queue.
  final func cancelRunningUnits() {
    guard let tracked = trackedProgress?.toOpaque() else { return }
    for operation in madeOperations where operation.completesUnit && operation.state.current.isRunning {
      if operation.existingProgress == nil { operation.cancel() }
      // Another thread might have created it in the meantime.
      guard let progress = operation.existingProgress else { continue }
      let parent = progress.parent.map { Unmanaged.passUnretained($0).toOpaque() }
      if parent == nil || parent == tracked { progress.cancel() }
    }
  }

  /// Counts the units of an operation as completed: it has finished, and is about to leave the queue.
  ///
  /// - Returns: The progress, if it might have to notify observers: the caller then calls
  ///   ``OperationProgress/notifyIfFurther()``.
  fileprivate final func countUnit(of operation: Operation) -> Unmanaged<OperationProgress>? {
    guard let tracked = trackedProgress, operation.completesUnit else { return nil }
    return tracked._withUnsafeGuaranteedRef { $0.countUnit(of: operation) } ? tracked : nil
  }
}

extension Operation {
  /// Whether the operation completes units of its queue's progress.
  ///
  /// Barriers are not, because code that sets the total does not count them.
  fileprivate final var completesUnit: Bool { !isBarrier && isUnit }
}

extension OperationProgress {
  /// Whether operations count in the progress of a queue.
  ///
  /// Relaxed: if the total is set while operations run, the operations that start after it is seen are tracked.
  fileprivate var tracksOperations: Bool { hasTotal.load(ordering: .relaxed) }

  /// The role of an operation's progress in its queue's progress.
  ///
  /// It changes under the lock of the queue's progress.
  enum UnitState: UInt8, AtomicRepresentable {
    /// No role yet.
    case none
    /// It is about to become a part.
    case coming
    /// It represents the units of its operation.
    case adopted
    /// The operation has finished, and its units have been counted.
    case counted
  }

  /// Makes `child`, the progress of a running operation, count in the progress of a queue as a fraction of the
  /// operation's units, unless it is already part of another progress.
  ///
  /// If this progress was cancelled, the cancellation applied to the operations at that time. It does not apply to this
  /// child.
  fileprivate func adopt(_ child: OperationProgress, _ unitCount: Int64) {
    // The operation can finish at any moment, if another thread runs it.
    let isComing = state.withLock { _ in child.unitState.move(from: .none, to: .coming) }
    guard isComing else { return }
    guard child.setParent(self) else {
      return state.withLock { _ in _ = child.unitState.move(from: .coming, to: .none) }
    }
    let isAdopted = state.withLock { state in
      guard child.unitState.move(from: .coming, to: .adopted) else { return false }
      state.parts.append(child, unitCount)
      return true
    }
    // The units have been counted in the meantime.
    guard isAdopted else { return child.removeParent() }
    // Call no handler and notify no observer: the operation has been claimed, and they might wait for it.
    hand(isPausedTo: child) { child.begin(isPaused: $0) }
    if child.isFinished { _ = count(child) }
    child.report()
  }

  /// Sets the initial paused state of this progress and all its parts.
  ///
  /// Calls no handlers.
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

  /// Counts the units of an operation that has finished as completed in the progress of a queue.
  ///
  /// - Returns: Whether this might have completed another hundredth.
  fileprivate func countUnit(of operation: Operation) -> Bool {
    // A thread that creates the progress after this sees that the operation has finished.
    let child = operation.state.current.hasUserObjects ? operation.existingProgress : nil
    let isPart = child.map { $0.parent === self } ?? false
    let unitCount = operation.knownProgressUnitCount
    let (mayBeFurther, isPartOfOther) = state.withLock { state in
      let before = child?.unitState.exchange(.counted, ordering: .relaxed) ?? .none
      if let child, before == .adopted || (isPart && before == .none) {
        // The units have already been counted if the child had completed all its own units.
        state.completed += state.parts.remove(child) ?? 0
      } else {
        state.completed = state.completed.addedClamped(unitCount)
      }
      // The fractions of children are not read. If all units are complete, even for a second time, the parent must be
      // notified.
      let mayBeFurther =
        !state.parts.isEmpty || state.isNotifying || state.completed >= state.total
        || Double(state.completed) / Double(state.total) * 100 >= Double(state.notifiedHundredth + 1)
      return (mayBeFurther, state.parent != nil)
    }
    // If it becomes part of another progress after this, the new parent reads these units.
    if !mayBeFurther, isPartOfOther { report() }
    return mayBeFurther
  }
}

extension Atomic<OperationProgress.UnitState> {
  /// Changes the state from `old` to `new`, under the lock of the queue's progress.
  ///
  /// Returns false if it was not `old`.
  fileprivate borrowing func move(from old: Value, to new: Value) -> Bool {
    compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
  }
}

extension Operation {
  /// Creates a progress that can cancel the operation.
  final func makeProgress(totalUnitCount: Int64) -> OperationProgress {
    let made = OperationProgress(totalUnitCount: totalUnitCount)
    made.cancellationHandler = { [weak self] in self?.cancel() }
    return made
  }
}

extension OperationQueue {
  /// Implements ``progress``: creates it when it is first read.
  final var progressCreatedIfNeeded: OperationProgress {
    knownProgress.withLock { known in
      if let known { return known }
      let made = OperationProgress(totalUnitCount: 0)
      made.cancellationHandler = { [weak self] in self?.cancelAllOperations() }
      made.state.withLock { $0.unitCancellation = { [weak self] in self?.cancelRunningUnits() } }
      known = made
      progressPointer.store(Unmanaged.passUnretained(made).toOpaque(), ordering: .releasing)
      setFollowing(.progress, true)
      return made
    }
  }
}
