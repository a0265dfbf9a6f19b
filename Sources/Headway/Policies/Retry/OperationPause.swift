import Synchronization

/// The pauses of an operation that runs a function again after it has failed.
///
/// During a pause, the operation has begun but not ended, and its task is suspended. Like an operation that has not
/// started, it waits for its gate, a concurrency slot and its resources. The worker that would start it resumes the
/// task.
struct OperationPause: ~Copyable {
  private let continuation = Guarded<UnsafeContinuation<Void, Never>?>(nil)

  func begin(_ continuation: UnsafeContinuation<Void, Never>) { self.continuation.withLock { $0 = continuation } }

  /// Whether the task is suspended.
  var isActive: Bool { continuation.withLock { $0 != nil } }

  /// Resumes the task, unless another thread has done so.
  func end() {
    let continuation = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    continuation?.resume()
  }
}

extension Operation {
  /// Suspends the operation's task for a time.
  ///
  /// Called in the task of an operation that is executing in a queue and has a gate.
  ///
  /// - Parameters:
  ///   - delay: The minimum length of the pause.
  ///   - keepsSlot: Whether the operation keeps its concurrency slot and its resources.
  /// - Throws: `CancellationError` if the task was cancelled.
  final func pause(for delay: Duration, keepsSlot: Bool) async throws {
    guard let gate = timedGate else { return }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        gate.pause.begin(continuation)
        let queue = keepsSlot ? nil : queue
        queue?.update { $0.admission.beginPause(of: self) }
        gate.delay(for: delay)
        // The handler may have been called before the pause.
        if withUnsafeCurrentTask(body: { $0?.isCancelled }) == true { endPause() }
      }
    } onCancel: {
      endPause()
    }
    try Task.checkCancellation()
  }

  /// Ends the pause immediately, because the operation was cancelled.
  private func endPause() {
    queue?.update { $0.admission.abandonPause(of: self) }
    timedGate?.pause.end()
  }

  /// Ends the pause, because the operation has a concurrency slot and its resources again.
  ///
  /// - Returns: False if the operation is not executing, and must be started.
  final func resumeFromPause() -> Bool {
    guard hasPause else { return false }
    timedGate?.pause.end()
    return true
  }
}

extension Admission {
  /// Releases the concurrency slot and the resources of an operation that pauses.
  mutating func beginPause(of operation: Operation) {
    guard operation.admission.place == .running else { return }
    runningCount -= 1
    running[operation.admission.workerClass].remove(OperationReference(operation))
    operation.admission.place = .gated
    policies?.releaseResources(of: operation)
    policies?.pauseInLane(operation, &self)
  }

  /// Makes an operation whose pause has ended wait for a concurrency slot.
  mutating func endPause(of operation: Operation) {
    guard operation.admission.place == .gated, operation.hasPause else { return }
    let word = operation.state.current
    insertReady(operation, word, level: readyLevel(of: word))
  }

  /// Makes a cancelled operation continue without a concurrency slot.
  mutating func abandonPause(of operation: Operation) {
    switch operation.admission.place {
    case .gated: break
    case .ready: removeReady(operation)
    case .granted: policies?.removeGranted(operation, from: &self)
    case .none, .waiting, .heldBack, .taken, .cancelled, .cancelledWithinLimit, .running, .leaving: return
    }
    policies?.releaseResources(of: operation)
    operation.admission.place = .leaving
  }
}
