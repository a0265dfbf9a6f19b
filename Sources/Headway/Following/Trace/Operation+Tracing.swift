/// The events of an operation in a trace.
///
/// Called on the thread that causes the event, with no lock held unless noted. Takes no lock of a queue.
extension Operation {
  private var address: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  /// Records that the operation is about to be added to a queue.
  @inline(__always)
  final func traceAdded(to queue: OperationQueue) {
    if Trace.isRecording { recordAdded(to: queue) }
  }

  /// Records that the operation was about to be added to a queue, but had already been cancelled and had ended.
  final func traceRefused(by queue: OperationQueue) {
    guard Trace.isRecording else { return }
    recordAdded(to: queue)
    recordFinished()
  }

  /// Records that the operation, or its next attempt, starts.
  @inline(__always)
  final func traceStarted(in queue: OperationQueue?) {
    // A queue can start a cancelled operation, to end it.
    if Trace.isRecording, !state.current.isCancelled { recordStarted(in: queue) }
  }

  /// Records that an attempt of the operation ended, and the operation pauses.
  final func tracePaused() { if Trace.isRecording { Trace.note(.paused, of: address) } }

  /// Records that the operation ends.
  ///
  /// Can be called more than once. The time of the first call and the result of the last call count.
  @inline(__always)
  final func traceFinished() { if Trace.isRecording { recordFinished() } }

  /// Records that the operation was cancelled, and has ended without a name, an error and observers.
  ///
  /// Called under the lock of the queue.
  final func traceCancelledPlainly() {
    if Trace.isRecording { note(.finished(type(of: self), .cancelled, nil, wasHeld: true)) }
  }

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

  @inline(never)
  private final func recordAdded(to queue: OperationQueue) {
    let parent = ThreadContext.innermostOperation.map(\.address) ?? 0
    let queueAddress = UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque())
    note(.added(type(of: self), queue: queueAddress, parent: parent), queue)
    for dependency in dependencies { noteDependency(on: dependency) }
    if let name { Trace.note(.named(name), of: address) }
  }

  @inline(never)
  private final func recordStarted(in queue: OperationQueue?) {
    let queueAddress = queue.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
    note(.started(type(of: self), queue: queueAddress), queue)
    if let name { Trace.note(.named(name), of: address) }
  }

  @inline(never)
  private final func recordFinished() {
    let error = error
    let word = state.current
    let result: TraceRecording.Result = error != nil ? .failure : word.isCancelled ? .cancelled : .success
    // A cancelled operation that is not in a queue is not shown unless it is added later.
    note(.finished(type(of: self), result, error, wasHeld: word.isReserved || word.phase == .executing))
    if let name { Trace.note(.named(name), of: address) }
  }
}
