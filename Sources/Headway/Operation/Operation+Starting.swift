import Synchronization

extension Operation {
  /// The operation starts: each does so here, in a batch, by itself, or manually, on the thread that then runs it.
  ///
  /// This is where a trace point or a metric attaches. Called with no lock held; it calls no user code. An operation
  /// that was cancelled starts here only if a queue has it run code of its own.
  ///
  /// - Parameter queue: The queue that runs the operation; nil if ``start()`` was called manually.
  @inline(__always)
  final func noteStart(in queue: OperationQueue?) { queue?.startUnit(of: self) }

  /// What ``start()`` does.
  final func begin() {
    // In a queue, the queue has asked. By hand, an override of `isReady` has to be asked here.
    let word = state.current
    // Another thread is about to cancel it.
    if word.hasPendingCancellation, !word.isCancelled { markCancelled() }
    if word.phase == .pending, !word.isReserved, !word.isCancelled, !word.hasPendingCancellation {
      guard isReady else { misuse(startMisuse(word)) }
      // What it answered before is out of date.
      if state.current.isHeldBack { _ = state.setHeldBack(false) }
    }

    switch state.begin() {
    case .run(let before):
      if before.isObserved { notify([ObservedChange(.isExecuting, true)]) }
      if before.phase == .pending {
        // By hand. For the queues that this thread may be inside of, nothing changes.
        noteStart(in: nil)
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

  /// Calls ``main()`` at the thread priority that was asked for, and keeps what it throws.
  ///
  /// - Returns: Whether it returned without throwing.
  final func runMain() -> Bool {
    var hasReturned = false
    atThreadPriority { hasReturned = callMain() }
    return hasReturned
  }

  /// Calls `body` at the thread priority that was asked for.
  final func atThreadPriority(_ body: () -> Void) {
    guard state.current.hasThreadPriority, let worker = Worker.current else { return body() }
    worker.withPriority(threadPriority, body)
  }

  /// Calls ``main()`` and keeps what it throws.
  ///
  /// - Returns: Whether it returned without throwing.
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

  /// As ``callMain()``, for a `main()` that stands beside that of this class: direct subclasses reach it by
  /// `super.main()`, which must do nothing, and others by calling `main()`.
  ///
  /// Seen as an ``Operation`` and started, it is the former: nobody calls `main()` of an operation that runs from
  /// elsewhere. So it is where a `start()` below `type` has called `main()`: one of `type` would have called it as of
  /// `type`.
  ///
  /// - Parameter type: The type that the operation has where it is called.
  package final func callMain(seenAs type: Operation.Type) {
    guard !isInMain, type != Operation.self || state.current.phase == .pending else { return }
    if OperationOverrides.hasStart(Swift.type(of: self)), !OperationOverrides.hasStart(type) { return }
    callMain()
  }

  private func startMisuse(_ word: OperationWord) -> String {
    if word.phase == .executing { return "start() on \(self), which is executing: an operation runs once." }
    if word.isReserved { return "start() on \(self), which is in a queue: the queue will start it." }
    return "start() on \(self), which is not ready: wait for its dependencies, or let a queue do so."
  }

  final func setThreadPriority(_ priority: Double) {
    require((0...1).contains(priority), "threadPriority of \(self) was set to \(priority): use 0.0 to 1.0.")
    links.withLock { $0.detailsCreatedIfNeeded.rareDetailsCreatedIfNeeded.threadPriority = priority }
    state.announceThreadPriority()
  }

  /// The implementation of ``queuePriority``.
  final func setPriority(_ priority: QueuePriority) {
    guard let word = state.setPriority(level: priority.level) else { return }
    if word.isEnqueued, word.phase == .pending { queue?.priorityChanged(of: self) }
    if word.isObserved { notify([ObservedChange(.queuePriority, priority)]) }
  }
}
