import Synchronization

extension OperationProgress {
  /// A block that is called when the work is cancelled, paused or resumed.
  public typealias Handler = @Sendable () -> Void

  /// Whether the work can be cancelled, for people who decide whether to offer it.
  ///
  /// True at first.
  public var isCancellable: Bool {
    get { state.withLock { $0.isCancellable } }
    set { state.withLock { $0.isCancellable = newValue } }
  }

  /// Whether the work can be paused, for people who decide whether to offer it.
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

  /// Called once, by the thread that cancels.
  public var cancellationHandler: Handler? {
    get { state.withLock { $0.cancellationHandler } }
    set { _ = state.withLock { exchange(&$0.cancellationHandler, newValue) } }
  }

  /// Called by the thread that pauses.
  public var pausingHandler: Handler? {
    get { state.withLock { $0.pausingHandler } }
    set { _ = state.withLock { exchange(&$0.pausingHandler, newValue) } }
  }

  /// Called by the thread that resumes.
  public var resumingHandler: Handler? {
    get { state.withLock { $0.resumingHandler } }
    set { _ = state.withLock { exchange(&$0.resumingHandler, newValue) } }
  }

  /// Marks the work and its parts as cancelled and calls their handlers.
  ///
  /// Doing it again changes nothing.
  public func cancel() {
    let (handler, children) = state.withLock { state -> (Handler?, [OperationProgress]) in
      guard !exchange(&state.isCancelled, true) else { return (nil, []) }
      return (state.cancellationHandler, state.children.map(\.progress))
    }
    handler?()
    for child in children { child.cancel() }
  }

  /// Marks the work and its parts as paused and calls their handlers.
  public func pause() {
    let (handler, children) = state.withLock { state -> (Handler?, [OperationProgress]) in
      guard !exchange(&state.isPaused, true) else { return (nil, []) }
      return (state.pausingHandler, state.children.map(\.progress))
    }
    handler?()
    for child in children { child.pause() }
  }

  /// Marks the work and its parts as going on and calls their handlers.
  public func resume() {
    let (handler, children) = state.withLock { state -> (Handler?, [OperationProgress]) in
      guard exchange(&state.isPaused, false) else { return (nil, []) }
      return (state.resumingHandler, state.children.map(\.progress))
    }
    handler?()
    for child in children { child.resume() }
  }
}

/// Sets `value`; returns what it was, to be let go of by the caller when its lock is released.
private func exchange<Value>(_ value: inout Value, _ newValue: Value) -> Value {
  let old = value
  value = newValue
  return old
}
