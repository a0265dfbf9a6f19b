/// Work that the batch's thread still has to do for the operations that it has run. All of it belongs to that thread.
extension Batch {
  // MARK: Effects

  /// Keeps the steps that can run user code until the thread has published the end of the operation.
  func leave(_ effects: consuming Effects) { self.effects = effects }

  func takeRecycledSteps() -> Effects.Steps? { recycledSteps.take() }

  func deferRecycling(_ steps: consuming Effects.Steps) { recycledSteps = steps }

  // MARK: Completion blocks

  /// Counts the batch with the completion blocks that are due, before an operation that may have one leaves the queue.
  func beginCompletions() {
    guard !countsCompletions, let home else { return }
    countsCompletions = true
    home._withUnsafeGuaranteedRef { $0.beginCompletion() }
  }

  /// Notes that all completion blocks that the thread of the batch runs have returned.
  func endCompletions() {
    guard countsCompletions, let home else { return }
    countsCompletions = false
    home._withUnsafeGuaranteedRef { $0.endCompletion() }
  }

  // MARK: Releasing operations

  /// Whether there are deferred releases that can run user code.
  var hasDeferredReleases: Bool { !deferred.isEmpty }

  /// Whether there are deferred releases in addition to the last operation's.
  var hasFurtherReleases: Bool { deferred.hasOthers }

  /// Whether the thread may perform the deferred releases as if they were between two operations of one batch.
  ///
  /// Then it keeps its concurrency slot while it performs them. A wait in one of Headway's functions gives the slot
  /// back; other waits don't. This applies to the work of the last of several operations, because the work of the
  /// earlier operations was also released in this way. If the thread closed the batch before each release, a limited
  /// queue would take a second update per batch, and wake another thread.
  var releasesBetweenOperations: Bool { count > 1 && deferred.isOnlyWork }

  /// Takes over one ownership of an operation.
  func deferRelease(of operation: OperationReference) { deferred.append(operation) }

  /// Takes over the ownership of an operation that the thread took and that has finished.
  ///
  /// Its release runs no user code.
  func deferRelease(ofPlain operation: OperationReference) { deferred.append(plain: operation) }

  /// Releases a finished operation that the thread took, without freeing its memory.
  func free(_ operation: OperationReference) { deferred.release(operation) }

  /// Takes over the ownership of the last operation that the thread runs in the batch.
  ///
  /// It has ended but has not released its work.
  func deferRelease(ofLast operation: OperationReference) { deferred.append(last: operation) }

  /// Performs all deferred releases.
  ///
  /// Called between two batches.
  func release() {
    releaseDeferred()
    releaseMemory()
  }

  /// Hands over the memory of operations that were released, and recycles or releases operations that run no user code
  /// when they are freed.
  ///
  /// Called between two batches.
  func releaseMemory() { deferred.releaseMemory() }

  /// Performs the deferred releases that can run user code.
  func releaseDeferred() {
    // Removed from the list first, because code that runs during the release can visit queues.
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

  /// Performs the deferred releases before the thread takes the first operation of its new batch.
  ///
  /// The thread can wait during the release: see ``leaveToWait()``.
  func releaseDeferredBeforeFirst() {
    releasesWork = true
    releaseDeferred()
    releasesWork = false
  }

  /// Releases the work of an operation that the thread has published as finished.
  ///
  /// - Parameters:
  ///   - operation: The operation that has ended.
  ///   - next: The operation that it made ready, if the thread will continue with that one.
  /// - Returns: Whether the thread is still in the batch. If not, the queue has been notified of `next`.
  func releaseWork(of operation: Operation, awaitedBy next: OperationReference? = nil) -> Bool {
    (releasesWork, awaiting) = (true, next)
    operation.releaseWork()
    defer { (releasesWork, awaiting) = (false, nil) }
    return releasesWork
  }

  /// Leaves the batch, because the thread is about to wait while it releases work.
  ///
  /// - Returns: The operation that the thread was about to continue with. The caller owns it and must notify the queue
  ///   of it.
  func leaveToWait() -> OperationReference? {
    releasesWork = false
    return awaiting.take()
  }
}
