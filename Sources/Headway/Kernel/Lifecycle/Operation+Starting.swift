extension Operation {
  /// Starts the operation on the calling thread, for its queue.
  final func startInQueue() {
    start()
    endIfOverrideHasFinished()
  }

  /// Implements ``start()``.
  final func begin() {
    // A queue has already evaluated `isReady`. If the operation is started manually, an override must be evaluated
    // here.
    let word = state.current
    // Another thread is about to cancel the operation.
    if word.hasPendingCancellation, !word.isCancelled { markCancelled() }
    if word.phase == .pending, !word.isReserved, !word.isCancelled, !word.hasPendingCancellation {
      guard isReady else { misuse(startMisuse(word)) }
      // The previous value is out of date.
      if state.current.isHeldBack { _ = state.setHeldBack(false) }
    }

    switch state.begin() {
    case .run(let before):
      if before.isObserved { notify([ObservedChange(.isExecuting, true)]) }
      if before.phase == .pending {
        // A manual start. The queues that this thread may be inside of do not change.
        note(.started(isBatched: false), in: nil)
        ThreadContext.run(self, in: ThreadContext.queue) { run() }
      } else {
        run()
      }
    case .finishCancelled:
      endCancelled()
    case .alreadyFinished:
      if word.endedInNoQueue { submitBelatedCompletionBlock(nil) }
    case .misuse(let word):
      misuse(startMisuse(word))
    }
  }

  /// Begins an operation in a batch, if it has its resources and starts plainly.
  ///
  /// Called on the batch's thread.
  ///
  /// - Parameter batch: The batch, which receives the steps that can run user code.
  /// - Returns: Whether the operation has begun.
  @inline(__always)
  final func beginPlainly(in batch: Batch) -> Bool { hasGate ? beginWithGate(in: batch) : state.beginPlainly() }

  /// Calls ``main()`` at the thread priority that was set, and records the error that it throws.
  ///
  /// - Returns: True if `main()` returned without throwing.
  final func runMain() -> Bool {
    guard state.current.hasThreadPriority else { return callMain() }
    var hasReturned = false
    atThreadPriority { hasReturned = callMain() }
    return hasReturned
  }

  /// Calls `body` at the thread priority that was set.
  final func atThreadPriority(_ body: () -> Void) {
    guard state.current.hasThreadPriority, let worker = Worker.current else { return body() }
    worker.withPriority(threadPriority, body)
  }

  /// Calls ``main()`` and records the error that it throws.
  ///
  /// - Returns: True if `main()` returned without throwing.
  @discardableResult
  final func callMain() -> Bool {
    isInMain = true
    defer { isInMain = false }
    do { try main() } catch {
      recordError(error)
      return false
    }
    return true
  }

  /// Like ``callMain()``, for a `main()` in an extension, which exists in addition to this class's `main()`.
  ///
  /// Direct subclasses reach that method by calling `super.main()`, and then it must do nothing. Other code reaches it
  /// by calling `main()`.
  ///
  /// If the operation is used as an ``Operation`` and has started, this is a call of `super.main()`, because no other
  /// code calls `main()` of an operation that is running. The same is true if a class below `type` overrides `start()`,
  /// and that override has called `main()`: an override in `type` itself would have called `main()` of `type`.
  ///
  /// - Parameter type: The static type of the operation where `main()` is called.
  package final func callMain(seenAs type: Operation.Type) {
    guard !isInMain, type != Operation.self || state.current.phase == .pending else { return }
    if OperationOverrides.hasStart(Swift.type(of: self)), !OperationOverrides.hasStart(type) { return }
    callMain()
  }

  private func startMisuse(_ word: OperationWord) -> String {
    if word.phase == .executing { return "start() on \(self), which is executing: an operation runs once." }
    if word.isReserved { return "start() on \(self), which is in a queue: the queue will start it." }
    return "start() on \(self), which is not ready: wait for its dependencies, or add it to a queue."
  }

  final func setThreadPriority(_ priority: Double) {
    require((0...1).contains(priority), "threadPriority of \(self) was set to \(priority): use 0.0 to 1.0.")
    links.withLock { $0.detailsCreatedIfNeeded.pointee.rareDetailsCreatedIfNeeded.threadPriority = priority }
    state.announceThreadPriority()
  }

  /// Implements the setter of ``queuePriority``.
  final func setPriority(_ priority: QueuePriority) {
    guard let word = state.setPriority(level: priority.level) else { return }
    if word.isEnqueued, word.phase == .pending { queue?.priorityChanged(of: self) }
    if word.isObserved { notify([ObservedChange(.queuePriority, priority)]) }
  }
}
