import Synchronization

extension OperationProgress {
  /// A block that is called when the work is cancelled, paused or resumed.
  public typealias Handler = @Sendable () -> Void

  /// Whether the work can be cancelled, for code that decides whether to offer it.
  ///
  /// True at first.
  public var isCancellable: Bool {
    get { state.withLock { $0.isCancellable } }
    set { state.withLock { $0.isCancellable = newValue } }
  }

  /// Whether the work can be paused, for code that decides whether to offer it.
  ///
  /// False at first.
  public var isPausable: Bool {
    get { state.withLock { $0.isPausable } }
    set { state.withLock { $0.isPausable = newValue } }
  }

  /// Whether ``cancel()`` has been called, here or on a parent.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Whether ``pause()`` has been called, and ``resume()`` has not since.
  public var isPaused: Bool { state.withLock { $0.isPaused } }

  /// What to call when the work is cancelled: once, on the thread that cancels, with no lock held.
  ///
  /// Setting it after the cancellation calls nothing. The progress of an operation or a queue has one that cancels the
  /// operation, or all that the queue holds; one that you set takes its place.
  public var cancellationHandler: Handler? {
    get { state.withLock { $0.cancellationHandler } }
    set { _ = state.withLock { exchange(&$0.cancellationHandler, newValue) } }
  }

  /// What to call when the work is paused, on the thread that pauses, with no lock held.
  public var pausingHandler: Handler? {
    get { state.withLock { $0.pausingHandler } }
    set { _ = state.withLock { exchange(&$0.pausingHandler, newValue) } }
  }

  /// What to call when the work goes on, on the thread that resumes, with no lock held.
  public var resumingHandler: Handler? {
    get { state.withLock { $0.resumingHandler } }
    set { _ = state.withLock { exchange(&$0.resumingHandler, newValue) } }
  }

  /// Marks the work and its parts as cancelled and calls their handlers, on the calling thread.
  ///
  /// The parts come in the order in which they were added, each after the handler of the whole.
  ///
  /// It is cancelled for good: doing it again changes nothing and calls nothing.
  ///
  /// - Complexity: O(*n*) in the number of parts, and their parts.
  public func cancel() {
    let (handler, children, unitCancellation) = state.withLock { state -> (Handler?, [OperationProgress], Handler?) in
      guard !exchange(&state.isCancelled, true) else { return (nil, [], nil) }
      return (state.cancellationHandler, state.parts.all, state.unitCancellation)
    }
    handler?()
    for child in children { child.cancel() }
    unitCancellation?()
  }

  /// Marks the work and its parts as paused and calls their handlers, on the calling thread.
  ///
  /// Pauses nothing by itself: the code that does the work looks at ``isPaused``, or has set ``pausingHandler``. Doing
  /// it again changes nothing. A thread that calls handlers also does so for what other threads change meanwhile.
  public func pause() { set(isPaused: true) }

  /// Marks the work and its parts as going on and calls their handlers, on the calling thread.
  ///
  /// Changes nothing when they are not paused.
  public func resume() { set(isPaused: false) }

  private func set(isPaused: Bool) {
    let passesOn = state.withLock { state in
      guard exchange(&state.isPaused, isPaused) != isPaused else { return false }
      return !exchange(&state.isPassingPauseOn, true)
    }
    if passesOn { passPauseOn() }
  }

  /// Calls the handlers, and has the parts do the same.
  ///
  /// One thread at a time, until the parts have heard of what is so: others may pause and resume meanwhile, the
  /// handlers among them.
  private func passPauseOn() {
    while true {
      let next = state.withLock { state -> (isPaused: Bool, handler: Handler?, children: [OperationProgress])? in
        guard exchange(&state.isPassedOnAsPaused, state.isPaused) != state.isPaused else {
          state.isPassingPauseOn = false
          return nil
        }
        let handler = state.isPaused ? state.pausingHandler : state.resumingHandler
        return (state.isPaused, handler, state.parts.all)
      }
      guard let next else { return }
      next.handler?()
      for child in next.children { child.set(isPaused: next.isPaused) }
    }
  }
}

/// Sets `value`; returns what it was, which the caller releases after its lock.
private func exchange<Value>(_ value: inout Value, _ newValue: Value) -> Value {
  let old = value
  value = newValue
  return old
}
