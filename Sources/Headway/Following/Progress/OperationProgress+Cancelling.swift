import Synchronization

extension OperationProgress {
  /// A block that is called when the work is cancelled, paused, or resumed.
  public typealias Handler = @Sendable () -> Void

  /// Whether the work can be cancelled, for code that decides whether to offer cancellation.
  ///
  /// The default is true.
  public var isCancellable: Bool {
    get { state.withLock { $0.isCancellable } }
    set { state.withLock { $0.isCancellable = newValue } }
  }

  /// Whether the work can be paused, for code that decides whether to offer pausing.
  ///
  /// The default is false.
  public var isPausable: Bool {
    get { state.withLock { $0.isPausable } }
    set { state.withLock { $0.isPausable = newValue } }
  }

  /// Whether ``cancel()`` has been called, here or on a parent.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Whether ``pause()`` has been called and ``resume()`` has not been called since.
  public var isPaused: Bool { state.withLock { $0.isPaused } }

  /// The handler that is called once when the work is cancelled, on the thread that cancels, with no lock held.
  ///
  /// If you set it after the cancellation, it is not called. The progress of an operation or a queue has a default
  /// handler, which cancels the operation, or all operations of the queue. A handler that you set replaces it.
  public var cancellationHandler: Handler? {
    get { state.withLock { $0.cancellationHandler } }
    set { _ = state.withLock { exchange(&$0.cancellationHandler, newValue) } }
  }

  /// The handler that is called when the work is paused, on the thread that pauses, with no lock held.
  public var pausingHandler: Handler? {
    get { state.withLock { $0.pausingHandler } }
    set { _ = state.withLock { exchange(&$0.pausingHandler, newValue) } }
  }

  /// The handler that is called when the work resumes, on the thread that resumes, with no lock held.
  public var resumingHandler: Handler? {
    get { state.withLock { $0.resumingHandler } }
    set { _ = state.withLock { exchange(&$0.resumingHandler, newValue) } }
  }

  /// Marks the work and its parts as cancelled and calls their handlers, on the calling thread.
  ///
  /// The parts are cancelled in insertion order, after the handler of the whole has been called.
  ///
  /// A cancellation is permanent: calling this method again has no effect.
  ///
  /// - Complexity: O(*n*) in the number of parts, including parts of parts.
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
  /// This method does not stop any work: the code that does the work must check ``isPaused`` or set ``pausingHandler``.
  /// Calling it again has no effect. A thread that calls handlers also calls them for changes that other threads make
  /// in the meantime.
  public func pause() { set(isPaused: true) }

  /// Marks the work and its parts as no longer paused and calls their handlers, on the calling thread.
  ///
  /// Has no effect if they are not paused.
  public func resume() { set(isPaused: false) }

  private func set(isPaused: Bool) {
    let passesOn = state.withLock { state in
      guard exchange(&state.isPaused, isPaused) != isPaused else { return false }
      return !exchange(&state.isPassingPauseOn, true)
    }
    if passesOn { passPauseOn() }
  }

  /// Calls the handlers and passes the state on to the parts.
  ///
  /// One thread at a time does this, until the parts have the current state. Other threads, and the handlers, can pause
  /// and resume in the meantime.
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

/// Sets `value` and returns the old value.
///
/// The caller releases it after releasing its lock.
private func exchange<Value>(_ value: inout Value, _ newValue: Value) -> Value {
  let old = value
  value = newValue
  return old
}
