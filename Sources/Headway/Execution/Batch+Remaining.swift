/// The remaining work of the batch's thread for the operations that it has run. All of it belongs to that thread.
extension Batch {
  // MARK: Effects

  /// Keeps the steps that may run user code, until the thread has published the end of the operation.
  func leave(_ effects: consuming Effects) { self.effects = effects }

  func takeRecycledSteps() -> Effects.Steps? { recycledSteps.take() }

  func deferRecycling(_ steps: consuming Effects.Steps) { recycledSteps = steps }

  // MARK: Releasing operations

  /// Whether the thread has kept something whose release may run users' code.
  var hasDeferredReleases: Bool { !deferred.isEmpty }

  /// Takes over an ownership of an operation.
  func deferRelease(of operation: OperationReference) { deferred.append(operation) }

  /// Takes over the ownership of an operation that the thread had taken and that has finished, whose release runs no
  /// users' code.
  func deferRelease(ofPlain operation: OperationReference) { deferred.append(plain: operation) }

  /// Releases an operation that the thread had taken and that has finished, and keeps its memory.
  func free(_ operation: OperationReference) {
    deferred.appendMemory(of: operation)
    operation.release()
  }

  /// Takes over the ownership of the last operation that the thread runs in the batch, which has ended and has not
  /// released its work.
  func deferRelease(ofLast operation: OperationReference) { deferred.append(last: operation) }

  /// Releases all that was deferred.
  ///
  /// Called between two batches.
  func release() {
    releaseDeferred()
    releaseMemory()
  }

  /// Gives back the memory of operations that were released, or run no users' code when they are.
  ///
  /// Called between two batches.
  func releaseMemory() { deferred.releaseMemory() }

  /// Releases what was kept and may run users' code.
  func releaseDeferred() {
    // Taken out, since what runs then may visit queues.
    guard !deferred.isEmpty else { return }
    if let last = deferred.takeLast() {
      let isPlain = last._withUnsafeGuaranteedRef { operation in
        operation.releaseWork()
        return !operation.runsUserCodeWhenFreed
      }
      if isPlain { deferred.append(plain: last) } else { last.release() }
    }
    var released = deferred.takeAll()
    for operation in released { operation.release() }
    released.removeAll(keepingCapacity: true)
    deferred.reuse(released)
  }

  // MARK: Releasing work between two operations

  /// Releases what was kept, before the thread takes the first operation of its new batch.
  ///
  /// The thread may wait there: see ``leaveToWait()``.
  func releaseDeferredBeforeFirst() {
    releasesWork = true
    releaseDeferred()
    releasesWork = false
  }

  /// Releases the work of an operation that has ended, whose end the thread has published.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - next: The operation that it made ready, if the thread is to continue with that.
  /// - Returns: Whether the thread is still at the batch. If not, the queue knows of `next`.
  func releaseWork(of operation: Operation, awaitedBy next: OperationReference? = nil) -> Bool {
    (releasesWork, awaiting) = (true, next)
    operation.releaseWork()
    defer { (releasesWork, awaiting) = (false, nil) }
    return releasesWork
  }

  /// The thread is about to wait while it releases work, and leaves the batch.
  ///
  /// - Returns: The operation with which it was about to continue, of which the queue is to be told; the caller owns
  ///   it.
  func leaveToWait() -> OperationReference? {
    releasesWork = false
    return awaiting.take()
  }
}
