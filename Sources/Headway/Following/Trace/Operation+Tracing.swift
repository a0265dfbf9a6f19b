extension Trace: OperationFollower {
  /// Records a transition, without a lock of a queue.
  static func note(
    _ transition: Transition, of operation: Operation, in queue: OperationQueue?, _ effects: inout Effects
  ) {
    guard isRecording else { return }
    switch transition {
    case .added: queue.map { operation.recordAdded(to: $0) }
    case .refused:
      queue.map { operation.recordAdded(to: $0) }
      operation.recordFinished()
    case .started, .resumed: operation.recordStarted(in: queue)
    case .paused: operation.recordPaused()
    // The time of the first call and the result of the last call count.
    case .ending, .finished: operation.recordFinished()
    case .cancelledPlainly: operation.recordCancelledPlainly()
    case .finishedUnlisted: break
    }
  }
}

/// The events of an operation in a trace.
extension Operation {
  private var address: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  /// Records that the operation was given a dependency after it was added to a queue.
  @inline(__always)
  final func traceLink(to operation: Operation) {
    if Trace.isRecording, state.current.isReserved { noteDependency(on: operation) }
  }

  private func note(_ kind: TraceEvent.Kind, _ queue: OperationQueue? = nil) {
    Trace.note(kind, of: address, keeping: self, queue)
  }

  private func noteDependency(on operation: Operation) {
    // The other operation might not have its own event yet.
    Trace.note(.dependency(on: operation.address), of: address, keeping: operation)
  }

  fileprivate final func recordAdded(to queue: OperationQueue) {
    let parent = ThreadContext.innermostOperation.map(\.address) ?? 0
    let queueAddress = UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque())
    note(.added(type(of: self), queue: queueAddress, parent: parent), queue)
    for dependency in dependencies { noteDependency(on: dependency) }
    if let name { Trace.note(.named(name), of: address) }
  }

  fileprivate final func recordStarted(in queue: OperationQueue?) {
    // A queue can start a cancelled operation, to end it.
    guard !state.current.isCancelled else { return }
    let queueAddress = queue.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
    note(.started(type(of: self), queue: queueAddress), queue)
    if let name { Trace.note(.named(name), of: address) }
  }

  fileprivate final func recordPaused() { Trace.note(.paused, of: address) }

  fileprivate final func recordCancelledPlainly() {
    note(.finished(type(of: self), nil, isCancelled: true, wasHeld: true))
  }

  fileprivate final func recordFinished() {
    let error = error
    let word = state.current
    // A cancelled operation that is not in a queue is not shown unless it is added later.
    let wasHeld = word.isReserved || word.phase == .executing
    note(.finished(type(of: self), error, isCancelled: word.isCancelled, wasHeld: wasHeld))
    if let name { Trace.note(.named(name), of: address) }
  }
}
